package scheduler

import (
	"hash/fnv"
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec"
)

// ScheduleText is the canonical text of what decides when a job of the definition
// runs. Jobs with equal texts have equal schedules, but for what these take from
// their names and from when they were put.
func (d *Definition) ScheduleText() string { return d.schedule() }

// PlanLike returns the plan of j, whose schedule has the same text as that of a plan:
// its rule is not compiled again, if it does not depend on the job.
func (j *Job) PlanLike(p *spec.Plan) (*spec.Plan, error) { return p.For(j.Key.Job, j.UID, j.Anchor) }

// Jittered is when the occurrence of a job runs: its nominal instant, and a share of
// width, which is a hash of the occurrence. So every replica and every restart
// computes the same.
func Jittered(k Key, nominal time.Time, width time.Duration) time.Time {
	if width <= 0 {
		return nominal
	}
	h := fnv.New64a()
	_, _ = h.Write(appendOccurrence(nil, k, nominal))
	return nominal.Add(time.Duration(h.Sum64() % uint64(width)))
}
