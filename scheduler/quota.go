package scheduler

import (
	"fmt"
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec"
)

// Admits checks the collection's quota on recurrence. [ErrConflict] says that it
// is used up, as Azure Scheduler does.
func (c *Collection) Admits(d *Definition, r *Reading) error {
	if c.MaxRecurrence.Frequency == 0 || d.Timing.Recurrence == nil {
		return nil
	}
	plan, err := d.planFor(r.Key, r.UID, r.Now)
	if err != nil {
		return AsInvalid(err)
	}
	least, wanted := every(c.MaxRecurrence), plan.MinInterval()
	if d.Timing.Recurrence.Rule != nil {
		least = c.MaxRecurrence.ShortestInterval()
	}
	if wanted >= least {
		return nil
	}
	return fmt.Errorf("%w: recurrence: every %s is more often than the quota of collection %s allows (maxRecurrence: every %s)",
		ErrConflict, wanted, c.Name, least)
}

// every is the interval that a recurrence names.
func every(r spec.Recurrence) time.Duration {
	return r.Frequency.Times(max(1, r.Interval))
}
