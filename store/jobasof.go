package store

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/scheduler"
)

// LoadJobAsOf returns the definition that a job had at an instant, by the store's
// clock. scheduler.ErrNotFound when there was none, or it is not kept any more: the
// last few revisions are.
func (s *Store) LoadJobAsOf(ctx context.Context, k scheduler.Key, at time.Time) (st scheduler.Stored, err error) {
	err = fmt.Errorf("%w: no revision of job %s is kept that is so old", scheduler.ErrNotFound, k)
	get := directRequest{Subjects: []string{s.jobSubject(k)}, Before: &at}
	failed := s.directGet(ctx, "KV_"+s.cfg.bucket(jobsBucket), get, 1, func(m *jetstream.RawStreamMsg) bool {
		st, err = stored(k, m)
		return true
	}, func(*nats.Msg) {})
	if failed != nil {
		return st, failed
	}
	return st, err
}
