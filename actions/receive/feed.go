package receive

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/flow"
	"github.com/carillon-sched/carillon/scheduler/source"
)

// Feed is where a receiver puts the messages of its source. It is safe for concurrent use.
type Feed struct {
	Source *source.Source

	cfg   *Config
	state *state
}

// Message is a message of a broker.
type Message struct {
	ID     string              // the same at each delivery, and unique in the source; "": duplicates are not recognized
	Header map[string][]string // the attributes of the event
	Body   []byte
}

// The pauses between two attempts to store an event.
const (
	minWait = 100 * time.Millisecond
	maxWait = 5 * time.Second
)

// Store stores the event of a message. It tries again until the store accepts the event or ctx is done. [Refused]
// recognizes the error of a message that cannot be an event.
func (f *Feed) Store(ctx context.Context, m Message) error {
	topic, header := f.Source.Topic(), cleanHeader(m.Header)
	if m.ID != "" {
		header["Nats-Msg-Id"] = []string{topic.MessageID(m.ID)}
	}
	if _, err := scheduler.NewEvent(topic, header, m.Body); err != nil {
		f.Refuse(err)
		return err
	}
	for wait := minWait; ; wait = min(2*wait, maxWait) {
		_, duplicate, err := f.cfg.Publish(ctx, topic, header, m.Body)
		if err == nil {
			f.state.store(duplicate)
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if Refused(err) {
			f.Refuse(err)
			return err
		}
		f.Fail(fmt.Errorf("the event is not stored; trying again: %w", err))
		flow.Pause(ctx, wait)
	}
}

// cleanHeader returns headers that a NATS server takes and that do not instruct it or the scheduler.
func cleanHeader(header map[string][]string) map[string][]string {
	cleaned := map[string][]string{}
	for name, values := range header {
		lower := strings.ToLower(name)
		unnamed := lower == "" || lower == "ce-" // NATS refuses the first
		if unnamed || len(values) == 0 || strings.HasPrefix(lower, "nats-") || strings.HasPrefix(lower, "carillon-") {
			continue
		}
		name = strings.Map(func(r rune) rune {
			if r <= ' ' || r >= 0x7f || r == ':' {
				return '_'
			}
			return r
		}, name)
		cleaned[name] = values[:1]
	}
	return cleaned
}

// Refuse reports a message that is not stored.
func (f *Feed) Refuse(err error) { f.state.refuse(fmt.Errorf("a message cannot be an event: %w", err)) }

// Fail reports an error that does not end the receiver.
func (f *Feed) Fail(err error) { f.state.fail(err) }

// Lag reports the number of messages that wait at the broker; negative: unknown.
func (f *Feed) Lag(n int64) {
	f.state.update(func(s *source.Status) {
		if s.Lag = &n; n < 0 {
			s.Lag = nil
		}
	})
}

// Reveal returns the text of a secret of the source.
func (f *Feed) Reveal(ctx context.Context, s document.Secret) (string, error) {
	return f.cfg.Secrets.Resolve(ctx, s)
}

// Hold calls f, and renews the lease of its message at an interval until f returns. It cancels the context of f when the
// lease is lost.
func Hold(ctx context.Context, every time.Duration, renew, f func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	holding, done := context.WithCancel(context.WithoutCancel(ctx))
	var renewal sync.WaitGroup
	defer renewal.Wait() // an interrupted renewal would leave it open whether the lease has changed
	defer done()
	renewal.Go(func() {
		for flow.Pause(holding, every) {
			limited, end := Settle(ctx)
			err := renew(limited)
			end()
			if err != nil {
				cancel(fmt.Errorf("the lock of the message is lost: %w", err))
				return
			}
		}
	})
	return f(ctx)
}

// settleTimeout limits how long a receiver settles a message.
const settleTimeout = 10 * time.Second

// Settle returns a context in which a receiver settles a message. It does not end with ctx.
func Settle(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
}

// Refused reports whether err is the error of a message that can never be stored.
func Refused(err error) bool { return errors.Is(err, scheduler.ErrInvalid) }

// Fields returns the fields of a connection string, name=value;…, by name in lower case.
func Fields(text string) map[string]string {
	fields := map[string]string{}
	for part := range strings.SplitSeq(text, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		fields[strings.ToLower(name)] = value
	}
	return fields
}

// maxError limits the text of an error in a status, in bytes: processes exchange it.
const maxError = 512

// state is the status of a source, which outlives its receiver.
type state struct {
	source.Status

	mu sync.Mutex
}

func (s *state) update(change func(*source.Status)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.Status)
}

func (s *state) store(duplicate bool) {
	s.update(func(s *source.Status) {
		s.LastEvent = time.Now().UTC()
		if !duplicate {
			s.Received++
		}
	})
}

func (s *state) refuse(err error) {
	s.update(func(s *source.Status) { s.Refused++ })
	s.fail(err)
}

func (s *state) fail(err error) {
	s.update(func(s *source.Status) {
		s.LastError, s.ErrorTime = document.Cut(err.Error(), maxError), time.Now().UTC()
	})
}

func (s *state) status() (now source.Status) {
	s.update(func(s *source.Status) { now = *s })
	return now
}
