package step

import (
	"context"
	"slices"

	"github.com/carillon-sched/carillon/scheduler"
)

// recorded reports whether r is among its job's last records.
func (e *Executor) recorded(ctx context.Context, r *scheduler.Record) (there bool, err error) {
	n := 0
	err = e.cfg.Store.Newest(ctx, r.Job, []scheduler.Outcome{r.Outcome}, func(other *scheduler.Record) bool {
		n++
		there = r.Same(other)
		return !there && n < scheduler.HistoryDepth
	})
	return there, err
}

// recordedSkips returns the last skipped records of an incarnation of a job, oldest first.
func (e *Executor) recordedSkips(ctx context.Context, k scheduler.Key, incarnation string) (there []*scheduler.Record, err error) {
	err = e.cfg.Persist(ctx, k, func(ctx context.Context) error {
		n := 0
		there = nil
		return e.cfg.Store.Recent(ctx, k, 0, []scheduler.Outcome{scheduler.OutcomeSkipped}, func(r *scheduler.Record) bool {
			n++
			if r.UID == incarnation {
				there = append(there, r)
			}
			return n < scheduler.HistoryDepth
		})
	})
	slices.Reverse(there)
	return there, err
}

// unrecorded returns the records of a decision about j that the history lacks: a time is recorded as skipped only once,
// even if the process that recorded it ended before it passed the baton on.
func (e *Executor) unrecorded(ctx context.Context, j *scheduler.Job, records []scheduler.Record) (left []scheduler.Record, err error) {
	isSkip := func(r scheduler.Record) bool { return r.Outcome == scheduler.OutcomeSkipped }
	first := slices.IndexFunc(records, isSkip)
	if first < 0 {
		return records, nil
	}
	there, err := e.recordedSkips(ctx, records[first].Job, records[first].UID)
	for _, r := range records {
		if !isSkip(r) || r.Beyond(there, j) {
			left = append(left, r)
		}
	}
	return left, err
}
