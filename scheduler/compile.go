package scheduler

import (
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec"
)

// planFor returns the definition's plan for a job: hashed schedules depend on
// its name and its uid. anchor stands in for a missing startTime. The text of a
// schedule that was compiled while it was read is not compiled again, unless it
// depends on these.
func (d *Definition) planFor(k Key, uid string, anchor time.Time) (*spec.Plan, error) {
	if d.plan != nil {
		return d.plan.For(k.Job, uid, anchor)
	}
	timing := d.Timing
	timing.Name, timing.Seed = k.Job, uid
	return spec.NewPlan(timing, anchor)
}

// compile builds the plan from the definition. What is wrong is the
// definition's fault: the error matches [ErrInvalid] and holds the paths.
func (j *Job) compile() error {
	plan, err := j.Def.planFor(j.Key, j.UID, j.Anchor)
	if err != nil {
		return AsInvalid(err)
	}
	j.Plan = plan
	return nil
}
