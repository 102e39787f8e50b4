package worker

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/cache"
	"github.com/carillon-sched/carillon/scheduler/intake"
	"github.com/carillon-sched/carillon/scheduler/limits"
	"github.com/carillon-sched/carillon/scheduler/secrets"
	"github.com/carillon-sched/carillon/scheduler/step"
	"github.com/carillon-sched/carillon/scheduler/tracing"
)

// Config says how a worker works. Store and Actions are required.
type Config struct {
	Store   scheduler.Store
	Actions scheduler.ActionReader

	// Secrets opens what is sealed in jobs, and finds shared secrets.
	// Default: a vault without keys.
	Secrets *secrets.Vault

	// Collections are those of the store; a service in the same process may
	// share them. Default: the worker's own.
	Collections *cache.Collections

	// Concurrency is how many attempts may be in flight in this process.
	// Raise it when targets are many and slow. Default 256.
	Concurrency int

	// PerTarget is how many of them may go to one target (host and port).
	// Default a quarter of Concurrency.
	PerTarget int

	// HoldMemory is how many bytes the batons have that this process holds, and
	// their definitions: waiting for their instant, for a slot, or running. When
	// it is used up, others wait in the store; so do those of herds that do not
	// fit into seven eighths of it, until they are almost due. Raise it
	// for larger herds. Default 160 MiB.
	HoldMemory int

	// Grace is how long a stop waits for running attempts before it cancels
	// them and lets another worker repeat them. Default 20 s.
	Grace time.Duration

	// OnRecord is called with every record this process writes to a history,
	// after it is stored. It must not block. Default: none.
	OnRecord func(*scheduler.Record)

	// OnTakeover is called when a baton comes that another worker had before:
	// that worker may have died, and left things undone that an audit
	// finds. Likewise when a baton of a deleted job took the place of that of
	// the next job of the name, when a job was edited before its end was
	// written, and when more jobs have ended than there was room for. It must
	// not block. Default: none.
	OnTakeover func()

	// Tracer tells of occurrences and attempts. Default: nothing is traced.
	Tracer *tracing.Tracer

	// Logger takes what no caller can be told. Default: discard.
	Logger *slog.Logger
}

// DefaultHoldMemory is the default of [Config] HoldMemory.
const DefaultHoldMemory = 160 << 20

func (c Config) withDefaults() Config {
	if c.Concurrency <= 0 {
		c.Concurrency = 256
	}
	if c.PerTarget <= 0 {
		c.PerTarget = max(1, c.Concurrency/4)
	}
	if c.HoldMemory <= 0 {
		c.HoldMemory = DefaultHoldMemory
	}
	if c.Grace <= 0 {
		c.Grace = 20 * time.Second
	}
	if c.Secrets == nil {
		c.Secrets = secrets.NewVault(secrets.Config{Store: c.Store.Secrets()})
	}
	if c.Collections == nil {
		c.Collections = cache.NewCollections(c.Store.Collections(), c.Actions)
	}
	if c.OnTakeover == nil {
		c.OnTakeover = func() {}
	}
	if c.OnRecord == nil {
		c.OnRecord = func(*scheduler.Record) {}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

// Worker runs attempts. Its methods are the stages of a run's life (life.go),
// and what happens between them.
type Worker struct {
	cfg       Config
	log       *slog.Logger
	jobs      *cache.Jobs
	room      *intake.Room[place]
	loader    *loader
	timers    *timers
	limiter   *limits.Limiter[*run]
	steps     *step.Executor
	writes    *intake.Persister
	finalizer *finalizer
	underway  underway

	unrecorded *unrecorded

	told    damages
	trouble troubles
	away    intake.Seldom // batons put back while the store is
	putOff  herds
	pace    pace
	suspect atomic.Int64 // batons fired before this Unix nanosecond may have been run already

	crew     *crew           // runs under way outside the queues
	attempts context.Context //nolint:containedctx // ends all attempts of this worker
	cancel   context.CancelCauseFunc
	settles  context.Context //nolint:containedctx // ends what the attempts leave to be stored
	abandon  context.CancelFunc
}

// New returns a worker that does nothing before Run.
func New(cfg Config) *Worker {
	cfg = cfg.withDefaults()
	w := &Worker{
		cfg: cfg, log: cfg.Logger, jobs: cache.NewJobs(cfg.Store, cfg.Actions, cfg.Secrets),
		room: newRoom(cfg.HoldMemory, cfg.Store.Lanes()), writes: intake.NewPersister(cfg.Logger),
		unrecorded: newUnrecorded(cfg.Concurrency),
	}
	w.connect()
	w.jobs.Changed = w.edited
	w.putOff.herds.Waits = cfg.Store.Waits()
	w.steps = step.New(step.Config{
		Store: cfg.Store, Secrets: cfg.Secrets, Load: w.jobs.Load, Current: w.jobs.Current, Persist: w.persist, OnRecord: cfg.OnRecord,
	})
	w.finalizer = newFinalizer(w.finalize, w.busy)
	return w
}

// newRoom returns room for batons in so many bytes of memory.
func newRoom(memory, lanes int) *intake.Room[place] {
	usual := max(1, memory/scheduler.UsualHeldBytes)
	return intake.NewRoom[place](max(1, memory/scheduler.LeastHeldBytes), min(256, max(1, usual/8)), lanes).
		Bound(memory, scheduler.UsualHeldBytes)
}

// Suspect says that the server may have lost track of what was delivered, as
// after a reconnect: batons fired until now are checked against the history
// before they run.
func (w *Worker) Suspect() { w.suspect.Store(w.cfg.Store.Now().UnixNano()) }

// Run works until ctx is done, then stops in good order: it takes no more
// batons, gives back those that have not started, waits Grace for the others,
// and returns nil.
func (w *Worker) Run(ctx context.Context) error {
	w.Suspect()
	base := context.WithoutCancel(ctx)
	w.attempts, w.cancel = context.WithCancelCause(base)
	w.settles, w.abandon = context.WithCancel(base)
	defer w.cancel(errStopping)
	defer w.abandon()

	background, stop := context.WithCancel(base)
	var side sync.WaitGroup
	side.Go(func() { w.jobs.Run(background, w.lost("definitions")) })
	side.Go(func() { w.cfg.Collections.Run(background, w.lost("collections")) })
	side.Go(func() { w.review(background) })
	side.Go(func() { w.finalizer.work(background, w.cfg.OnTakeover) })
	side.Go(func() { w.loader.work(background) })
	timing, letGo := context.WithCancel(base)
	still := make(chan struct{}) // the timers hand on nothing more
	side.Go(func() {
		w.timers.work(timing.Done())
		close(still)
	})

	lanes, laneCtx := errgroup.WithContext(ctx)
	for lane := range w.cfg.Store.Lanes() {
		lanes.Go(func() error {
			take := func(d *scheduler.Delivery) { w.take(laneCtx, lane, d) }
			return w.cfg.Store.Deliver(laneCtx, lane, w.room.Wake(lane), w.room.Ask, take)
		})
	}
	err := lanes.Wait()
	letGo()
	<-still
	w.stop()
	w.crew.end()
	stop()
	side.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// stop gives back what has not started and sees the rest to its end.
func (w *Worker) stop() {
	for _, r := range append(w.timers.drain(), w.limiter.Drain()...) {
		w.nak(r)
	}
	ended := make(chan struct{})
	go func() {
		w.crew.wait()
		close(ended)
	}()
	timer := time.NewTimer(w.cfg.Grace)
	defer timer.Stop()
	select {
	case <-ended:
		return
	case <-timer.C:
	}
	w.cancel(errStopping)
	timer.Reset(w.cfg.Grace)
	select {
	case <-ended:
	case <-timer.C:
		w.abandon()
		<-ended
	}
}

func (w *Worker) lost(what string) func(error) {
	return func(err error) {
		w.log.Warn("lost a watch; reading from the store until it stands again", "of", what, "err", err)
	}
}

// persist repeats a write until the store takes or refuses it. The baton stays
// with this worker meanwhile; a stop ends the wait.
func (w *Worker) persist(ctx context.Context, k scheduler.Key, write func(context.Context) error) error {
	return w.writes.Persist(ctx, w.attempts, k.String(), write)
}

// The rhythm of what a worker does by the clock.
const (
	reviewEvery = time.Second
	retryPause  = time.Second
)

// review looks after busy targets.
func (w *Worker) review(ctx context.Context) {
	tick := time.NewTicker(reviewEvery)
	defer tick.Stop()
	for {
		next := tick.C
		if w.room.Empty() {
			next = nil // nothing to look after
		}
		select {
		case <-next:
		case <-w.room.Busy():
			continue
		case <-ctx.Done():
			return
		}
		now := w.cfg.Store.Now()
		w.limiter.Review(now, w.cfg.Collections.Rule)
		w.limiter.Pace(now)
		if w.held().Crowded(w.room.Size()) {
			w.limiter.Shed(now, 4*w.cfg.PerTarget)
		}
	}
}
