package store

import (
	"cmp"
	"context"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/scheduler"
)

// scanAll calls f for the records of a job, of a collection or of all, with one of
// the outcomes, newest first, from the record before the sequence before on (0: from the newest),
// until f returns false.
func (s *Store) scanAll(
	ctx context.Context, k scheduler.Key, before uint64, outcomes []scheduler.Outcome, f func(*scheduler.Record) bool,
) error {
	if before == 1 {
		return nil
	}
	info, err := s.history.Info(ctx)
	if err != nil {
		return translate(err)
	}
	first, end := max(info.State.FirstSeq, 1), info.State.LastSeq+1
	if before > 0 {
		end = min(end, before)
	}
	scan := backwards{store: s, stream: s.cfg.stream("HISTORY"), first: first, width: firstWidth}
	return scan.each(ctx, s.scanFilters(k, outcomes), end, func(m *jetstream.RawStreamMsg) (bool, error) {
		r, err := s.record(m)
		return err == nil && f(r), err
	})
}

// scanFilters are the subjects that have all records that are looked for.
func (s *Store) scanFilters(k scheduler.Key, outcomes []scheduler.Outcome) []string {
	if len(outcomes) == 0 || len(outcomes) == len(scheduler.Outcomes) {
		if k.Collection == "" {
			return []string{anySubject}
		}
		return []string{s.historyFilter(k)}
	}
	of := scheduler.Key{Collection: cmp.Or(k.Collection, "*"), Job: cmp.Or(k.Job, "*")}
	filters := make([]string, len(outcomes))
	for i, o := range outcomes {
		filters[i] = s.historySubject(of, o)
	}
	return filters
}
