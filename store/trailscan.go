package store

import (
	"context"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/scheduler/trail"
)

// RecentEntries calls f for the entries of a scope, newest first, from the one before a sequence on (0: from the newest),
// until it returns false.
func (s *Store) RecentEntries(ctx context.Context, of trail.Scope, before uint64, f func(*trail.Entry) bool) error {
	if err := s.settleTrail(ctx); err != nil {
		return err
	}
	info, err := s.trail.Info(ctx)
	if err != nil {
		return translate(err)
	}
	end := info.State.LastSeq + 1
	if before > 0 {
		end = min(end, before)
	}
	scan := backwards{store: s, stream: s.cfg.stream(auditStream), first: max(info.State.FirstSeq, 1), width: firstWidth}
	return scan.each(ctx, s.scopeSubjects(of), end, func(m *jetstream.RawStreamMsg) (bool, error) {
		e, err := trail.Decode(m.Sequence, m.Data)
		if err != nil {
			return true, nil //nolint:nilerr // an entry that cannot be read is left out
		}
		return f(e), nil
	})
}
