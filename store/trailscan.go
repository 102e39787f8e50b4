package store

import (
	"context"
	"slices"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/scheduler/trail"
)

// RecentEntries calls f for the entries of a scope, newest first, from the one before a sequence on (0: from the newest),
// until it returns false.
func (s *Store) RecentEntries(ctx context.Context, of trail.Scope, before uint64, f func(*trail.Entry) bool) error {
	if err := s.settleTrail(ctx); err != nil {
		return err
	}
	info, err := s.trail.Info(ctx)
	if err != nil {
		return translate(err)
	}
	end := info.State.LastSeq + 1
	if before > 0 {
		end = min(end, before)
	}
	var scans []*backward
	for _, filter := range s.scopeSubjects(of) {
		scans = append(scans, &backward{
			store: s, stream: s.cfg.stream(auditStream), filter: filter, first: max(info.State.FirstSeq, 1), end: end, width: firstWidth,
		})
	}
	for {
		newest, err := newestScan(ctx, scans)
		if newest == nil || err != nil {
			return err
		}
		m := newest.pop()
		if e, err := trail.Decode(m.Sequence, m.Data); err == nil && !f(e) {
			return nil
		}
	}
}

// newestScan returns the scan whose next message is the newest; nil when all are at their end.
func newestScan(ctx context.Context, scans []*backward) (newest *backward, err error) {
	var best uint64
	for _, b := range scans {
		m, err := b.head(ctx)
		if err != nil {
			return nil, err
		}
		if m != nil && m.Sequence > best {
			newest, best = b, m.Sequence
		}
	}
	return newest, nil
}

// backward goes through the messages of a stream that match a filter, newest first, as a [cursor] does through a history.
type backward struct {
	store  *Store
	stream string
	filter string
	first  uint64 // of the stream
	end    uint64 // what is from here on was read
	width  uint64

	messages []*jetstream.RawStreamMsg // read, and not yet taken, the oldest first
}

// head returns the next message without taking it; nil at the end.
func (b *backward) head(ctx context.Context) (*jetstream.RawStreamMsg, error) {
	for len(b.messages) == 0 {
		if b.end <= b.first {
			return nil, nil //nolint:nilnil // the end
		}
		if err := b.step(ctx); err != nil {
			return nil, err
		}
	}
	return b.messages[len(b.messages)-1], nil
}

// pop takes the next message.
func (b *backward) pop() *jetstream.RawStreamMsg {
	m := b.messages[len(b.messages)-1]
	b.messages = b.messages[:len(b.messages)-1]
	return m
}

// step reads the range before the last one, or finds it to be too wide.
func (b *backward) step(ctx context.Context) error {
	from := b.first
	if b.end-b.first > b.width {
		from = b.end - b.width
	}
	messages, all, err := b.store.forward(ctx, b.stream, b.filter, from, b.end, batchSize)
	if err != nil {
		return err
	}
	if !all && len(messages) > 0 {
		b.width = max(1, (messages[len(messages)-1].Sequence-from)/2) // as many as there should be room for
		return nil
	}
	b.messages = slices.Clip(messages)
	b.end = from
	if 4*len(messages) <= batchSize {
		b.width = min(4*b.width, maxWidth)
	}
	return nil
}
