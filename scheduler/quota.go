package scheduler

import (
	"fmt"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// freePlan is the plan of Azure Scheduler without a price, in which a failed
// attempt is not repeated before an hour has passed ("Azure Scheduler concepts,
// terminology, and entities", retryPolicy).
const (
	freePlan             = "Free"
	freeMinRetryInterval = time.Hour
)

// Limits are what the collection allows its jobs, with the process's limits
// where it has none of its own.
func (c *Collection) Limits(process Limits) Limits {
	if c.MinRetryInterval > 0 {
		process.MinRetryInterval = c.MinRetryInterval
	}
	if c.Free {
		process.MinRetryInterval = max(process.MinRetryInterval, freeMinRetryInterval)
	}
	return process
}

// Admits checks the collection's quota on recurrence: no two consecutive
// occurrences may be closer than the quota's interval can be on a calendar and
// on a clock. [ErrConflict] says that they are, as Azure Scheduler does.
func (c *Collection) Admits(d *Definition, r *Reading) error {
	if c.MaxRecurrence.Frequency == 0 || d.Timing.Recurrence == nil {
		return nil
	}
	plan, err := d.planFor(r.Key, r.UID, r.Now)
	if err != nil {
		return AsInvalid(err)
	}
	least := c.MaxRecurrence.ShortestInterval()
	gap := plan.SmallestGap(least)
	if gap >= least {
		return nil
	}
	return fmt.Errorf("%w: recurrence: two occurrences are %s apart, and the quota of collection %s (maxRecurrence) allows one every %s",
		ErrConflict, document.Duration{Exact: gap}, c.Name, often(c.MaxRecurrence))
}

// often is the interval that a recurrence names: "hour", "2 weeks".
func often(r spec.Recurrence) string {
	if r.Interval > 1 {
		return fmt.Sprintf("%d %ss", r.Interval, r.Frequency)
	}
	return r.Frequency.String()
}
