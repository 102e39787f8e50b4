package conn

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"math"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/scheduler"
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
	Stream jetstream.Stream
	Filter string // a prefix and the wildcard * or >
	Whole  bool   // the filter matches most of the stream
}

// State returns the current state of a stream.
func State(ctx context.Context, st jetstream.Stream) (jetstream.StreamState, error) {
	info, err := st.Info(ctx)
	if err != nil {
		return jetstream.StreamState{}, Translate(err)
	}
	return info.State, nil
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
	var answer struct {
		Total int `json:"total"`
		State struct {
			Subjects map[string]uint64 `json:"subjects"`
		} `json:"state"`
	}
	err = s.Ask(ctx, "$JS.API.STREAM.INFO."+stream, map[string]any{"subjects_filter": filter}, &answer)
	return answer.State.Subjects, answer.Total, Translate(err)
}

// read calls f for every subject by reading messages. A work queue allows no second consumer, so read reads it
// completely, and f may get a subject twice that is written in the meantime. For other streams it reads the headers of
// the last message of each subject, and calls f once for each.
func (s *Conn) read(ctx context.Context, l Listing, info *jetstream.StreamInfo, f func(subject string) error) error {
	prefix := strings.TrimRight(l.Filter, "*>")
	each := func(subject string) error {
		if !strings.HasPrefix(subject, prefix) {
			return nil
		}
		return f(subject)
	}
	if info.Config.Retention == jetstream.WorkQueuePolicy {
		return s.ReadMessages(ctx, info, 0, func(m *jetstream.RawStreamMsg) error { return each(m.Subject) })
	}
	// A message written during a scan moves to the end and may be read twice. A hash takes 8 bytes per subject. The
	// probability that a listing of a million subjects loses one to a collision is below 1 in 10 million.
	seed, seen := maphash.MakeSeed(), make(map[uint64]struct{}, info.State.NumSubjects)
	return ScanHeaders(ctx, l.Stream, func(subject string, _ nats.Header) error {
		hash := maphash.String(seed, subject)
		if _, again := seen[hash]; again {
			return nil
		}
		seen[hash] = struct{}{}
		return each(subject)
	})
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

// ReadMessages calls f for all messages of a stream after a sequence, in order. It calls f only after a response is
// complete, so f may be slow.
func (s *Conn) ReadMessages(
	ctx context.Context, info *jetstream.StreamInfo, after uint64, f func(*jetstream.RawStreamMsg) error,
) error {
	var batch []*jetstream.RawStreamMsg
	large := int(min(max(info.State.Msgs/throughParts, throughBatch), throughLarge*throughBatch))
	for from, all := max(info.State.FirstSeq, after+1), false; !all; {
		batch = batch[:0]
		get := DirectRequest{From: from, Batch: large, Bytes: throughBytes / throughBatch * large, timeout: throughPatience}
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

// headersAhead is the number of headers requested ahead, and scanPause the silence after which a scan asks whether
// messages are pending.
const (
	headersAhead = 4096
	scanPause    = time.Second
)

// ScanHeaders calls f for the headers of the messages of [ScanLast].
func ScanHeaders(ctx context.Context, stream jetstream.Stream, f func(subject string, h nats.Header) error) error {
	return ScanLast(ctx, stream, headersAhead, true, func(m jetstream.Msg, _ uint64) error { return f(m.Subject(), m.Headers()) })
}

// ScanRange calls f for all messages with sequences from first to end, in order.
func ScanRange(
	ctx context.Context, stream jetstream.Stream, first, end uint64, ahead int, f func(m jetstream.Msg, sequence uint64) error,
) error {
	cfg := jetstream.OrderedConsumerConfig{DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: first}
	_, err := scan(ctx, stream, cfg, end, ahead, f)
	return err
}

// ScanLast calls f for the last message of each subject, in order, and possibly for messages written in the meantime.
// ahead is the number of messages requested ahead; with headers, they have no data. It returns scheduler.ErrUnavailable if
// a message is replaced again and again before its turn.
//
// ScanLast first uses a consumer for the last message of each subject. The server looks these messages up when it
// creates the consumer. If one is removed before its turn, the server miscounts the pending messages, and delivers none
// until the next write. So this part may end early, or after a silence.
//
// It then reads the rest of the stream by sequence, twice: first the headers, to find the last message of each
// subject, then the messages, of which it passes on only these. It repeats this for subjects whose last message was
// replaced in between, at most lastOfTries times.
func ScanLast(
	ctx context.Context, stream jetstream.Stream, ahead int, headers bool, f func(m jetstream.Msg, sequence uint64) error,
) error {
	cfg := jetstream.OrderedConsumerConfig{DeliverPolicy: jetstream.DeliverLastPerSubjectPolicy, HeadersOnly: headers}
	last, err := scan(ctx, stream, cfg, math.MaxUint64, ahead, f)
	if err != nil {
		return err
	}
	seed, missing := maphash.MakeSeed(), map[uint64]uint64{} // last sequences by a hash of the subject, as in read
	for round := range lastOfTries {
		latest := map[uint64]uint64{}
		cfg = jetstream.OrderedConsumerConfig{
			DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: last + 1, HeadersOnly: true,
		}
		end, err := scan(ctx, stream, cfg, math.MaxUint64, headersAhead, func(m jetstream.Msg, sequence uint64) error {
			subject := maphash.String(seed, m.Subject())
			if _, ok := missing[subject]; ok || round == 0 {
				latest[subject] = sequence
			}
			return nil
		})
		if err != nil || len(latest) == 0 {
			return err
		}
		missing, cfg.HeadersOnly = latest, headers
		read, err := scan(ctx, stream, cfg, end, ahead, func(m jetstream.Msg, sequence uint64) error {
			subject := maphash.String(seed, m.Subject())
			if missing[subject] != sequence {
				return nil
			}
			delete(missing, subject)
			return f(m, sequence)
		})
		if err != nil || len(missing) == 0 {
			return err
		}
		last = max(last, read)
	}
	return fmt.Errorf("%w: the messages kept moving during a scan; try again", scheduler.ErrUnavailable)
}

// scan calls f for the messages of a consumer up to a sequence, until none is pending. If the consumer is for the last
// messages, scan also returns after a silence, because their number is unreliable, and when the client replaces the
// consumer by one for a range, as after a reconnect. It returns the sequence of the last message.
func scan(
	ctx context.Context, stream jetstream.Stream, cfg jetstream.OrderedConsumerConfig, end uint64, ahead int,
	f func(m jetstream.Msg, sequence uint64) error,
) (last uint64, err error) {
	cfg.InactiveThreshold = FollowerAge
	creating, cancel := context.WithTimeout(ctx, IndexTimeout) // the server first looks up the last message of every subject
	c, err := stream.OrderedConsumer(creating, cfg)
	cancel()
	if err != nil {
		return 0, Translate(err)
	}
	if c.CachedInfo().NumPending == 0 {
		return 0, nil
	}
	name, lastOnes := c.CachedInfo().Name, cfg.DeliverPolicy == jetstream.DeliverLastPerSubjectPolicy
	messages, err := c.Messages(jetstream.PullMaxMessages(ahead))
	if err != nil {
		return 0, Translate(err)
	}
	defer messages.Stop()
	stop := context.AfterFunc(ctx, messages.Stop)
	defer stop()
	for last < end {
		m, err := messages.Next(jetstream.NextMaxWait(scanPause))
		if ctx.Err() != nil {
			return last, Translate(context.Cause(ctx))
		}
		if errors.Is(err, nats.ErrTimeout) { // the last messages may have been removed
			if lastOnes {
				return last, nil
			}
			asking, cancel := context.WithTimeout(ctx, throughPatience)
			info, err := c.Info(asking)
			cancel()
			if err != nil || info.NumPending == 0 {
				return last, Translate(err)
			}
			continue
		}
		if err != nil {
			return last, Translate(err)
		}
		meta, err := m.Metadata()
		if err != nil {
			return last, Translate(err)
		}
		if meta.Sequence.Stream > end || lastOnes && meta.Consumer != name {
			return last, nil
		}
		last = meta.Sequence.Stream
		if err := f(m, last); err != nil || meta.NumPending == 0 {
			return last, err
		}
	}
	return last, nil
}
