package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"github.com/carillon-sched/carillon/scheduler"
)

// Shut says that a stream, or a bucket, takes no writes. A NATS server shuts a
// stream when a write fails, as on a full disk, and keeps it shut until it is
// restarted, also when there is room again.
type Shut struct {
	Stream string // its name
	Reason string // in the server's words, when Told

	// Told says that the server refuses, and that waiting does not help. A
	// stream that only does not answer may have no leader at the moment.
	Told bool
}

// String is for people: "stream CARILLON_HISTORY: no space left on device".
func (s Shut) String() string { return "stream " + s.Stream + ": " + s.Reason }

// The bounds of a [Store.Check].
const (
	checkTimeout = 2 * time.Second
	checkAtOnce  = 64
)

// The setting that each check writes: one for processes that tell of their
// presence, and one for those that do not, such as all of earlier versions, so
// that the others know of these (see [presence]).
const (
	presentKey = "present"
	writtenKey = "written"
)

// noAnswer is the reason of a stream that does not answer.
const noAnswer = "it does not answer"

// Check finds out which streams take no writes, with one request each and one
// write in all: that of a setting, which fails on a full disk while nothing
// else is written. The others are asked to purge what nobody publishes, which
// changes nothing, and which a stream refuses that is shut. Without connection
// it is [scheduler.ErrUnavailable].
func (s *Store) Check(ctx context.Context) ([]Shut, error) {
	var (
		mu   sync.Mutex
		shut []Shut
		g    errgroup.Group
	)
	s.askClock(ctx)
	written := s.checkWrite(ctx)
	g.SetLimit(checkAtOnce)
	for _, stream := range s.opened {
		if s.unasked.has(stream) {
			continue
		}
		g.Go(func() error {
			found := s.checkStream(ctx, stream)
			mu.Lock()
			defer mu.Unlock()
			if found != nil {
				shut = append(shut, *found)
			}
			return nil
		})
	}
	_ = g.Wait() // the streams' problems are the result
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case !s.nc.IsConnected():
		return nil, &translated{scheduler.ErrUnavailable, nats.ErrConnectionReconnecting}
	}
	settings := "KV_" + s.cfg.bucket("settings")
	if written != nil && !slices.ContainsFunc(shut, func(f Shut) bool { return f.Stream == settings }) {
		shut = append(shut, Shut{Stream: settings, Reason: refusal(written)})
	}
	slices.SortFunc(shut, func(a, b Shut) int { return slices.Index(s.opened, a.Stream) - slices.Index(s.opened, b.Stream) })
	s.shut.Store(&shut)
	return shut, nil
}

// checkWrite writes a setting.
func (s *Store) checkWrite(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	key := writtenKey
	if s.presence.works {
		key = presentKey
	}
	_, err := s.settings.Put(ctx, key, strconv.AppendInt(nil, time.Now().Unix(), 10))
	return err
}

// checkStream asks a stream to purge a subject that it does not have.
func (s *Store) checkStream(ctx context.Context, stream string) *Shut {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	subject := purgeSubject(stream)
	m, err := s.nc.RequestWithContext(ctx, subject, []byte(`{"filter":"`+s.cfg.Prefix+`.check"}`))
	if err != nil {
		if s.forbidden(subject) {
			s.unasked.add(stream)
			return nil
		}
		return &Shut{Stream: stream, Reason: refusal(err)}
	}
	var answer struct {
		Error *jetstream.APIError `json:"error"`
	}
	if err := json.Unmarshal(m.Data, &answer); err != nil || answer.Error == nil {
		return nil
	}
	return &Shut{Stream: stream, Reason: answer.Error.Description, Told: !slices.Contains(forming, answer.Error.ErrorCode)}
}

// forbidden reports whether the NATS user may not publish to a subject, which the server says apart from any answer.
func (s *Store) forbidden(subject string) bool {
	err := s.nc.LastError()
	return errors.Is(err, nats.ErrPermissionViolation) && strings.Contains(err.Error(), strconv.Quote(subject))
}

// refusal is why a request failed, in few words.
func refusal(err error) string {
	switch {
	case errors.Is(err, nats.ErrNoResponders), errors.Is(err, jetstream.ErrNoStreamResponse):
		return "JetStream is off, or is just starting"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, nats.ErrTimeout):
		return noAnswer
	}
	return err.Error()
}

func purgeSubject(stream string) string { return "$JS.API.STREAM.PURGE." + stream }

// Suspicions has a value when a write was not acknowledged in time: it is worth
// a [Store.Check].
func (s *Store) Suspicions() <-chan struct{} { return s.suspicions }

// suspect notes that a write was not acknowledged in time, and adds to the error
// what the last check found.
func (s *Store) suspect(err error) error {
	if !errors.Is(err, jetstream.ErrAsyncPublishTimeout) {
		return err
	}
	select {
	case s.suspicions <- struct{}{}:
	default:
	}
	if shut := s.shut.Load(); shut != nil && len(*shut) > 0 {
		return fmt.Errorf("%w; no writes are taken by %s", err, (*shut)[0])
	}
	return err
}

// names is a set of names that grows.
type names struct {
	mu  sync.Mutex
	set map[string]bool
}

func (n *names) add(name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.set == nil {
		n.set = map[string]bool{}
	}
	n.set[name] = true
}

func (n *names) has(name string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.set[name]
}
