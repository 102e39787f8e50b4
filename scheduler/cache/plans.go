package cache

import (
	"sync"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// Plans keeps the plans of jobs whose schedules take long to compile, and of those that are too costly the reason, so that
// a job which is read for every list is not compiled for every list. The zero value is ready for use. It implements
// [scheduler.PlanKeeper].
type Plans struct {
	mu    sync.Mutex
	kept  map[planKey]kept
	order []planKey // as they were kept, the oldest first
	work  float64   // of all that are kept
}

// planKey names a stored revision of a job.
type planKey struct {
	key      scheduler.Key
	revision uint64
}

type kept struct {
	plan *spec.Plan
	err  error
	work float64
}

const (
	// leastWork is how much of what is too costly a schedule must take to be worth a place: half a millisecond or so.
	leastWork = 0.02

	// mostWork bounds what is kept together. What a schedule holds in memory grows with the work that it took, to some
	// megabytes for one that is almost too costly.
	mostWork = 64
)

// Kept implements [scheduler.PlanKeeper].
func (p *Plans) Kept(k scheduler.Key, revision uint64) (plan *spec.Plan, ok bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	found, ok := p.kept[planKey{k, revision}]
	return found.plan, ok, found.err
}

// Keep implements [scheduler.PlanKeeper].
func (p *Plans) Keep(k scheduler.Key, revision uint64, plan *spec.Plan, err error) {
	one := kept{plan, err, 1}
	if err == nil {
		if one.work = plan.Work(); one.work < leastWork {
			return
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	place := planKey{k, revision}
	if _, ok := p.kept[place]; ok {
		return
	}
	if p.kept == nil {
		p.kept = map[planKey]kept{}
	}
	p.kept[place], p.order = one, append(p.order, place)
	for p.work += one.work; p.work > mostWork && len(p.order) > 1; p.order = p.order[1:] {
		p.work -= p.kept[p.order[0]].work
		delete(p.kept, p.order[0])
	}
}
