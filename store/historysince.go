package store

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/scheduler"
)

// sinceBatch is how many records are read at once by [Store.RecordsSince].
const sinceBatch = 64

// RecordsSince calls f for the records of a job that were stored at an instant or
// later, by the store's clock, the oldest first, until f returns false.
func (s *Store) RecordsSince(ctx context.Context, k scheduler.Key, since time.Time, f func(*scheduler.Record) bool) error {
	get := directRequest{Filter: s.historyFilter(k), Since: &since, Batch: sinceBatch}
	for {
		var last uint64
		all, enough := false, false
		var bad error
		err := s.directGet(ctx, s.cfg.stream("HISTORY"), get, sinceBatch, func(m *jetstream.RawStreamMsg) bool {
			last = m.Sequence
			r, err := s.record(m)
			bad = err
			enough = err != nil || !f(r)
			return !enough
		}, func(end *nats.Msg) { all = isLast(end) })
		if err != nil || bad != nil {
			return errors.Join(err, bad)
		}
		if all || enough || last == 0 {
			return nil
		}
		get.Since, get.From = nil, last+1
	}
}

// Kept returns the instant since which all records of a job are there: older ones
// have expired ([Config.HistoryAge]), or gave way to later ones of their outcome
// ([Config.HistoryPerJob]).
func (s *Store) Kept(ctx context.Context, k scheduler.Key) (since time.Time, err error) {
	since = s.Now().Add(-s.cfg.HistoryAge).UTC() //nolint:contextcheck // what Now asks the server is for later calls
	if s.cfg.HistoryPerJob <= 0 {
		return since, nil
	}
	info, err := s.history.Info(ctx, jetstream.WithSubjectFilter(s.historyFilter(k)))
	if err != nil {
		return since, translate(err)
	}
	for subject, n := range info.State.Subjects {
		if n < uint64(s.cfg.HistoryPerJob) {
			continue
		}
		get := directRequest{Filter: subject, From: 1, Batch: 1}
		err := s.directGet(ctx, s.cfg.stream("HISTORY"), get, 1, func(m *jetstream.RawStreamMsg) bool {
			if m.Time.After(since) {
				since = m.Time.UTC()
			}
			return false
		}, func(*nats.Msg) {})
		if err != nil {
			return since, err
		}
	}
	return since, nil
}
