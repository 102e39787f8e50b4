package store

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/scheduler"
)

// directRequest is a batched direct get (NATS ADR-31), which the client library does not offer: the last message of
// each subject, or all messages that match a filter from a sequence on.
type directRequest struct {
	Subjects []string `json:"multi_last,omitempty"`
	UpTo     uint64   `json:"up_to_seq,omitempty"` // maximum sequence

	Before *time.Time `json:"up_to_time,omitempty"` // alternative to UpTo: stored before this time

	Filter string     `json:"next_by_subj,omitempty"`
	From   uint64     `json:"seq,omitempty"`
	Since  *time.Time `json:"start_time,omitempty"` // alternative to From: stored at this time or later
	Batch  int        `json:"batch,omitempty"`
	Bytes  int        `json:"max_bytes,omitempty"`

	patience time.Duration // for the answer; 0: publishTimeout
}

const directGet = "$JS.API.DIRECT.GET."

// lastBefore returns the last message of a subject up to a sequence.
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

// directPatience is the first timeout for an answer in a cluster. Any server with a replica may receive the request,
// including a hanging server, so the request is repeated.
const directPatience = time.Second

// askDirect repeats a request until it is answered or patience has passed. ask must return when its context is done.
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
		each *= 2 // the server may be busy rather than hang
	}
}

// lastOf calls each for the last message of every subject that has one, up to a sequence (0: no limit), after the whole
// answer has arrived.
func (s *Store) lastOf(ctx context.Context, stream string, subjects []string, upTo uint64, each func(*jetstream.RawStreamMsg)) error {
	return s.lastMatching(ctx, stream, subjects, upTo, len(subjects), each)
}

// lastMatching is lastOf for filters that match up to most subjects.
func (s *Store) lastMatching(
	ctx context.Context, stream string, filters []string, upTo uint64, most int, each func(*jetstream.RawStreamMsg),
) error {
	if len(filters) == 0 {
		return nil // without filters, the server returns an error
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

// A server before 2.15 looks messages up first and reads them later. If a message is removed in between, as the batons
// of a herd are, the server ends the answer early with brokenOff. The request is then repeated, at most lastOfTries
// times.
const (
	brokenOff   = "Message Not Found"
	lastOfTries = 5
)

// anySubject matches all messages of a stream. With a wildcard instead, the server counts the remaining messages by
// subject.
const anySubject = ""

// forward returns up to most messages that match a filter, with sequences in [from, end). all reports
// whether no more remain.
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

// isLast reports whether a batch was complete, from the message that ends it.
func isLast(end *nats.Msg) bool {
	pending := end.Header.Get("Nats-Num-Pending") // absent if nothing was found
	return pending == "" || pending == "0"
}

// directGet calls each for up to most messages of a batch until it returns false, and end for the message that ends the
// batch.
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

// directBatch is one attempt of directGet. The first answer must arrive before first is done.
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

// Limits of a cursor's steps.
const (
	firstWidth = 64      // sequences in the first step
	batchSize  = 1024    // maximum messages per step
	maxWidth   = 1 << 40 // maximum sequences per step
)

// backwards configures a scan of a stream, newest message first.
type backwards struct {
	store  *Store
	stream string
	first  uint64 // first sequence of the stream
	width  uint64 // sequences in the first step
}

// each calls f for the messages before end that match any of the filters, newest first, until f returns false or an
// error.
func (b *backwards) each(ctx context.Context, filters []string, end uint64, f func(*jetstream.RawStreamMsg) (bool, error)) error {
	var cursors []*cursor
	for _, filter := range filters {
		cursors = append(cursors, &cursor{backwards: *b, filter: filter, end: end})
	}
	for {
		var newest *cursor
		var best uint64
		for _, c := range cursors {
			m, err := c.head(ctx)
			if err != nil {
				return err
			}
			if m != nil && m.Sequence > best {
				newest, best = c, m.Sequence
			}
		}
		if newest == nil {
			return nil
		}
		if more, err := f(newest.pop()); !more || err != nil {
			return err
		}
	}
}

// cursor iterates backwards over the messages that match a filter. The server only reads forwards, so the cursor reads
// ranges of sequences, latest first. A range with few matches widens the next one; a range with more matches than a
// batch holds is narrowed, and its messages are kept until their turn. Each message is read once, and rare matches cost
// few extra requests.
type cursor struct {
	backwards

	filter   string
	end      uint64                    // messages from end on are done
	messages []*jetstream.RawStreamMsg // read but not returned, oldest first
	early    []early                   // read ahead of their turn, latest last
}

// early holds all matching messages of a range, oldest first.
type early struct {
	from, end uint64
	messages  []*jetstream.RawStreamMsg
}

// head returns the next message without removing it, or nil at the end.
func (c *cursor) head(ctx context.Context) (*jetstream.RawStreamMsg, error) {
	for len(c.messages) == 0 {
		if n := len(c.early) - 1; n >= 0 && c.end == c.early[n].end {
			c.messages, c.end, c.early = c.early[n].messages, c.early[n].from, c.early[:n]
			continue
		}
		if c.end <= c.first {
			return nil, nil //nolint:nilnil // the end
		}
		if err := c.step(ctx); err != nil {
			return nil, err
		}
	}
	return c.messages[len(c.messages)-1], nil
}

// pop returns the next message and removes it.
func (c *cursor) pop() *jetstream.RawStreamMsg {
	m := c.messages[len(c.messages)-1]
	c.messages = c.messages[:len(c.messages)-1]
	return m
}

// step reads the next range backwards, or narrows it if it has too many matches.
func (c *cursor) step(ctx context.Context) error {
	from := c.first
	if n := len(c.early); n > 0 {
		from = c.early[n-1].end
	}
	if c.end-from > c.width {
		from = c.end - c.width
	}
	messages, all, err := c.store.forward(ctx, c.stream, c.filter, from, c.end, batchSize)
	if err != nil {
		return err
	}
	if !all && len(messages) > 0 {
		last := messages[len(messages)-1].Sequence
		c.early = append(c.early, early{from, last + 1, slices.Clip(messages)})
		c.width = max(1, (last-from)/2) // about as many as fit into a batch
		return nil
	}
	c.messages, c.end = slices.Clip(messages), from
	if 4*len(messages) <= batchSize {
		c.width = min(4*c.width, maxWidth)
	}
	return nil
}
