package history

import (
	"context"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/store/conn"
)

// Limits of a cursor's steps.
const (
	firstWidth = 64      // sequences in the first step
	batchSize  = 1024    // maximum messages per step
	maxWidth   = 1 << 40 // maximum sequences per step

	// stepTime is about the longest time for a step with matches. The server loads each block of the step's range, in some
	// milliseconds.
	stepTime = time.Second
)

// backwards calls f for the messages of a stream before a sequence (0: all) that match any of the filters, newest first,
// until f returns false or an error. sparse: they are a small part of the stream, and before is the sequence of one of
// them; the first step is as wide as the distance from there to the end of the stream.
func backwards(
	ctx context.Context, c *conn.Conn, stream jetstream.Stream, filters []string, before uint64, sparse bool,
	f func(*jetstream.RawStreamMsg) (bool, error),
) error {
	info, err := stream.Info(ctx)
	if err != nil {
		return conn.Translate(err)
	}
	end := info.State.LastSeq + 1
	if before > 0 {
		end = min(end, before)
	}
	width := uint64(firstWidth)
	if sparse {
		width = max(width, info.State.LastSeq+1-end)
	}
	cursors := make([]*cursor, len(filters))
	for i, filter := range filters {
		cursors[i] = &cursor{
			conn: c, stream: info.Config.Name, filter: filter, first: max(info.State.FirstSeq, 1), end: end, width: width,
		}
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
	conn     *conn.Conn
	stream   string
	filter   string
	first    uint64                    // first sequence of the stream
	width    uint64                    // sequences in the next step
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
	began := time.Now()
	messages, all, err := c.conn.Forward(ctx, c.stream, c.filter, from, c.end, batchSize)
	if err != nil {
		return err
	}
	took := time.Since(began)
	if !all && len(messages) > 0 {
		last := messages[len(messages)-1].Sequence
		c.early = append(c.early, early{from, last + 1, slices.Clip(messages)})
		c.width = max(1, (last-from)/2) // about as many as fit into a batch
		return nil
	}
	c.messages, c.end = slices.Clip(messages), from
	switch {
	case len(messages) == 0, 4*len(messages) <= batchSize && took < stepTime/4: // the server searches an empty range again
		c.width = min(4*c.width, maxWidth)
	case took > stepTime:
		c.width = max(1, c.width/2)
	}
	return nil
}
