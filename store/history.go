package store

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/scheduler"
)

// Append adds a record to its job's history.
func (s *Store) Append(ctx context.Context, r *scheduler.Record) error {
	data, err := r.Encode()
	if err != nil {
		return fmt.Errorf("history record of %s: %w", r.Job, err)
	}
	subject := s.historySubject(r.Job, r.Outcome)
	if s.replicas == 1 || s.records.batches() {
		return s.records.append(ctx, subject, data)
	}
	m := s.message(subject, data)
	setHeader(m, jetstream.MsgIDHeader, recordID(subject, data))
	_, err = s.publish(ctx, m)
	return err
}

// recordWindow is for how long the server knows a record that comes again. In a
// cluster one that was sent to a server which hangs is sent to another one, and comes
// from the first when that goes on. It is no longer than records are kept, which the
// server would refuse.
func (s *Store) recordWindow() time.Duration {
	if s.replicas == 1 {
		return time.Second
	}
	return min(2*time.Minute, s.cfg.HistoryAge)
}

// knowRepeated has the server know records for that long in a history that is there.
func (s *Store) knowRepeated(ctx context.Context, st jetstream.Stream) jetstream.Stream {
	have := st.CachedInfo().Config
	if have.Duplicates >= s.recordWindow() {
		return st
	}
	have.Duplicates = s.recordWindow()
	changed, err := s.js.UpdateStream(ctx, have)
	if err != nil {
		s.cfg.Logger.Warn("the history does not know records that come again", "stream", have.Name, "err", err)
		return st
	}
	return changed
}

// recordID is the same for a record that is sent again, and for no other. The
// subject has the job, which the record itself need not tell.
func recordID(subject string, data []byte) string {
	h := fnv.New128a()
	_, _ = io.WriteString(h, subject+" ")
	_, _ = h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}

// Recent calls f for the records of a job, of a collection when k.Job is empty,
// or of all jobs when k is the zero Key, with one of the outcomes (all when there
// are none given), newest first, from the record before the sequence before on
// (0: from the newest), until f returns false.
func (s *Store) Recent(
	ctx context.Context, k scheduler.Key, before uint64, outcomes []scheduler.Outcome, f func(*scheduler.Record) bool,
) error {
	if k.Job == "" {
		return s.scanAll(ctx, k, before, outcomes, f)
	}
	if len(outcomes) == 0 {
		outcomes = scheduler.Outcomes
	}
	heads, err := s.heads(ctx, k, before, outcomes)
	if err != nil {
		return err
	}
	return s.walk(ctx, k, heads, outcomes, f)
}

// walkMost is how many records of a job are read one by one. The rest is read
// in batches.
const walkMost = 4

// walk calls f for the last records of some outcomes of a job, and for those before
// them, newest first, until f returns false.
func (s *Store) walk(
	ctx context.Context, k scheduler.Key, heads []*scheduler.Record, outcomes []scheduler.Outcome, f func(*scheduler.Record) bool,
) error {
	for n := 1; len(heads) > 0; n++ {
		i := newest(heads)
		r := heads[i]
		if !f(r) {
			return nil
		}
		if n == walkMost {
			return s.scanAll(ctx, k, r.Sequence, outcomes, f)
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
		r, err := s.record(m)
		if err != nil {
			bad = err
			return
		}
		heads = append(heads, r)
	})
	return heads, errors.Join(err, bad)
}

// LastRecords calls each for the last record of each of the outcomes that the jobs
// of keys have any of, in no particular order. It is one request for up to 1,024
// jobs times outcomes.
func (s *Store) LastRecords(ctx context.Context, keys []scheduler.Key, outcomes []scheduler.Outcome, each func(*scheduler.Record)) error {
	subjects := make([]string, 0, len(keys)*len(outcomes))
	for _, k := range keys {
		for _, o := range outcomes {
			subjects = append(subjects, s.historySubject(k, o))
		}
	}
	for batch := range slices.Chunk(subjects, multiMost) {
		var bad error
		err := s.lastOf(ctx, s.cfg.stream("HISTORY"), batch, 0, func(m *jetstream.RawStreamMsg) {
			r, err := s.record(m)
			if err != nil {
				bad = err
				return
			}
			each(r)
		})
		if err := errors.Join(err, bad); err != nil {
			return err
		}
	}
	return nil
}

// multiMost is how many subjects the server looks up in one request.
const multiMost = 1024

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
	return s.record(m)
}

// record reads a message of the history.
func (s *Store) record(m *jetstream.RawStreamMsg) (*scheduler.Record, error) {
	k, ok := s.historyKey(m.Subject)
	if !ok {
		return nil, fmt.Errorf("history: %s is not a record's subject", m.Subject)
	}
	outcome := scheduler.Outcome(m.Subject[strings.LastIndexByte(m.Subject, '.')+1:])
	r, err := scheduler.DecodeRecord(m.Data)
	if err == nil && r.Outcome != outcome {
		err = fmt.Errorf("its outcome is %q", r.Outcome)
	}
	if err != nil {
		r = scheduler.DamagedRecord(outcome, m.Time, err)
	}
	r.Job, r.Sequence, r.Stored = k, m.Sequence, m.Time
	return r, nil
}

// HistorySpan returns what there is of the history of all jobs.
func (s *Store) HistorySpan(ctx context.Context) (scheduler.HistorySpan, error) {
	info, err := s.history.Info(ctx)
	if err != nil {
		return scheduler.HistorySpan{}, translate(err)
	}
	state := &info.State
	return scheduler.HistorySpan{
		First: state.FirstSeq, Last: state.LastSeq, Records: state.Msgs, PerJob: info.Config.MaxMsgsPerSubject,
	}, nil
}

// RecordsFrom calls f for the records of a job, of a collection when k.Job is empty, or of all jobs when k is the zero Key,
// in their order, from a sequence on, until f returns false or there are no more.
func (s *Store) RecordsFrom(ctx context.Context, k scheduler.Key, from uint64, f func(*scheduler.Record) bool) error {
	filter := anySubject
	if k.Collection != "" {
		filter = s.historyFilter(k)
	}
	for {
		messages, all, err := s.forward(ctx, s.cfg.stream("HISTORY"), filter, max(from, 1), math.MaxInt64, batchSize)
		if err != nil {
			return err
		}
		for _, m := range messages {
			r, err := s.record(m)
			if err != nil {
				return err
			}
			if !f(r) {
				return nil
			}
			from = m.Sequence + 1
		}
		if all || len(messages) == 0 {
			return nil
		}
	}
}

// Follow calls f for every record after a sequence, in their order and as they
// come: of one job, of a collection when k.Job is empty, or of all when k is the
// zero Key, until ctx is done. What is no record is left out. f may be called a
// last time while Follow returns.
func (s *Store) Follow(ctx context.Context, k scheduler.Key, after uint64, f func(*scheduler.Record)) error {
	consumer, err := s.js.OrderedConsumer(ctx, s.cfg.stream("HISTORY"), jetstream.OrderedConsumerConfig{
		FilterSubjects: []string{s.historyFilter(k)}, DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: after + 1,
		InactiveThreshold: followerAge,
	})
	if err != nil {
		return ended(ctx, translate(err))
	}
	consuming, err := consumer.Consume(func(m jetstream.Msg) {
		meta, err := m.Metadata()
		if err != nil {
			return
		}
		raw := &jetstream.RawStreamMsg{Subject: m.Subject(), Sequence: meta.Sequence.Stream, Time: meta.Timestamp, Data: m.Data()}
		if r, err := s.record(raw); err == nil {
			f(r)
		}
	})
	if err != nil {
		return ended(ctx, translate(err))
	}
	defer consuming.Stop()
	select {
	case <-ctx.Done():
		return nil
	case <-consuming.Closed():
		return ended(ctx, fmt.Errorf("%w: the history is not told any more", scheduler.ErrUnavailable))
	}
}

// followerAge is how long the server keeps the place of a follower that has gone.
const followerAge = time.Minute

// ended drops the error of what was told to end.
func ended(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return nil
}

// historyFilter is what the subjects of the records of a job, a collection or
// of all match.
func (s *Store) historyFilter(k scheduler.Key) string {
	filter := s.cfg.Prefix + ".history."
	switch {
	case k.Job != "":
		return filter + k.Collection + "." + k.Job + ".*"
	case k.Collection != "":
		return filter + k.Collection + ".>"
	}
	return filter + ">"
}

// Forget removes the records of a job up to a sequence. Later ones may be of
// another job of the name.
func (s *Store) Forget(ctx context.Context, k scheduler.Key, through uint64) error {
	if through == 0 {
		return nil
	}
	filter := jetstream.WithPurgeSubject(s.historyFilter(k))
	return translate(s.history.Purge(ctx, filter, jetstream.WithPurgeSequence(through+1)))
}

// HistoryAge is how long records are kept.
func (s *Store) HistoryAge() time.Duration { return s.cfg.HistoryAge }
