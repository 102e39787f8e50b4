package store

import (
	"context"
	"slices"

	"github.com/nats-io/nats.go/jetstream"
)

// The bounds of a cursor's steps.
const (
	firstWidth = 64      // sequences of the first one
	batchSize  = 1024    // messages of one, at most
	maxWidth   = 1 << 40 // sequences of one, at most
)

// backwards says how a stream is read, newest message first.
type backwards struct {
	store  *Store
	stream string
	first  uint64 // of the stream
	width  uint64 // sequences of the first step
}

// each calls f for the messages that match a filter and come before end, newest
// first, until it returns false or an error.
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

// cursor goes backwards through the messages of a stream that match a filter,
// which the server can only read forwards. It looks at ranges of sequences, the
// latest first: a range with few matches makes the next one wider, and one with
// more than fit into a batch is narrowed. The cursor keeps the messages of such a
// range until their turn comes. It reads each message once, and makes few extra
// requests even if matches are rare.
type cursor struct {
	backwards

	filter   string
	end      uint64                    // messages from here on were read
	messages []*jetstream.RawStreamMsg // read, and not yet taken, the oldest first
	early    []early                   // read before their turn, the latest last
}

// early are all matching messages of a range, the oldest first.
type early struct {
	from, end uint64
	messages  []*jetstream.RawStreamMsg
}

// head returns the next message without taking it; nil at the end.
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

// pop takes the next message.
func (c *cursor) pop() *jetstream.RawStreamMsg {
	m := c.messages[len(c.messages)-1]
	c.messages = c.messages[:len(c.messages)-1]
	return m
}

// step reads the range before the last one, or finds it to be too wide.
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
		c.width = max(1, (last-from)/2) // as many as there should be room for
		return nil
	}
	c.messages, c.end = slices.Clip(messages), from
	if 4*len(messages) <= batchSize {
		c.width = min(4*c.width, maxWidth)
	}
	return nil
}
