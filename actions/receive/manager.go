package receive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/flow"
	"github.com/carillon-sched/carillon/scheduler/source"
)

// Receiver receives the messages of sources.
type Receiver interface {
	// SourceTypes returns the types of the sources.
	SourceTypes() []source.Type

	// Receive puts the messages of a source into a feed until ctx is done, or an error requires a new start. Errors do
	// not contain secrets.
	Receive(ctx context.Context, feed *Feed) error

	// Forget removes the traces of a source that was deleted, or has moved to another stream, from its broker, such as a
	// consumer. Its receivers may still run in other processes.
	Forget(ctx context.Context, s *source.Source) error
}

// Config configures a Manager. All fields are required, except Logger.
type Config struct {
	// Receivers receive messages. A source of another type is not run.
	Receivers []Receiver

	// Watch calls changed for every stored source and then for every change, until ctx is done; see [scheduler.Bucket].
	Watch func(ctx context.Context, ready func(), changed func(name string, revision uint64, data []byte)) error

	// Publish stores an event; see [scheduler.Events].
	Publish func(ctx context.Context, t scheduler.Topic, header map[string][]string, body []byte) (uint64, bool, error)

	// Secrets opens the secrets of sources.
	Secrets Secrets

	// Logger receives the errors of receivers. Default: discard.
	Logger *slog.Logger
}

// Secrets opens the secrets of sources. Package secrets implements it.
type Secrets interface {
	scheduler.Sealer
	Resolve(ctx context.Context, s document.Secret) (string, error)
}

// Manager runs the sources of a scheduler in this process.
type Manager struct {
	cfg       Config
	receivers map[source.Type]Receiver
	running   sync.WaitGroup
	live      atomic.Bool // the watch reports every change

	mu      sync.Mutex
	sources map[string]*managed // by stored name
	changed chan struct{}       // closed and replaced when sources changes
}

// managed is a source that the manager knows.
type managed struct {
	source *source.Source // nil: it is deleted, and its receiver has not ended yet, or it cannot be read
	state  *state
	cancel context.CancelFunc
	ended  chan struct{} // closed when its receiver, and all earlier ones of the name, have ended
}

// New returns a Manager. It does no I/O.
func New(cfg Config) *Manager {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	m := &Manager{cfg: cfg, receivers: map[source.Type]Receiver{}, sources: map[string]*managed{}, changed: make(chan struct{})}
	for _, r := range cfg.Receivers {
		for _, t := range r.SourceTypes() {
			m.receivers[t] = r
		}
	}
	return m
}

// Find returns a source of any state; nil: it is unknown. live reports whether the manager learns of every change: then
// an unknown source does not exist or is damaged.
func (m *Manager) Find(k scheduler.Key) (s *source.Source, live bool) {
	return m.known(k).source, m.live.Load()
}

// known returns the known source of a name, without fields for none.
func (m *Manager) known(k scheduler.Key) *managed {
	m.mu.Lock()
	defer m.mu.Unlock()
	return cmp.Or(m.sources[source.StoredName(k)], &managed{})
}

// Await waits until Find returns this revision of a source or a later one. It does not wait while the watch is lost, and at
// most a second.
func (m *Manager) Await(ctx context.Context, k scheduler.Key, revision uint64) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	for m.live.Load() {
		m.mu.Lock()
		one, changed := m.sources[source.StoredName(k)], m.changed
		m.mu.Unlock()
		if one != nil && one.source != nil && one.source.Revision >= revision {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// Status returns the status of a source in this process; false if the process does not run it.
func (m *Manager) Status(k scheduler.Key) (source.Status, bool) {
	return m.status(m.known(k))
}

func (m *Manager) status(one *managed) (source.Status, bool) {
	if one.source == nil || one.source.Webhook == nil && m.receivers[one.source.Type] == nil {
		return source.Status{}, false
	}
	status := one.state.status()
	status.Running = status.Running || one.source.Webhook != nil && one.source.Enabled()
	return status, true
}

// Statuses returns the status of every source in this process, by UID.
func (m *Manager) Statuses() map[string]source.Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := map[string]source.Status{}
	for _, one := range m.sources {
		if status, ok := m.status(one); ok {
			all[one.source.UID] = status
		}
	}
	return all
}

// Webhook records a request for a webhook in this process, and the status of its answer. problem is "" if the event is
// stored, or is a duplicate.
func (m *Manager) Webhook(k scheduler.Key, status int, duplicate bool, problem string) {
	one := m.known(k)
	switch {
	case one.source == nil:
	case problem == "":
		one.state.store(duplicate)
	case status < 500: // the sender's fault
		one.state.refuse(fmt.Errorf("a request was refused: %d, %s", status, problem))
	default:
		one.state.fail(errors.New(problem))
	}
}

// watchPause is the pause after a lost watch.
const watchPause = time.Second

// Run runs the sources until ctx is done, and returns when all receivers have ended. Sources continue while the watch of
// changes is lost.
func (m *Manager) Run(ctx context.Context) error {
	defer m.running.Wait()
	for ctx.Err() == nil {
		seen := map[string]bool{}
		err := m.cfg.Watch(ctx, func() {
			m.retain(ctx, seen)
			seen = nil
			m.live.Store(true)
		}, func(name string, revision uint64, data []byte) {
			if seen != nil {
				seen[name] = true
			}
			m.change(ctx, name, revision, data)
		})
		m.live.Store(false)
		if ctx.Err() == nil {
			m.cfg.Logger.Warn("the watch of the sources ended; retrying", "err", err)
			flow.Pause(ctx, watchPause)
		}
	}
	return nil
}

// retain stops the sources that a new watch has not seen. Their absence does not prove that they were deleted, so what
// they have at their brokers stays.
func (m *Manager) retain(ctx context.Context, seen map[string]bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name := range m.sources {
		if !seen[name] {
			m.replace(ctx, name, nil, nil)
		}
	}
}

// change replaces a source; nil data: it is deleted.
func (m *Manager) change(ctx context.Context, name string, revision uint64, data []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var was, next, left *source.Source
	if before := m.sources[name]; before != nil {
		was = before.source
	}
	if data != nil {
		if was != nil && was.Revision == revision {
			return
		}
		next = m.decode(name, revision, data)
	}
	if data == nil || next != nil && was != nil && moved(was, next) {
		left = was
	}
	m.replace(ctx, name, next, left)
}

// moved reports whether next uses another consumer at the broker than was.
func moved(was, next *source.Source) bool {
	return next.UID != was.UID || next.Type != was.Type || was.NATS != nil && was.NATS.Stream != next.NATS.Stream
}

// replace stops the source of a name, cleans up after left, and runs next; nil: none. The name stays known until its
// receiver has ended, so that receivers of one name do not overlap. Callers hold mu.
func (m *Manager) replace(ctx context.Context, name string, next, left *source.Source) {
	before := m.sources[name]
	if next == nil && (before == nil || before.source == nil) {
		return
	}
	one := &managed{source: next, state: &state{}, ended: make(chan struct{})}
	if before != nil && before.source != nil && next != nil && next.UID == before.source.UID {
		one.state = before.state
	}
	var receiving context.Context
	receiving, one.cancel = context.WithCancel(ctx)
	m.sources[name] = one
	close(m.changed)
	m.changed = make(chan struct{})
	if before != nil {
		before.cancel()
	}
	m.running.Go(func() {
		defer m.end(name, one)
		if before != nil {
			<-before.ended
		}
		m.forget(ctx, left)
		m.run(receiving, one)
	})
}

// end records that the receiver of a source has ended.
func (m *Manager) end(name string, one *managed) {
	one.cancel()
	close(one.ended)
	m.mu.Lock()
	defer m.mu.Unlock()
	if one.source == nil && m.sources[name] == one {
		delete(m.sources, name)
	}
}

// decode decodes a stored source; nil: it cannot be read.
func (m *Manager) decode(name string, revision uint64, data []byte) *source.Source {
	k, err := source.StoredKey(name)
	if err == nil {
		var s *source.Source
		if s, err = source.Decode(k, revision, data, m.cfg.Secrets); err == nil {
			return s
		}
	}
	m.cfg.Logger.Error("a stored source cannot be read and does not run", "eventSource", name, "err", err)
	return nil
}

// forget cleans up after a source that was deleted or has moved; nil: none was.
func (m *Manager) forget(ctx context.Context, s *source.Source) {
	if s == nil || m.receivers[s.Type] == nil {
		return
	}
	ctx, cancel := Settle(ctx)
	defer cancel()
	if err := m.receivers[s.Type].Forget(ctx, s); err != nil {
		m.cfg.Logger.Warn("a source leaves something at its broker", "eventSource", s.Key.String(), "err", err)
	}
}

// The pauses of a source whose receiver fails.
const (
	minPause = time.Second
	maxPause = time.Minute
)

// run runs the receiver of a source until ctx is done.
func (m *Manager) run(ctx context.Context, one *managed) {
	s := one.source
	if s == nil || m.receivers[s.Type] == nil || !s.Enabled() {
		return
	}
	one.state.update(func(s *source.Status) { s.Running = true })
	defer one.state.update(func(s *source.Status) { s.Running = false })
	log, logged := m.cfg.Logger.With("eventSource", s.Key.String()), ""
	for pause := minPause; ctx.Err() == nil; pause = min(2*pause, maxPause) {
		began := time.Now()
		err := m.receive(ctx, one)
		if ctx.Err() != nil {
			return
		}
		if time.Since(began) > maxPause {
			pause, logged = minPause, "" // it worked for some time
		}
		one.state.fail(err)
		if text := err.Error(); text != logged {
			logged = text
			log.Warn("the source has an error; its receiver starts again after a pause", "err", err)
		}
		flow.Pause(ctx, pause)
	}
}

// errEnded is the error of a receiver that ends without one.
var errEnded = errors.New("the receiver ended")

// receive runs the receiver of a source once.
func (m *Manager) receive(ctx context.Context, one *managed) (err error) {
	defer func() {
		if p := recover(); p != nil {
			m.cfg.Logger.Error("a receiver panicked", "eventSource", one.source.Key.String(), "stack", string(debug.Stack()))
			err = fmt.Errorf("the receiver panicked: %v", p)
		}
	}()
	err = m.receivers[one.source.Type].Receive(ctx, &Feed{Source: one.source, cfg: &m.cfg, state: one.state})
	return cmp.Or(err, errEnded)
}
