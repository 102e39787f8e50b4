package conn

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

// MultiMost is the maximum number of subjects in one request to the server.
const MultiMost = 1024

// FollowerAge is how long the server keeps the consumer of a vanished follower.
const FollowerAge = time.Minute

// indexPage is the server's page size for subjects in a stream info response.
const indexPage = 100_000

// IndexTimeout is the timeout of a listing.
const IndexTimeout = 5 * time.Minute

// Listing selects the subjects of a stream that match a filter.
type Listing struct {
	Stream  jetstream.Stream
	Filter  string
	Whole   bool                      // the filter matches most of the stream
	Matches func(subject string) bool // equivalent to filter
}

// Each calls f for every subject of a listing, in no particular order, until f returns an error.
//
// The server returns its subject index in pages, but copies and sorts the whole index for each page: 3 s of CPU time
// for a million subjects. If the index exceeds a page, each therefore reads the messages instead, once.
func (s *Conn) Each(ctx context.Context, l Listing, f func(subject string) error) error {
	ctx, cancel := context.WithTimeout(ctx, IndexTimeout)
	defer cancel()
	info, err := l.Stream.Info(ctx)
	if err != nil {
		return Translate(err)
	}
	if l.Whole && info.State.NumSubjects > s.IndexPage {
		return s.read(ctx, l, info, f)
	}
	subjects, total, err := s.index(ctx, info.Config.Name, l.Filter)
	if err != nil {
		return err
	}
	if uint64(total) > s.IndexPage {
		return s.read(ctx, l, info, f)
	}
	for subject := range subjects {
		if err := f(subject); err != nil {
			return err
		}
	}
	return nil
}

// index returns the first page of subjects that match a filter, and their total number.
func (s *Conn) index(ctx context.Context, stream, filter string) (page map[string]uint64, total int, err error) {
	req, err := json.Marshal(map[string]any{"subjects_filter": filter})
	if err != nil {
		return nil, 0, err
	}
	m, err := s.NC.RequestWithContext(ctx, "$JS.API.STREAM.INFO."+stream, req)
	if err != nil {
		return nil, 0, Translate(err)
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
		return nil, 0, Translate(answer.Error)
	}
	return answer.State.Subjects, answer.Total, nil
}

// read calls f for every subject by reading messages. A work queue allows no second consumer, so read reads it
// completely, and f may get a subject twice that is written in the meantime. For other streams it reads the headers of
// the last message of each subject, and calls f once for each.
func (s *Conn) read(ctx context.Context, l Listing, info *jetstream.StreamInfo, f func(subject string) error) error {
	each := func(subject string, _ nats.Header) error {
		if !l.Matches(subject) {
			return nil
		}
		return f(subject)
	}
	if info.Config.Retention == jetstream.WorkQueuePolicy {
		return s.readThrough(ctx, info, each)
	}
	return ScanHeaders(ctx, l.Stream, once(info.State.NumSubjects, each))
}

// told is a callback for a message.
type told func(subject string, h nats.Header) error

// once calls f only for the first message of each subject. A message written during a scan moves to the end and may be
// read twice. once stores a hash of 8 bytes per subject, for about size subjects. The probability that a listing of a
// million subjects loses one to a collision is below 1 in 10 million.
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

// Size of a request that reads a work queue. If a message was removed from the middle, the server scans its whole index
// for each request (half a second for a million messages), so requests are few, and larger for a longer index. Writers
// wait in the meantime, and also while the server collects an answer (a tenth of a second for throughBatch).
const (
	throughBatch = 8192
	throughBytes = 8 << 20
	throughLarge = 4  // maximum factor for a larger request
	throughParts = 16 // minimum number of requests for a stream

	// throughPatience is the timeout of a request, even on a busy server.
	throughPatience = 30 * time.Second
)

// readThrough calls f for all messages of a stream, in order.
func (s *Conn) readThrough(ctx context.Context, info *jetstream.StreamInfo, f told) error {
	return s.ReadMessages(ctx, info, func(m *jetstream.RawStreamMsg) error { return f(m.Subject, m.Header) })
}

// ReadMessages calls f for all messages of a stream, in order. It calls f only after a response is complete, so f may
// be slow.
func (s *Conn) ReadMessages(ctx context.Context, info *jetstream.StreamInfo, f func(*jetstream.RawStreamMsg) error) error {
	var batch []*jetstream.RawStreamMsg
	large := int(min(max(info.State.Msgs/throughParts, throughBatch), throughLarge*throughBatch))
	for from, all := max(info.State.FirstSeq, 1), false; !all; {
		batch = batch[:0]
		get := DirectRequest{From: from, Batch: large, Bytes: throughBytes / throughBatch * large, patience: throughPatience}
		err := s.DirectGet(ctx, info.Config.Name, get, large, func(m *jetstream.RawStreamMsg) bool {
			batch = append(batch, m)
			return true
		}, func(last *nats.Msg) { all = IsLast(last) })
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

// headersAhead is the number of headers requested ahead, and scanPause the silence after which [Scan] asks again.
const (
	headersAhead = 4096
	scanPause    = time.Second
)

// ScanHeaders is [Scan] from the first sequence for the headers alone.
func ScanHeaders(ctx context.Context, stream jetstream.Stream, f told) error {
	s := scan{stream: stream, ahead: headersAhead, headers: true}
	return s.run(ctx, 0, func(m jetstream.Msg, _ uint64) error { return f(m.Subject(), m.Headers()) })
}

// Scan calls f for all messages from a sequence on, or from 0 for the last message of each subject, and possibly for
// messages written in the meantime. ahead is the number of messages requested ahead.
func Scan(ctx context.Context, stream jetstream.Stream, from uint64, ahead int, f func(m jetstream.Msg, sequence uint64) error) error {
	return (&scan{stream: stream, ahead: ahead}).run(ctx, from, f)
}

// scan reads a stream up to its last message. Only a consumer of whole ranges knows how many messages are pending. One
// for the last message of each subject counts removed messages wrongly, and the server stops it at a message that was
// removed after it looked up the last ones, until something is written. After a silence, such a scan therefore continues
// by sequence, where f may get earlier messages of a subject first.
type scan struct {
	stream  jetstream.Stream
	ahead   int
	headers bool

	consumer jetstream.Consumer
	messages jetstream.MessagesContext
}

func (s *scan) run(ctx context.Context, from uint64, f func(jetstream.Msg, uint64) error) error {
	if err := s.open(ctx, from); err != nil {
		return Translate(err)
	}
	defer func() { s.messages.Stop() }()
	info, err := s.stream.Info(ctx)
	if err != nil {
		return Translate(err)
	}
	for last := uint64(0); last < info.State.LastSeq; {
		m, err := s.next(ctx)
		switch {
		case errors.Is(err, nats.ErrTimeout) && from == 0:
			from = last + 1
			s.messages.Stop()
			err = s.open(ctx, from)
		case errors.Is(err, nats.ErrTimeout): // the last messages may have been removed
			var left uint64
			if left, err = s.pending(ctx); err == nil && left == 0 {
				return nil
			}
		case err == nil:
			var meta *jetstream.MsgMetadata
			if meta, err = m.Metadata(); err == nil {
				last = meta.Sequence.Stream
				if err := f(m, last); err != nil {
					return err
				}
			}
		}
		if err != nil {
			return Translate(err)
		}
	}
	return nil
}

// open starts a consumer for the last message of each subject, or for all messages from a sequence on.
func (s *scan) open(ctx context.Context, from uint64) (err error) {
	cfg := jetstream.OrderedConsumerConfig{
		DeliverPolicy: jetstream.DeliverLastPerSubjectPolicy, HeadersOnly: s.headers, InactiveThreshold: FollowerAge,
	}
	if from > 0 {
		cfg.DeliverPolicy, cfg.OptStartSeq = jetstream.DeliverByStartSequencePolicy, from
	}
	ctx, cancel := context.WithTimeout(ctx, IndexTimeout) // the server first looks up the last message of every subject
	defer cancel()
	if s.consumer, err = s.stream.OrderedConsumer(ctx, cfg); err != nil {
		return err
	}
	s.messages, err = s.consumer.Messages(jetstream.PullMaxMessages(s.ahead))
	return err
}

// next returns the next message, or nats.ErrTimeout after a silence.
func (s *scan) next(ctx context.Context) (jetstream.Msg, error) {
	waiting, cancel := context.WithTimeoutCause(ctx, scanPause, nats.ErrTimeout)
	defer cancel()
	m, err := s.messages.Next(jetstream.NextContext(waiting))
	if err != nil && waiting.Err() != nil {
		err = context.Cause(waiting)
	}
	return m, err
}

func (s *scan) pending(ctx context.Context) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, throughPatience)
	defer cancel()
	info, err := s.consumer.Info(ctx)
	if err != nil {
		return 0, err
	}
	return info.NumPending, nil
}
