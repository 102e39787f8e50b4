package step

import (
	"context"
	"slices"

	"github.com/carillon-sched/carillon/scheduler"
)

// recorded reports whether a record is among its job's last ones.
func (e *Executor) recorded(ctx context.Context, r *scheduler.Record) (there bool, err error) {
	n := 0
	err = e.cfg.Store.Newest(ctx, r.Job, []scheduler.Outcome{r.Outcome}, func(other *scheduler.Record) bool {
		n++
		there = r.Same(other)
		return !there && n < scheduler.HistoryDepth
	})
	return there, err
}

// recordedGaps returns the changes of the clock, by their Unix seconds, that are
// among the last records of what was omitted of an incarnation of a job.
func (e *Executor) recordedGaps(ctx context.Context, k scheduler.Key, incarnation string) (map[int64]bool, error) {
	there := map[int64]bool{}
	err := e.cfg.Persist(ctx, k, func(ctx context.Context) error {
		n := 0
		return e.cfg.Store.Recent(ctx, k, 0, []scheduler.Outcome{scheduler.OutcomeSkipped}, func(r *scheduler.Record) bool {
			n++
			if r.Reason == scheduler.ReasonDST && r.UID == incarnation {
				there[r.Nominal.Unix()] = true
			}
			return n < scheduler.HistoryDepth
		})
	})
	return there, err
}

// unrecorded returns those of the records that the history does not have: a
// change of the clock is recorded once, also when what recorded it was cut short.
func (e *Executor) unrecorded(ctx context.Context, k scheduler.Key, records []scheduler.Record) ([]scheduler.Record, error) {
	isGap := func(r scheduler.Record) bool { return r.Reason == scheduler.ReasonDST }
	first := slices.IndexFunc(records, isGap)
	if first < 0 {
		return records, nil
	}
	there, err := e.recordedGaps(ctx, k, records[first].UID)
	return slices.DeleteFunc(slices.Clone(records), func(r scheduler.Record) bool { return isGap(r) && there[r.Nominal.Unix()] }), err
}
