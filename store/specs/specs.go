package specs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/store/conn"
)

// Specs stores published specs and their results. It is safe for concurrent use.
type Specs struct {
	conn    *conn.Conn
	stream  jetstream.Stream
	results *conn.Batcher // appends to the stream of results
}

// New returns the specs on a connection. It does no I/O.
func New(c *conn.Conn) *Specs { return &Specs{conn: c} }

// Open opens the streams of specs and of their results.
func (s *Specs) Open(ctx context.Context) (err error) {
	s.stream, err = s.conn.OpenQueue(ctx, jetstream.StreamConfig{
		Name: s.conn.Config.Stream("SPECS"), Description: "Carillon: published job specs",
		Subjects: []string{s.conn.Config.Prefix + ".spec.>"}, Sources: s.noDuplicates(),
	}, s.specConsumer)
	if err != nil {
		return err
	}
	_, s.results, err = s.conn.Batched(ctx, jetstream.StreamConfig{
		Name: s.conn.Config.Stream("SPEC_RESULTS"), Description: "Carillon: what became of each published spec",
		Subjects:    []string{s.conn.Config.Prefix + ".spec-result.>", s.conn.Config.Prefix + ".spec-id.*"},
		AllowDirect: true, AllowMsgTTL: true, MaxAge: s.conn.Config.ResultAge, Duplicates: time.Second,
	})
	return err
}

// noDuplicates disables the duplicate window of the specs stream, which would compare IDs across subjects; see
// [Specs.ClaimSpec]. The shortest window is 100 ms, except for a stream with a source, so the stream gets a source that
// never matches a message.
func (s *Specs) noDuplicates() []*jetstream.StreamSource {
	return []*jetstream.StreamSource{{Name: s.conn.Config.Stream("SPECS"), FilterSubject: s.conn.Config.Prefix + ".none"}}
}

// specConsumer returns the consumer of specs. It has a filter although it consumes all specs: without one, any purge,
// even the empty one of a check, makes the server forget released messages, which it then redelivers only after the ack
// wait.
func (s *Specs) specConsumer(wait time.Duration) jetstream.ConsumerConfig {
	return conn.SharedConsumer("Carillon: spec ingestion", s.conn.Config.Prefix+".spec.>", wait)
}

// DeliverSpecs passes published specs to take until ctx is done. room returns how many more it may deliver; a value on
// wake signals new room. take must not block. After ctx is done, it should release further specs.
func (s *Specs) DeliverSpecs(ctx context.Context, wake <-chan struct{}, room func() int, take func(scheduler.PublishedSpec)) error {
	p := conn.Pulling{Wake: wake, Capacity: room, All: &atomic.Int64{}, Share: 1, Bytes: specBytes}
	return s.conn.Pull(ctx, s.conn.Config.Stream("SPECS"), p, func(m *nats.Msg, of conn.Delivered) {
		rest := strings.TrimPrefix(m.Subject, s.conn.Config.Prefix+".spec.")
		verb, name, _ := strings.Cut(rest, ".")
		take(scheduler.PublishedSpec{
			Verb: verb, Name: name, Body: m.Data, Header: m.Header,
			Sequence: of.Sequence, Published: of.Stored, Deliveries: of.Deliveries,
			Lease: s.conn.Failover.Keep(of.Stream, of.Sequence, m.Reply),
		})
	})
}

// specBytes is the maximum total size of the specs in one request.
const specBytes = 4 << 20

// specMarks is the number of keys for marks, which are reused instead of removed. If processes handle specs with the
// same key at the same time, a mark is lost.
const specMarks = 64

// markKey returns the settings key that marks a spec as being handled.
func markKey(sequence uint64) string { return "spec." + strconv.FormatUint(sequence%specMarks, 10) }

// Pending returns the number of published specs that are not processed.
func (s *Specs) Pending(ctx context.Context) (int, error) {
	state, err := conn.State(ctx, s.stream)
	return int(state.Msgs), err
}

// MarkSpec records that a process starts to handle a spec. It returns how often this was recorded, including this call,
// since the last UnmarkSpec.
func (s *Specs) MarkSpec(ctx context.Context, sequence uint64) (marks int, err error) {
	e, err := s.conn.Settings.Get(ctx, markKey(sequence))
	switch {
	case err == nil:
		var of uint64
		if _, err := fmt.Sscan(string(e.Value()), &of, &marks); err != nil || of != sequence {
			marks = 0
		}
	case !errors.Is(err, jetstream.ErrKeyNotFound):
		return 0, conn.Translate(err)
	}
	marks++
	_, err = s.conn.Settings.Put(ctx, markKey(sequence), fmt.Append(nil, sequence, " ", marks))
	return marks, conn.Translate(err)
}

// UnmarkSpec records that a process has finished a spec.
func (s *Specs) UnmarkSpec(ctx context.Context, sequence uint64) error {
	_, err := s.conn.Settings.Put(ctx, markKey(sequence), nil)
	return conn.Translate(err)
}

// IsFirstSpec reports whether the spec with the given sequence is the first unfinished one of its name, in any process.
// The name must be a well-formed <collection>.<job>. It returns false if a lagging replica answers that does not have
// the spec.
func (s *Specs) IsFirstSpec(ctx context.Context, name string, sequence uint64) (bool, error) {
	m, err := s.stream.GetMsg(ctx, 1, jetstream.WithGetMsgSubject(s.conn.Config.Prefix+".spec.*."+name))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return false, nil
	}
	return err == nil && m.Sequence == sequence, conn.Translate(err)
}

// FirstSpec returns the sequence of the first unfinished spec, or of the next one to be published if there are none.
func (s *Specs) FirstSpec(ctx context.Context) (uint64, error) {
	state, err := conn.State(ctx, s.stream)
	return state.FirstSeq, err
}

// EraseSpec removes a spec from its stream and overwrites its stored data, which an acknowledgement does not. The
// server rewrites the message's block, so use it only for specs with secrets. It ignores a missing spec. In a cluster,
// the Raft logs retain the message until they are compacted.
func (s *Specs) EraseSpec(ctx context.Context, sequence uint64) error {
	return conn.Deleted(ctx, s.stream, sequence, s.stream.SecureDeleteMsg(ctx, sequence))
}

// claimAge is the retention of a claim. Publishers may rely on two minutes, the server's default duplicate window.
const claimAge = 3 * time.Minute

// claimHeader is the header with the sequence of the spec that claimed an ID.
const claimHeader = "Carillon-Sequence"

// ClaimSpec claims an ID, such as a Nats-Msg-Id, for the first spec of its subject that has the ID. It returns nil for
// that spec, even if it is redelivered, and the result of that spec for all others.
func (s *Specs) ClaimSpec(ctx context.Context, subject, id string, sequence uint64) (result []byte, err error) {
	m := s.claim(subject, id, sequence, nil)
	key := m.Subject
	conn.SetHeader(m, jetstream.ExpectedLastSubjSeqHeader, "0")
	if _, err = s.conn.Publish(ctx, m); !errors.Is(err, scheduler.ErrConflict) {
		return nil, err
	}
	var claim jetstream.RawStreamMsg
	err = s.conn.LastOf(ctx, s.conn.Config.Stream("SPEC_RESULTS"), []string{key}, func(m *jetstream.RawStreamMsg) { claim = *m })
	switch {
	case err != nil:
		return nil, err
	case claim.Header.Get(claimHeader) == strconv.FormatUint(sequence, 10):
		return nil, nil
	case len(claim.Data) > 0:
		return claim.Data, nil
	}
	return nil, fmt.Errorf("%w: the first spec with this ID has no result yet", scheduler.ErrUnavailable) // or this replica lags
}

// SettleClaim stores the result of the spec that claimed an ID.
func (s *Specs) SettleClaim(ctx context.Context, subject, id string, sequence uint64, result []byte) error {
	_, err := s.conn.Publish(ctx, s.claim(subject, id, sequence, result))
	return err
}

// claim returns the message of a claim. Its subject contains a hash for which publishers cannot create collisions.
func (s *Specs) claim(subject, id string, sequence uint64, result []byte) *nats.Msg {
	sum := sha256.Sum256([]byte(subject + "\x00" + id))
	m := s.conn.Message(s.conn.Config.Prefix+".spec-id."+hex.EncodeToString(sum[:16]), result)
	conn.SetHeader(m, claimHeader, strconv.FormatUint(sequence, 10))
	conn.SetHeader(m, jetstream.MsgTTLHeader, claimAge.String())
	return m
}

// PublishResult publishes the result of a spec. verdict is accepted or rejected; name is the rest of the spec's
// subject.
func (s *Specs) PublishResult(ctx context.Context, verdict, name string, body []byte) error {
	subject := s.conn.Config.Prefix + ".spec-result." + verdict
	if name != "" {
		subject += "." + name
	}
	return s.results.Append(ctx, subject, body)
}
