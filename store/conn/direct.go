package conn

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

// DirectRequest is a batched direct get (NATS ADR-31), which the client library does not offer: the last message of
// each subject, or all messages that match a filter from a sequence on.
type DirectRequest struct {
	Subjects []string   `json:"multi_last,omitempty"`
	Before   *time.Time `json:"up_to_time,omitempty"` // stored before this time

	Filter string     `json:"next_by_subj,omitempty"`
	From   uint64     `json:"seq,omitempty"`
	Since  *time.Time `json:"start_time,omitempty"` // alternative to From: stored at this time or later
	Batch  int        `json:"batch,omitempty"`
	Bytes  int        `json:"max_bytes,omitempty"`

	timeout time.Duration // for each message of the answer; 0: PublishTimeout, or searchTimeout with a filter
}

const directGet = "$JS.API.DIRECT.GET."

// searchTimeout is for the next match of a filter. The server loads each block in between, in some milliseconds: a thousand
// for ten million records.
const searchTimeout = 30 * time.Second

// MessageAt returns the message with a sequence, or [jetstream.ErrMsgNotFound].
func (s *Conn) MessageAt(ctx context.Context, stream string, sequence uint64) (*jetstream.RawStreamMsg, error) {
	req, err := json.Marshal(DirectRequest{From: sequence})
	if err != nil {
		return nil, err
	}
	var m *nats.Msg
	err = s.AskDirect(ctx, PublishTimeout, func(ctx context.Context) (err error) {
		m, err = s.NC.RequestWithContext(ctx, directGet+stream, req)
		return err
	})
	if err != nil {
		return nil, err
	}
	return rawMessage(m)
}

// directPatience is the first timeout for an answer in a cluster. Any server with a replica may receive the request,
// including a hanging server, so the request is repeated.
const directPatience = time.Second

// AskDirect repeats a request until it is answered or patience has passed. ask must return when its context is done.
func (s *Conn) AskDirect(ctx context.Context, patience time.Duration, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	each := directPatience
	if s.Replicas == 1 {
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
		each *= 2 // the server may be busy rather than hang
	}
}

// LastOf calls each for the last message of every subject that has one, after the whole answer has arrived.
func (s *Conn) LastOf(ctx context.Context, stream string, subjects []string, each func(*jetstream.RawStreamMsg)) error {
	return s.LastMatching(ctx, stream, subjects, len(subjects), each)
}

// LastMatching is LastOf for filters that match up to most subjects.
func (s *Conn) LastMatching(
	ctx context.Context, stream string, filters []string, most int, each func(*jetstream.RawStreamMsg),
) error {
	if len(filters) == 0 {
		return nil // without filters, the server returns an error
	}
	for range lastOfTries {
		found, whole := make([]*jetstream.RawStreamMsg, 0, len(filters)), true
		get := DirectRequest{Subjects: filters}
		err := s.DirectGet(ctx, stream, get, most, func(raw *jetstream.RawStreamMsg) bool {
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

// A server before 2.15 looks messages up first and reads them later. If a message is removed in between, as the batons
// of a herd are, the server ends the answer early with brokenOff. The request is then repeated, at most lastOfTries
// times.
const (
	brokenOff   = "Message Not Found"
	lastOfTries = 5
)

// AnySubject matches all messages of a stream. With a wildcard instead, the server counts the remaining messages by
// subject.
const AnySubject = ""

// Forward returns up to most messages that match a filter, with sequences in [from, end). all reports
// whether no more remain.
func (s *Conn) Forward(
	ctx context.Context, stream, filter string, from, end uint64, most int,
) (found []*jetstream.RawStreamMsg, all bool, err error) {
	req := DirectRequest{Filter: filter, From: from, Batch: int(min(uint64(most), end-from))}
	err = s.DirectGet(ctx, stream, req, req.Batch, func(m *jetstream.RawStreamMsg) bool {
		if all = m.Sequence >= end-1; m.Sequence < end {
			found = append(found, m)
		}
		return !all
	}, func(last *nats.Msg) { all = IsLast(last) })
	return found, all, err
}

// Onward calls f for the messages that match a filter from a place on, and for those that follow, in batches, until f
// returns false or none remain. f must be quick.
func (s *Conn) Onward(ctx context.Context, stream string, get DirectRequest, f func(*jetstream.RawStreamMsg) bool) error {
	for {
		var last uint64
		all, enough := false, false
		err := s.DirectGet(ctx, stream, get, get.Batch, func(m *jetstream.RawStreamMsg) bool {
			last, enough = m.Sequence, !f(m)
			return !enough
		}, func(end *nats.Msg) { all = IsLast(end) })
		if err != nil || all || enough || last == 0 {
			return err
		}
		get.Since, get.From = nil, last+1
	}
}

// IsLast reports whether a batch was complete, from the message that ends it.
func IsLast(end *nats.Msg) bool {
	pending := end.Header.Get("Nats-Num-Pending") // absent if nothing was found
	return pending == "" || pending == "0"
}

// DirectGet calls each for up to most messages of a batch until it returns false, and end for the message that ends the
// batch.
func (s *Conn) DirectGet(
	ctx context.Context, stream string, get DirectRequest, most int, each func(*jetstream.RawStreamMsg) bool, end func(*nats.Msg),
) error {
	req, err := json.Marshal(get)
	if err != nil {
		return err
	}
	patience := PublishTimeout
	if get.Filter != "" {
		patience = searchTimeout
	}
	patience = cmp.Or(get.timeout, patience)
	return s.AskDirect(ctx, patience, func(first context.Context) error {
		return s.directBatch(ctx, first, patience, stream, req, most, each, end)
	})
}

// directBatch is one attempt of DirectGet. The first message must arrive before first is done, and each of the others within
// patience.
func (s *Conn) directBatch(
	ctx, first context.Context, patience time.Duration, stream string, req []byte, most int,
	each func(*jetstream.RawStreamMsg) bool, end func(*nats.Msg),
) error {
	answers := make(chan *nats.Msg, most+1)
	inbox := s.NC.NewInbox()
	sub, err := s.NC.ChanSubscribe(inbox, answers)
	if err != nil {
		return Translate(err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	if err := s.NC.PublishRequest(directGet+stream, inbox, req); err != nil {
		return Translate(err)
	}
	silence := first.Done()
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		select {
		case m := <-answers:
			silence = nil
			late.Reset(patience)
			raw, err := rawMessage(m)
			if err == jetstream.ErrMsgNotFound { //nolint:errorlint // returned as it is, by rawMessage
				end(m)
				return nil // the end of the batch
			}
			if err != nil {
				return Translate(err)
			}
			if !each(raw) {
				return nil
			}
		case <-silence:
			return Translate(context.Cause(first))
		case <-late.C:
			return Translate(context.DeadlineExceeded)
		case <-ctx.Done():
			return Translate(context.Cause(ctx))
		}
	}
}

// rawMessage parses an answer to a direct get. jetstream.ErrMsgNotFound marks a missing message or the end of a batch.
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

// Follow calls f for the messages of a stream after a sequence that match any of the subjects, and for new ones, until
// ctx is done.
func (s *Conn) Follow(ctx context.Context, stream string, subjects []string, after uint64, f func(*jetstream.RawStreamMsg)) error {
	consumer, err := s.JS.OrderedConsumer(ctx, s.Config.Stream(stream), jetstream.OrderedConsumerConfig{
		FilterSubjects: subjects, DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: after + 1,
		InactiveThreshold: FollowerAge,
	})
	if err != nil {
		return ended(ctx, Translate(err))
	}
	consuming, err := consumer.Consume(func(m jetstream.Msg) {
		if meta, err := m.Metadata(); err == nil {
			f(&jetstream.RawStreamMsg{Subject: m.Subject(), Sequence: meta.Sequence.Stream, Time: meta.Timestamp, Data: m.Data()})
		}
	})
	if err != nil {
		return ended(ctx, Translate(err))
	}
	defer consuming.Stop()
	select {
	case <-ctx.Done():
		return nil
	case <-consuming.Closed():
		return ended(ctx, fmt.Errorf("%w: the consumer of stream %s was closed", scheduler.ErrUnavailable, s.Config.Stream(stream)))
	}
}

// ended returns nil if ctx is done, else err.
func ended(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return nil
}
