package history

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/store/conn"
)

// History stores the records of all jobs. It is safe for concurrent use.
type History struct {
	conn    *conn.Conn
	stream  jetstream.Stream
	records *conn.Batcher // appends to stream
}

// New returns the history on a connection. It does no I/O.
func New(c *conn.Conn) *History { return &History{conn: c} }

// Append appends a record to its job's history.
func (s *History) Append(ctx context.Context, r *scheduler.Record) error {
	data, err := r.Encode()
	if err != nil {
		return fmt.Errorf("history record of %s: %w", r.Job, err)
	}
	subject := s.HistorySubject(r.Job, r.Outcome)
	if s.conn.Replicas == 1 || s.records.Batches() {
		return s.records.Append(ctx, subject, data)
	}
	m := s.conn.Message(subject, data)
	conn.SetHeader(m, jetstream.MsgIDHeader, recordID(subject, data))
	_, err = s.conn.Publish(ctx, m)
	return err
}

// recordWindow is the duplicate window of the history. In a cluster, a record that was sent to a hanging server is sent
// again to another one, and the first server may still forward it when it resumes. The window must not exceed the
// retention, or the server refuses it.
func (s *History) recordWindow() time.Duration {
	if s.conn.Replicas == 1 {
		return time.Second
	}
	return min(2*time.Minute, s.conn.Config.HistoryAge)
}

// recordID returns a message ID that is the same for a repeated record and different for any other. It covers the
// subject, because the subject has the job and the record may not.
func recordID(subject string, data []byte) string {
	h := fnv.New128a()
	_, _ = io.WriteString(h, subject+" ")
	_, _ = h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}

// Recent calls f for records, newest first, until f returns false: of a job, of a collection if k.Job is empty, or of
// all jobs if k is the zero Key. It starts before the given sequence (0: with the newest) and selects the given
// outcomes (none: all).
func (s *History) Recent(
	ctx context.Context, k scheduler.Key, before uint64, outcomes []scheduler.Outcome, f func(*scheduler.Record) bool,
) error {
	if k.Job == "" || before != 0 {
		return s.scan(ctx, k, before, outcomes, f)
	}
	if len(outcomes) == 0 {
		outcomes = scheduler.Outcomes
	}
	var heads []*scheduler.Record
	err := s.LastRecords(ctx, []scheduler.Key{k}, outcomes, func(r *scheduler.Record) { heads = append(heads, r) })
	if err != nil {
		return err
	}
	return s.scanFrom(ctx, k, heads, outcomes, f)
}

// scanFrom calls f for heads, the latest records of a job by outcome, and for the records before the newest of them, newest
// first, until f returns false. A replica that lags may lack some of heads.
func (s *History) scanFrom(
	ctx context.Context, k scheduler.Key, heads []*scheduler.Record, outcomes []scheduler.Outcome, f func(*scheduler.Record) bool,
) error {
	slices.SortFunc(heads, func(a, b *scheduler.Record) int { return cmp.Compare(b.Sequence, a.Sequence) })
	down := func(to uint64) bool { // passes the remaining heads from to on
		for len(heads) > 0 && heads[0].Sequence >= to {
			r := heads[0]
			heads = heads[1:]
			if !f(r) {
				return false
			}
		}
		return true
	}
	if len(heads) == 0 {
		return nil
	}
	newest, more := heads[0].Sequence, true
	if !down(newest) {
		return nil
	}
	err := s.scan(ctx, k, newest, outcomes, func(r *scheduler.Record) bool {
		known := slices.ContainsFunc(heads, func(head *scheduler.Record) bool { return head.Sequence == r.Sequence })
		more = down(r.Sequence) && (known || f(r))
		return more
	})
	if err == nil && more {
		down(0)
	}
	return err
}

// LastRecords calls each for the last record of each job and outcome, in no particular order. It takes one request per
// 1,024 pairs of job and outcome.
func (s *History) LastRecords(ctx context.Context, keys []scheduler.Key, outcomes []scheduler.Outcome, each func(*scheduler.Record)) error {
	subjects := make([]string, 0, len(keys)*len(outcomes))
	for _, k := range keys {
		for _, o := range outcomes {
			subjects = append(subjects, s.HistorySubject(k, o))
		}
	}
	for batch := range slices.Chunk(subjects, conn.MultiMost) {
		var bad error
		err := s.conn.LastOf(ctx, s.conn.Config.Stream("HISTORY"), batch, func(m *jetstream.RawStreamMsg) {
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

// record decodes a history message. A damaged record is returned as such, without an error.
func (s *History) record(m *jetstream.RawStreamMsg) (*scheduler.Record, error) {
	rest, ok := strings.CutPrefix(m.Subject, s.conn.Config.Prefix+".history.")
	tokens := strings.Split(rest, ".")
	if !ok || len(tokens) != 3 {
		return nil, fmt.Errorf("history: %s is not a record's subject", m.Subject)
	}
	outcome := scheduler.Outcome(tokens[2])
	r, err := scheduler.DecodeRecord(m.Data)
	if err == nil && r.Outcome != outcome {
		err = fmt.Errorf("its outcome is %q", r.Outcome)
	}
	if err != nil {
		r = scheduler.DamagedRecord(outcome, m.Time, err)
	}
	r.Job, r.Sequence, r.Stored = scheduler.Key{Collection: tokens[0], Job: tokens[1]}, m.Sequence, m.Time
	return r, nil
}

// HistorySpan returns the extent of the history of all jobs.
func (s *History) HistorySpan(ctx context.Context) (scheduler.HistorySpan, error) {
	state, err := conn.State(ctx, s.stream)
	return scheduler.HistorySpan{First: state.FirstSeq, Last: state.LastSeq, Records: state.Msgs}, err
}

// RecordsFrom calls f for records in order, from a sequence on, until f returns false or no records remain: of a job,
// of a collection if k.Job is empty, or of all jobs if k is the zero Key.
func (s *History) RecordsFrom(ctx context.Context, k scheduler.Key, from uint64, f func(*scheduler.Record) bool) error {
	filter := conn.AnySubject
	if k.Collection != "" {
		filter = s.historyFilter(k)
	}
	return s.onward(ctx, conn.DirectRequest{Filter: filter, From: max(from, 1), Batch: batchSize}, f)
}

// onward calls f for the records that a request selects, in batches, until f returns false.
func (s *History) onward(ctx context.Context, get conn.DirectRequest, f func(*scheduler.Record) bool) error {
	var bad error
	err := s.conn.Onward(ctx, s.conn.Config.Stream("HISTORY"), get, func(m *jetstream.RawStreamMsg) bool {
		r, err := s.record(m)
		bad = err
		return err == nil && f(r)
	})
	return errors.Join(err, bad)
}

// Follow calls f for the records after a sequence and for new ones, in order, until ctx is done: of a job, of a
// collection if k.Job is empty, or of all jobs if k is the zero Key. It skips messages that are not records. One call
// of f may still be in progress when Follow returns.
func (s *History) Follow(ctx context.Context, k scheduler.Key, after uint64, f func(*scheduler.Record)) error {
	return s.conn.Follow(ctx, "HISTORY", []string{s.historyFilter(k)}, after, func(m *jetstream.RawStreamMsg) {
		if r, err := s.record(m); err == nil {
			f(r)
		}
	})
}

// historyFilter returns the subject filter for the records of a job, a collection or all jobs.
func (s *History) historyFilter(k scheduler.Key) string {
	filter := s.conn.Config.Prefix + ".history."
	switch {
	case k.Job != "":
		return filter + k.Collection + "." + k.Job + ".*"
	case k.Collection != "":
		return filter + k.Collection + ".>"
	}
	return filter + ">"
}

// Forget removes the records of a job up to a sequence. Later records may belong to a new job with the same name.
func (s *History) Forget(ctx context.Context, k scheduler.Key, through uint64) error {
	if through == 0 {
		return nil
	}
	filter := jetstream.WithPurgeSubject(s.historyFilter(k))
	return conn.Translate(s.stream.Purge(ctx, filter, jetstream.WithPurgeSequence(through+1)))
}

// HistoryAge returns the retention of records.
func (s *History) HistoryAge() time.Duration { return s.conn.Config.HistoryAge }

// Open opens the stream of records.
func (s *History) Open(ctx context.Context) (err error) {
	s.stream, s.records, err = s.conn.Batched(ctx, jetstream.StreamConfig{
		Name: s.conn.Config.Stream("HISTORY"), Description: "Carillon: history of every job",
		Subjects: []string{s.conn.Config.Prefix + ".history.>"}, AllowDirect: true,
		MaxAge: s.conn.Config.HistoryAge, MaxMsgsPerSubject: s.conn.Config.HistoryPerJob, Duplicates: s.recordWindow(),
	})
	if err != nil {
		return err
	}
	if have := s.stream.CachedInfo().Config; have.Duplicates < s.recordWindow() {
		have.Duplicates = s.recordWindow()
		s.stream = s.conn.Adjust(ctx, s.stream, have, "the history cannot detect duplicate records")
	}
	return nil
}

// HistorySubject returns the subject of the records of an outcome.
func (s *History) HistorySubject(k scheduler.Key, outcome scheduler.Outcome) string {
	return s.conn.Config.Prefix + ".history." + k.Collection + "." + k.Job + "." + string(outcome)
}
