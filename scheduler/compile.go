package scheduler

import (
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec"
)

// compiledPlan is a plan with what it was compiled for: a put compiles the text
// of a schedule once.
type compiledPlan struct {
	plan   *spec.Plan
	name   string
	uid    string
	anchor time.Time
}

// newPlan compiles the definition's schedule for a job: hashed schedules depend
// on its name and its uid. anchor stands in for a missing startTime.
func (d *Definition) newPlan(k Key, uid string, anchor time.Time) (*spec.Plan, error) {
	timing := d.Timing
	timing.Name, timing.Seed = k.Job, uid
	return spec.NewPlan(timing, anchor)
}

// planFor returns the plan that the definition was compiled to while it was
// read, or compiles it.
func (d *Definition) planFor(k Key, uid string, anchor time.Time) (*spec.Plan, error) {
	if c := d.plan; c != nil && c.name == k.Job && c.uid == uid && c.anchor.Equal(anchor) {
		return c.plan, nil
	}
	return d.newPlan(k, uid, anchor)
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
