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

// DeliverSpecs passes published specs to take until ctx is done. room returns how many more it may deliver; a value on
// wake signals new room. take must not block. After ctx is done, it should release further specs.
func (s *Store) DeliverSpecs(ctx context.Context, wake <-chan struct{}, room func() int, take func(scheduler.PublishedSpec)) error {
	s.failover.Begin()
	defer s.failover.End()
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
			Lease: s.failover.Keep(of.stream, of.sequence, m.Reply),
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

// MarkSpec records that a process starts to handle a spec. It returns how often this was recorded, including this call,
// since the last UnmarkSpec.
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

// UnmarkSpec records that a process has finished a spec.
func (s *Store) UnmarkSpec(ctx context.Context, sequence uint64) error {
	_, err := s.settings.Put(ctx, markKey(sequence), nil)
	return translate(err)
}

// IsFirstSpec reports whether the spec with the given sequence is the first unfinished one of its name, in any process.
// The name must be a well-formed <collection>.<job>. It returns false if a lagging replica answers that does not have
// the spec.
func (s *Store) IsFirstSpec(ctx context.Context, name string, sequence uint64) (bool, error) {
	m, err := s.specs.GetMsg(ctx, 1, jetstream.WithGetMsgSubject(s.cfg.Prefix+".spec.*."+name))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return false, nil
	}
	return err == nil && m.Sequence == sequence, translate(err)
}

// FirstSpec returns the sequence of the first unfinished spec, or of the next one to be published if there are none.
func (s *Store) FirstSpec(ctx context.Context) (uint64, error) {
	info, err := s.specs.Info(ctx)
	if err != nil {
		return 0, translate(err)
	}
	return info.State.FirstSeq, nil
}

// EraseSpec removes a spec from its stream and overwrites its stored data, which an acknowledgement does not. The
// server rewrites the message's block, so use it only for specs with secrets. It ignores a missing spec. In a cluster,
// the Raft logs retain the message until they are compacted.
func (s *Store) EraseSpec(ctx context.Context, sequence uint64) error {
	err := s.specs.SecureDeleteMsg(ctx, sequence)
	if errors.Is(err, jetstream.ErrMsgDeleteUnsuccessful) {
		if _, missing := s.specs.GetMsg(ctx, sequence); errors.Is(missing, jetstream.ErrMsgNotFound) {
			return nil
		}
	}
	return translate(err)
}

// claimAge is the retention of a claim. Publishers may rely on two minutes, the server's default duplicate window.
const claimAge = 3 * time.Minute

// claimHeader is the header with the sequence of the spec that claimed an ID.
const claimHeader = "Carillon-Sequence"

// ClaimSpec claims an ID, such as a Nats-Msg-Id, for the first spec of its subject that has the ID. It returns nil for
// that spec, even if it is redelivered, and the result of that spec for all others.
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
	return nil, fmt.Errorf("%w: the first spec with this ID has no result yet", scheduler.ErrUnavailable) // or this replica lags
}

// SettleClaim stores the result of the spec that claimed an ID.
func (s *Store) SettleClaim(ctx context.Context, subject, id string, sequence uint64, result []byte) error {
	_, err := s.publish(ctx, s.claim(subject, id, sequence, result))
	return err
}

// claim returns the message of a claim. Its subject contains a hash for which publishers cannot create collisions.
func (s *Store) claim(subject, id string, sequence uint64, result []byte) *nats.Msg {
	sum := sha256.Sum256([]byte(subject + "\x00" + id))
	m := s.message(s.cfg.Prefix+".spec-id."+hex.EncodeToString(sum[:16]), result)
	setHeader(m, claimHeader, strconv.FormatUint(sequence, 10))
	setHeader(m, jetstream.MsgTTLHeader, claimAge.String())
	return m
}

// PublishResult publishes the result of a spec. verdict is accepted or rejected; name is the rest of the spec's
// subject.
func (s *Store) PublishResult(ctx context.Context, verdict, name string, body []byte) error {
	subject := s.cfg.Prefix + ".spec-result." + verdict
	if name != "" {
		subject += "." + name
	}
	return s.results.append(ctx, subject, body)
}
