package store

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/scheduler"
)

// directRequest is a batched direct get (NATS ADR-31), which the client
// library does not offer: the last message of each subject, or those that match
// a filter from a sequence on.
type directRequest struct {
	Subjects []string `json:"multi_last,omitempty"`
	UpTo     uint64   `json:"up_to_seq,omitempty"` // the last one not after this sequence

	Before *time.Time `json:"up_to_time,omitempty"` // instead of UpTo: the last one that was stored before

	Filter string     `json:"next_by_subj,omitempty"`
	From   uint64     `json:"seq,omitempty"`
	Since  *time.Time `json:"start_time,omitempty"` // instead of From: stored not before
	Batch  int        `json:"batch,omitempty"`
	Bytes  int        `json:"max_bytes,omitempty"`

	patience time.Duration // how long the answer may take; 0: publishTimeout
}

const directGet = "$JS.API.DIRECT.GET."

// lastBefore reads the last message of a subject up to a sequence.
func (s *Store) lastBefore(ctx context.Context, stream, subject string, upTo uint64) (*jetstream.RawStreamMsg, error) {
	req, err := json.Marshal(directRequest{Subjects: []string{subject}, UpTo: upTo})
	if err != nil {
		return nil, err
	}
	var m *nats.Msg
	err = s.askDirect(ctx, publishTimeout, func(ctx context.Context) (err error) {
		m, err = s.nc.RequestWithContext(ctx, directGet+stream, req)
		return err
	})
	if err != nil {
		return nil, err
	}
	return rawMessage(m)
}

// directPatience is how long a server of a cluster may take to answer at first before
// another one is asked: any that has a copy may be the one, also one that hangs.
const directPatience = time.Second

// askDirect asks until there is an answer, or for so long. ask returns when its
// context is done without one.
func (s *Store) askDirect(ctx context.Context, patience time.Duration, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	each := directPatience
	if s.replicas == 1 {
		each = patience
	}
	for {
		one, done := context.WithTimeout(ctx, each)
		err := ask(one)
		silent := one.Err() != nil
		done()
		if err == nil || !silent || ctx.Err() != nil {
			return err
		}
		each *= 2 // it may not hang, and have much to look through
	}
}

// lastOf calls each for the last message of every subject that has one, up to a
// sequence (0: no bound), when all have come.
func (s *Store) lastOf(ctx context.Context, stream string, subjects []string, upTo uint64, each func(*jetstream.RawStreamMsg)) error {
	return s.lastMatching(ctx, stream, subjects, upTo, len(subjects), each)
}

// lastMatching is lastOf for filters, which match so many subjects at most.
func (s *Store) lastMatching(
	ctx context.Context, stream string, filters []string, upTo uint64, most int, each func(*jetstream.RawStreamMsg),
) error {
	if len(filters) == 0 {
		return nil // the server would ask what is wanted
	}
	for range lastOfTries {
		found, whole := make([]*jetstream.RawStreamMsg, 0, len(filters)), true
		get := directRequest{Subjects: filters, UpTo: upTo}
		err := s.directGet(ctx, stream, get, most, func(raw *jetstream.RawStreamMsg) bool {
			found = append(found, raw)
			return true
		}, func(last *nats.Msg) { whole = last.Header.Get("Description") != brokenOff })
		if err != nil {
			return err
		}
		if whole {
			for _, m := range found {
				each(m)
			}
			return nil
		}
	}
	return fmt.Errorf("%w: what was looked up kept moving", scheduler.ErrUnavailable)
}

// A server before 2.15 looks the messages up first and then reads them. It ends an
// answer with brokenOff when one has gone in between, with others still to come: as
// those of the batons of a herd do, so that it is asked again a few times.
const (
	brokenOff   = "Message Not Found"
	lastOfTries = 5
)

// anySubject is the filter of all messages of a stream. With one that matches all
// of them instead, the server counts those that follow a batch by the subjects.
const anySubject = ""

// forward reads the messages that match a filter and have a sequence from a
// first one on and before end, but no more than most. all tells whether there
// are no others.
func (s *Store) forward(
	ctx context.Context, stream, filter string, from, end uint64, most int,
) (found []*jetstream.RawStreamMsg, all bool, err error) {
	req := directRequest{Filter: filter, From: from, Batch: int(min(uint64(most), end-from))}
	err = s.directGet(ctx, stream, req, req.Batch, func(m *jetstream.RawStreamMsg) bool {
		if all = m.Sequence >= end-1; m.Sequence < end {
			found = append(found, m)
		}
		return !all
	}, func(last *nats.Msg) { all = isLast(last) })
	return found, all, err
}

// isLast reads of the end of a batch whether nothing that was asked for is left behind it.
func isLast(end *nats.Msg) bool {
	pending := end.Header.Get("Nats-Num-Pending") // absent when nothing was found
	return pending == "" || pending == "0"
}

// directGet calls each for every message of a batch of at most most, until it
// returns false, and end for what the server sends behind them.
func (s *Store) directGet(
	ctx context.Context, stream string, get directRequest, most int, each func(*jetstream.RawStreamMsg) bool, end func(*nats.Msg),
) error {
	req, err := json.Marshal(get)
	if err != nil {
		return err
	}
	patience := cmp.Or(get.patience, publishTimeout)
	return s.askDirect(ctx, patience, func(first context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		return s.directBatch(ctx, first, stream, req, most, each, end)
	})
}

// directBatch is one try of directGet, whose first answer has to come before first is done.
func (s *Store) directBatch(
	ctx, first context.Context, stream string, req []byte, most int, each func(*jetstream.RawStreamMsg) bool, end func(*nats.Msg),
) error {
	answers := make(chan *nats.Msg, most+1)
	inbox := s.nc.NewInbox()
	sub, err := s.nc.ChanSubscribe(inbox, answers)
	if err != nil {
		return translate(err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	if err := s.nc.PublishRequest(directGet+stream, inbox, req); err != nil {
		return translate(err)
	}
	silence := first.Done()
	for {
		select {
		case m := <-answers:
			silence = nil
			raw, err := rawMessage(m)
			if err == jetstream.ErrMsgNotFound { //nolint:errorlint // returned as it is, by rawMessage
				end(m)
				return nil // the end of the batch
			}
			if err != nil {
				return translate(err)
			}
			if !each(raw) {
				return nil
			}
		case <-silence:
			return translate(context.Cause(first))
		case <-ctx.Done():
			return translate(context.Cause(ctx))
		}
	}
}

// rawMessage reads an answer to a direct get. jetstream.ErrMsgNotFound says
// that there is no message, or that a batch is at its end.
func rawMessage(m *nats.Msg) (*jetstream.RawStreamMsg, error) {
	switch status := m.Header.Get("Status"); status {
	case "":
	case "404", "204":
		return nil, jetstream.ErrMsgNotFound
	default:
		return nil, fmt.Errorf("direct get: %s %s", status, m.Header.Get("Description"))
	}
	sequence, err := strconv.ParseUint(m.Header.Get(jetstream.SequenceHeader), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("direct get: %w", err)
	}
	stored, err := time.Parse(time.RFC3339Nano, m.Header.Get(jetstream.TimeStampHeaer))
	if err != nil {
		return nil, fmt.Errorf("direct get: %w", err)
	}
	return &jetstream.RawStreamMsg{
		Subject: m.Header.Get(jetstream.SubjectHeader), Sequence: sequence, Time: stored, Data: m.Data, Header: m.Header,
	}, nil
}
