package store

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
)

// DeliverSpecs hands published specs to take until ctx is done. room says how
// many more may come, and a value on wake that there is room again. take must
// not block; what it gets after ctx is done it should give back.
func (s *Store) DeliverSpecs(ctx context.Context, wake <-chan struct{}, room func() int, take func(scheduler.PublishedSpec)) error {
	s.presence.begin()
	defer s.presence.end()
	p := pulling{wake: wake, room: room, all: &atomic.Int64{}, share: 1, bytes: specBytes}
	return s.pull(ctx, s.cfg.stream("SPECS"), p, func(m *nats.Msg) {
		of, ok := readDelivered(m.Reply)
		if !ok {
			s.cfg.Logger.Error("spec without JetStream metadata", "subject", m.Subject, "reply", m.Reply)
			return
		}
		rest := strings.TrimPrefix(m.Subject, s.cfg.Prefix+".spec.")
		verb, name, _ := strings.Cut(rest, ".")
		take(scheduler.PublishedSpec{
			Verb: verb, Name: name, Body: m.Data, Header: m.Header,
			Sequence: of.sequence, Published: of.stored, Deliveries: of.deliveries,
			Lease: s.leases.keep(place{of.stream, of.sequence}, m.Reply),
		})
	})
}

// specBytes is how much of the bodies of specs is asked for at once.
const specBytes = 4 << 20

// specMarks is how many keys there are for marks, so that they need not be
// removed. Processes that have specs of the same key at once lose a mark.
const specMarks = 64

// markKey is where it stands that a process has a spec in its hands.
func markKey(sequence uint64) string { return "spec." + strconv.FormatUint(sequence%specMarks, 10) }

// MarkSpec notes that a process takes a spec in, and returns how often that was
// noted, this time included, without a note that one is done with it.
func (s *Store) MarkSpec(ctx context.Context, sequence uint64) (marks int, err error) {
	e, err := s.settings.Get(ctx, markKey(sequence))
	switch {
	case err == nil:
		var of uint64
		if _, err := fmt.Sscan(string(e.Value()), &of, &marks); err != nil || of != sequence {
			marks = 0
		}
	case !errors.Is(err, jetstream.ErrKeyNotFound):
		return 0, translate(err)
	}
	marks++
	_, err = s.settings.Put(ctx, markKey(sequence), fmt.Append(nil, sequence, " ", marks))
	return marks, translate(err)
}

// UnmarkSpec notes that a process is done with a spec.
func (s *Store) UnmarkSpec(ctx context.Context, sequence uint64) error {
	_, err := s.settings.Put(ctx, markKey(sequence), nil)
	return translate(err)
}

// IsFirstSpec reports whether the spec with the given sequence is the first of
// its name that is not done with, in this process or another. The name must be
// a well-formed <collection>.<job>. A replica of the stream that does not know
// the spec yet, or any more, says no.
func (s *Store) IsFirstSpec(ctx context.Context, name string, sequence uint64) (bool, error) {
	m, err := s.specs.GetMsg(ctx, 1, jetstream.WithGetMsgSubject(s.cfg.Prefix+".spec.*."+name))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return false, nil
	}
	return err == nil && m.Sequence == sequence, translate(err)
}

// FirstSpec returns the sequence of the first spec that is not done with; when
// there is none, of the next one that will be published.
func (s *Store) FirstSpec(ctx context.Context) (uint64, error) {
	info, err := s.specs.Info(ctx)
	if err != nil {
		return 0, translate(err)
	}
	return info.State.FirstSeq, nil
}

// EraseSpec removes a spec from its stream and overwrites what was stored of it,
// which an acknowledgement does not do. The server writes the block of messages
// that it lies in once more, so this is for specs that hold secrets. A spec that
// is gone is no error. In a cluster the Raft logs keep what was published until
// they are compacted.
func (s *Store) EraseSpec(ctx context.Context, sequence uint64) error {
	err := s.specs.SecureDeleteMsg(ctx, sequence)
	if errors.Is(err, jetstream.ErrMsgDeleteUnsuccessful) {
		if _, missing := s.specs.GetMsg(ctx, sequence); errors.Is(missing, jetstream.ErrMsgNotFound) {
			return nil
		}
	}
	return translate(err)
}

// claimAge is how long a claim lasts. Publishers may rely on two minutes, the server's default for duplicates.
const claimAge = 3 * time.Minute

// claimHeader names the spec that has claimed an ID.
const claimHeader = "Carillon-Sequence"

// ClaimSpec claims an ID, such as a Nats-Msg-Id, for the first spec of its subject that has it. It returns nothing for the first
// spec, also if it is delivered again, and the result of the first one for every other.
func (s *Store) ClaimSpec(ctx context.Context, subject, id string, sequence uint64) (result []byte, err error) {
	m := s.claim(subject, id, sequence, nil)
	key := m.Subject
	setHeader(m, jetstream.ExpectedLastSubjSeqHeader, "0")
	if _, err = s.publish(ctx, m); !errors.Is(err, scheduler.ErrConflict) {
		return nil, err
	}
	claim, err := s.lastBefore(ctx, s.cfg.stream("SPEC_RESULTS"), key, 0)
	switch {
	case err != nil && !errors.Is(err, jetstream.ErrMsgNotFound):
		return nil, translate(err)
	case err == nil && claim.Header.Get(claimHeader) == strconv.FormatUint(sequence, 10):
		return nil, nil
	case err == nil && len(claim.Data) > 0:
		return claim.Data, nil
	}
	return nil, fmt.Errorf("%w: the first spec with this ID has no result yet", scheduler.ErrUnavailable) // or this replica is behind
}

// SettleClaim stores the result of a spec, whose ID it has claimed.
func (s *Store) SettleClaim(ctx context.Context, subject, id string, sequence uint64, result []byte) error {
	_, err := s.publish(ctx, s.claim(subject, id, sequence, result))
	return err
}

// claim returns the message of a claim. Its subject has a hash that no publisher can make collide with another's.
func (s *Store) claim(subject, id string, sequence uint64, result []byte) *nats.Msg {
	sum := sha256.Sum256([]byte(subject + "\x00" + id))
	m := s.message(s.cfg.Prefix+".spec-id."+hex.EncodeToString(sum[:16]), result)
	setHeader(m, claimHeader, strconv.FormatUint(sequence, 10))
	setHeader(m, jetstream.MsgTTLHeader, claimAge.String())
	return m
}

// PublishResult records what became of a spec: verdict is accepted or
// rejected, name the rest of the spec's subject.
func (s *Store) PublishResult(ctx context.Context, verdict, name string, body []byte) error {
	subject := s.cfg.Prefix + ".spec-result." + verdict
	if name != "" {
		subject += "." + name
	}
	return s.results.append(ctx, subject, body)
}
