package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/scheduler"
)

// Append adds a record to its job's history.
func (s *Store) Append(ctx context.Context, r *scheduler.Record) error {
	data, err := r.Encode()
	if err != nil {
		return fmt.Errorf("history record of %s: %w", r.Job, err)
	}
	m := nats.NewMsg(s.historySubject(r.Job, r.Outcome))
	m.Data = data
	_, err = s.publish(ctx, m)
	return err
}

// Recent calls f for the records of a job with one of the outcomes (all when
// there are none given), newest first, from the record before the sequence
// before on (0: from the newest), until f returns false.
func (s *Store) Recent(
	ctx context.Context, k scheduler.Key, before uint64, outcomes []scheduler.Outcome, f func(*scheduler.Record) bool,
) error {
	if len(outcomes) == 0 {
		outcomes = scheduler.Outcomes
	}
	heads, err := s.heads(ctx, k, before, outcomes)
	if err != nil {
		return err
	}
	for len(heads) > 0 {
		i := newest(heads)
		r := heads[i]
		if !f(r) {
			return nil
		}
		next, err := s.lastRecord(ctx, k, r.Outcome, r.Sequence)
		if err != nil {
			return err
		}
		if next == nil {
			heads = slices.Delete(heads, i, i+1)
		} else {
			heads[i] = next
		}
	}
	return nil
}

// heads returns the last record of each outcome before a sequence, in one
// request.
func (s *Store) heads(ctx context.Context, k scheduler.Key, before uint64, outcomes []scheduler.Outcome) ([]*scheduler.Record, error) {
	if before == 1 {
		return nil, nil // nothing can precede the first record
	}
	subjects := make([]string, len(outcomes))
	for i, o := range outcomes {
		subjects[i] = s.historySubject(k, o)
	}
	var heads []*scheduler.Record
	var bad error
	upTo := max(before, 1) - 1 // 0: no bound
	err := s.lastOf(ctx, s.cfg.stream("HISTORY"), subjects, upTo, func(m *jetstream.RawStreamMsg) {
		r, err := s.record(m.Subject, m.Sequence, m.Data)
		if err != nil {
			bad = err
			return
		}
		heads = append(heads, r)
	})
	return heads, errors.Join(err, bad)
}

func newest(heads []*scheduler.Record) int {
	best := 0
	for i, r := range heads {
		if r.Sequence > heads[best].Sequence {
			best = i
		}
	}
	return best
}

// lastRecord returns the last record of one outcome before a sequence, nil
// when there is none.
func (s *Store) lastRecord(ctx context.Context, k scheduler.Key, o scheduler.Outcome, before uint64) (*scheduler.Record, error) {
	if before == 1 {
		return nil, nil //nolint:nilnil // nothing can precede the first record
	}
	m, err := s.lastBefore(ctx, s.cfg.stream("HISTORY"), s.historySubject(k, o), before-1)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil, nil //nolint:nilnil // absence is an answer
	}
	if err != nil {
		return nil, translate(err)
	}
	return s.record(m.Subject, m.Sequence, m.Data)
}

func (s *Store) record(subject string, sequence uint64, data []byte) (*scheduler.Record, error) {
	k, ok := s.historyKey(subject)
	if !ok {
		return nil, fmt.Errorf("history: %s is not a record's subject", subject)
	}
	r, err := scheduler.DecodeRecord(data)
	if err != nil {
		return nil, fmt.Errorf("history record %d of %s: %w", sequence, k, err)
	}
	r.Job, r.Sequence = k, sequence
	return r, nil
}

// Follow calls ready once the server has taken note, and f for every record
// that is appended from then on, of one job, of a collection when k.Job is
// empty, or of all when k is the zero Key, until ctx is done.
func (s *Store) Follow(ctx context.Context, k scheduler.Key, ready func(), f func(*scheduler.Record)) error {
	filter := s.cfg.Prefix + ".history.>"
	switch {
	case k.Job != "":
		filter = s.cfg.Prefix + ".history." + k.Collection + "." + k.Job + ".*"
	case k.Collection != "":
		filter = s.cfg.Prefix + ".history." + k.Collection + ".>"
	}
	stands := make(chan bool, 1) // whether ready was called
	sub, err := s.nc.Subscribe(filter, func(m *nats.Msg) {
		live := <-stands
		stands <- live
		if r, err := s.record(m.Subject, 0, m.Data); err == nil && live {
			f(r)
		}
	})
	if err != nil {
		return translate(err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	flush, cancel := context.WithTimeout(ctx, publishTimeout)
	defer cancel()
	if err := s.nc.FlushWithContext(flush); err != nil {
		stands <- false
		if ctx.Err() != nil {
			return nil
		}
		return translate(err)
	}
	ready()
	stands <- true
	<-ctx.Done()
	return nil
}

// Forget removes the history of a job.
func (s *Store) Forget(ctx context.Context, k scheduler.Key) error {
	filter := s.cfg.Prefix + ".history." + k.Collection + "." + k.Job + ".*"
	return translate(s.history.Purge(ctx, jetstream.WithPurgeSubject(filter)))
}

// HistoryAge is how long records are kept.
func (s *Store) HistoryAge() time.Duration { return s.cfg.HistoryAge }
