package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// indexPage is how many subjects the server's index gives in one answer.
const indexPage = 100_000

// indexTimeout is how long a listing may take.
const indexTimeout = 5 * time.Minute

// listing is the subjects of a stream that match a filter.
type listing struct {
	stream  jetstream.Stream
	filter  string
	whole   bool                      // the filter matches most of the stream
	matches func(subject string) bool // as the filter does
}

// each calls f for every subject, in no particular order, until f returns an error.
//
// The server has an index of subjects, of which it gives a page in one answer. It copies and sorts the whole index again for
// each page, a million subjects in three seconds of processor time. So where there is more than a page, the messages are read
// instead, once.
func (s *Store) each(ctx context.Context, l listing, f func(subject string) error) error {
	ctx, cancel := context.WithTimeout(ctx, indexTimeout)
	defer cancel()
	info, err := l.stream.Info(ctx)
	if err != nil {
		return translate(err)
	}
	if l.whole && info.State.NumSubjects > s.indexPage {
		return s.read(ctx, l, info, f)
	}
	subjects, total, err := s.index(ctx, info.Config.Name, l.filter)
	if err != nil {
		return err
	}
	if uint64(total) > s.indexPage {
		return s.read(ctx, l, info, f)
	}
	for subject := range subjects {
		if err := f(subject); err != nil {
			return err
		}
	}
	return nil
}

// index asks the server's index for the subjects that match a filter, the first page of them, and how many there are.
func (s *Store) index(ctx context.Context, stream, filter string) (page map[string]uint64, total int, err error) {
	req, err := json.Marshal(map[string]any{"subjects_filter": filter})
	if err != nil {
		return nil, 0, err
	}
	m, err := s.nc.RequestWithContext(ctx, "$JS.API.STREAM.INFO."+stream, req)
	if err != nil {
		return nil, 0, translate(err)
	}
	var answer struct {
		Error *jetstream.APIError `json:"error"`
		Total int                 `json:"total"`
		State struct {
			Subjects map[string]uint64 `json:"subjects"`
		} `json:"state"`
	}
	if err := json.Unmarshal(m.Data, &answer); err != nil {
		return nil, 0, fmt.Errorf("index of stream %s: %w", stream, err)
	}
	if answer.Error != nil {
		return nil, 0, translate(answer.Error)
	}
	return answer.State.Subjects, answer.Total, nil
}

// read calls f for every subject by the messages. Of a work queue, which takes no second consumer, they are read whole, and
// what is written meanwhile may be told twice; of others, the headers of the last ones of all subjects, once each.
func (s *Store) read(ctx context.Context, l listing, info *jetstream.StreamInfo, f func(subject string) error) error {
	each := func(subject string, _ nats.Header) error {
		if !l.matches(subject) {
			return nil
		}
		return f(subject)
	}
	if info.Config.Retention == jetstream.WorkQueuePolicy {
		return s.readThrough(ctx, info, each)
	}
	return scanHeaders(ctx, l.stream, once(info.State.NumSubjects, each))
}

// told is called for a message.
type told func(subject string, h nats.Header) error

// once calls f for the first message of every subject. What is written while messages are read goes behind the last, and is read
// there; it was seen before, or not, and the hashes of what was seen tell: eight bytes for each of about size subjects, and fewer
// than one in ten million listings of a million takes two for one.
func once(size uint64, f told) told {
	seed, seen := maphash.MakeSeed(), make(map[uint64]struct{}, size)
	return func(subject string, h nats.Header) error {
		hash := maphash.String(seed, subject)
		if _, again := seen[hash]; again {
			return nil
		}
		seen[hash] = struct{}{}
		return f(subject, h)
	}
}

// How much of a work queue is read in one request. For each the server goes through its whole index, if anything was removed from
// the middle, half a second for a million messages, so they are few, and the fewer the longer the index is; who writes waits
// meanwhile, and while it gathers an answer, a tenth of a second for throughBatch.
const (
	throughBatch = 8192
	throughBytes = 8 << 20
	throughLarge = 4  // times that a request may be as large
	throughParts = 16 // in which a stream is read, at least

	// throughPatience is how long one may take, also of a server that has much else to do.
	throughPatience = 30 * time.Second
)

// readThrough calls f for the messages of a stream, in their order.
func (s *Store) readThrough(ctx context.Context, info *jetstream.StreamInfo, f told) error {
	return s.readMessages(ctx, info, func(m *jetstream.RawStreamMsg) error { return f(m.Subject, m.Header) })
}

// readMessages calls f for the messages of a stream, in their order, and not before a request has been answered whole: f may take
// its time.
func (s *Store) readMessages(ctx context.Context, info *jetstream.StreamInfo, f func(*jetstream.RawStreamMsg) error) error {
	var batch []*jetstream.RawStreamMsg
	large := int(min(max(info.State.Msgs/throughParts, throughBatch), throughLarge*throughBatch))
	for from, all := max(info.State.FirstSeq, 1), false; !all; {
		batch = batch[:0]
		get := directRequest{From: from, Batch: large, Bytes: throughBytes / throughBatch * large, patience: throughPatience}
		err := s.directGet(ctx, info.Config.Name, get, large, func(m *jetstream.RawStreamMsg) bool {
			batch = append(batch, m)
			return true
		}, func(last *nats.Msg) { all = isLast(last) })
		if err != nil {
			return err
		}
		for _, m := range batch {
			from = m.Sequence + 1
			if err := f(m); err != nil {
				return err
			}
		}
	}
	return nil
}

// How many headers are asked for at once, and after which pause the server is asked whether there are more.
const (
	headersAhead = 4096
	headersPause = time.Second
)

// scanHeaders calls f for the last messages of all subjects of a stream, of which it reads no more than the headers, and for what
// is written meanwhile.
func scanHeaders(ctx context.Context, stream jetstream.Stream, f told) error {
	cfg := jetstream.OrderedConsumerConfig{HeadersOnly: true}
	return scan(ctx, stream, cfg, headersAhead, func(m jetstream.Msg, _ uint64) error { return f(m.Subject(), m.Headers()) })
}

// scan calls f for the last messages of all subjects of a stream, or for all from the one on with which cfg begins, and their
// sequences, and for what is written meanwhile. So many are asked for at once.
func scan(
	ctx context.Context, stream jetstream.Stream, cfg jetstream.OrderedConsumerConfig, ahead int, f func(jetstream.Msg, uint64) error,
) error {
	if cfg.OptStartSeq == 0 {
		cfg.DeliverPolicy = jetstream.DeliverLastPerSubjectPolicy
	}
	cfg.InactiveThreshold = followerAge
	creating, cancel := context.WithTimeout(ctx, indexTimeout) // the server looks up the last ones of all subjects first
	c, err := stream.OrderedConsumer(creating, cfg)
	cancel()
	if err != nil {
		return translate(err)
	}
	messages, err := c.Messages(jetstream.PullMaxMessages(ahead))
	if err != nil {
		return translate(err)
	}
	defer messages.Stop()
	end := context.AfterFunc(ctx, messages.Stop)
	defer end()
	for {
		m, err := messages.Next(jetstream.NextMaxWait(headersPause))
		if ctx.Err() != nil {
			return translate(context.Cause(ctx))
		}
		if errors.Is(err, nats.ErrTimeout) { // the last ones may have been removed meanwhile, and are not coming
			asking, cancel := context.WithTimeout(ctx, throughPatience)
			info, err := c.Info(asking)
			cancel()
			if err != nil || info.NumPending == 0 {
				return translate(err)
			}
			continue
		}
		if err != nil {
			return translate(err)
		}
		meta, err := m.Metadata()
		if err != nil {
			return translate(err)
		}
		if err := f(m, meta.Sequence.Stream); err != nil || meta.NumPending == 0 {
			return err
		}
	}
}
