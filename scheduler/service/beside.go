package service

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// Beside is a run of a job that goes on beside its schedule: one that overlaps the next, or one by hand of a job that is
// disabled.
type Beside struct {
	Nominal time.Time
	Due     time.Time // of the attempt that comes next, or is under way
	Manual  bool
	Retry   int  // retries so far
	Running bool // a worker has it, and it is due
}

// Beside returns the runs that go on beside a job's schedule, the earliest first. Of very many not all are told. Of a job that
// is not there, or cannot be read, there are none.
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
