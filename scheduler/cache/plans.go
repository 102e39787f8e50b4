package cache

import (
	"sync"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// Plans caches plans that take long to compile, and the errors of schedules that are too expensive, so that listing a
// job repeatedly compiles it once. It implements [scheduler.PlanKeeper]. The zero value is ready for use.
type Plans struct {
	mu    sync.Mutex
	kept  map[planKey]kept
	order []planKey // oldest first
	work  float64 // total work of the cached plans
}

// planKey identifies a stored revision of a job.
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
	// leastWork is the least work worth caching, as a fraction of the compile limit: about half a millisecond.
	leastWork = 0.02

	// mostWork limits the total work of the cached plans. Memory grows with work, up to several megabytes for a
	// schedule just below the compile limit.
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
