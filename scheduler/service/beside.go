package service

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// Beside is a run that is concurrent with a job's schedule: one that overlaps the next occurrence, or a manual run of a
// disabled job.
type Beside struct {
	Nominal time.Time
	Due     time.Time // of the current or the next attempt
	Manual  bool
	Retry   int // retries so far
	Running bool // a worker has it, and it is due
}

// Beside returns the job's runs that are concurrent with its schedule, earliest first. Of a large number, it returns
// some. A missing or damaged job has none.
func (r Reader) Beside(ctx context.Context, k scheduler.Key) ([]Beside, error) {
	if err := k.Validate(); err != nil {
		return nil, err
	}
	j, err := r.shared.loadInTurn(ctx, k)
	_, damaged := errors.AsType[*scheduler.DamagedError](err)
	if damaged || errors.Is(err, scheduler.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	places, err := r.detached(ctx, j)
	if err != nil {
		return nil, err
	}
	all, now := make([]Beside, len(places)), r.shared.Store.Now()
	for i, p := range places {
		due := p.Baton.MayRun()
		all[i] = Beside{p.Baton.Nominal.UTC(), due.UTC(), p.Baton.Kind.IsManual(), p.Baton.Attempt, p.Running && !due.After(now)}
	}
	slices.SortFunc(all, func(a, b Beside) int { return a.Nominal.Compare(b.Nominal) })
	return all, nil
}
