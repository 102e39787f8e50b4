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

// listing is the subjects of a stream that match any of some filters.
type listing struct {
	stream  jetstream.Stream
	filters []string
	whole   bool                      // the filters match most of the stream
	matches func(subject string) bool // as the filters do
}

// each calls f for every subject, in no particular order, until f returns an error.
//
// The server has an index of subjects, of which it gives a page in one answer. It copies and sorts the whole index again for
// each page, a million subjects in three seconds of processor time. So where there is more than a page, the headers of the
// messages are read instead, once. A work queue takes no second consumer: there it is page after page.
func (s *Store) each(ctx context.Context, l listing, f func(subject string) error) error {
	ctx, cancel := context.WithTimeout(ctx, indexTimeout)
	defer cancel()
	info, err := l.stream.Info(ctx)
	if err != nil {
		return translate(err)
	}
	queue := info.Config.Retention == jetstream.WorkQueuePolicy
	if l.whole && !queue && info.State.NumSubjects > s.indexPage {
		return l.scan(ctx, info.State.NumSubjects, f)
	}
	for _, filter := range l.filters {
		for read := 0; ; {
			page, total, err := s.index(ctx, info.Config.Name, filter, read)
			if err != nil {
				return err
			}
			if !queue && uint64(total) > s.indexPage {
				return l.scan(ctx, info.State.NumSubjects, f)
			}
			for subject := range page {
				if err := f(subject); err != nil {
					return err
				}
			}
			if read += len(page); read >= total || len(page) == 0 {
				break
			}
		}
	}
	return nil
}

// index asks the server's index for a page of the subjects that match a filter, behind the first offset of them, and how many
// there are.
func (s *Store) index(ctx context.Context, stream, filter string, offset int) (page map[string]uint64, total int, err error) {
	req, err := json.Marshal(map[string]any{"subjects_filter": filter, "offset": offset})
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

// scan calls f for every subject once. It reads the headers of the last messages of all subjects, in their order. What is
// written meanwhile goes behind the last, and is read there; it was seen before, or not, and the hashes of what was seen tell:
// eight bytes for each of about size subjects, and fewer than one in ten million scans of a million takes two for one.
func (l listing) scan(ctx context.Context, size uint64, f func(subject string) error) error {
	seed, seen := maphash.MakeSeed(), make(map[uint64]struct{}, size)
	return scanHeaders(ctx, l.stream, func(subject string) error {
		if !l.matches(subject) {
			return nil
		}
		h := maphash.String(seed, subject)
		if _, again := seen[h]; again {
			return nil
		}
		seen[h] = struct{}{}
		return f(subject)
	})
}

// How many headers are asked for at once, and after which pause the server is asked whether there are more.
const (
	headersAhead = 4096
	headersPause = time.Second
)

// scanHeaders calls f for the messages of a stream, of which it reads no more than the headers.
func scanHeaders(ctx context.Context, stream jetstream.Stream, f func(subject string) error) error {
	c, err := stream.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{
		DeliverPolicy: jetstream.DeliverLastPerSubjectPolicy, HeadersOnly: true, InactiveThreshold: followerAge,
	})
	if err != nil {
		return translate(err)
	}
	messages, err := c.Messages(jetstream.PullMaxMessages(headersAhead))
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
			info, err := c.Info(ctx)
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
		if err := f(m.Subject()); err != nil || meta.NumPending == 0 {
			return err
		}
	}
}
