package engine

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/engine/limits"
	"github.com/carillon-sched/carillon/scheduler/engine/step"
	"github.com/carillon-sched/carillon/scheduler/flow"
	"github.com/carillon-sched/carillon/scheduler/jobcache"
	"github.com/carillon-sched/carillon/scheduler/secrets"
	"github.com/carillon-sched/carillon/scheduler/tracing"
)

// Config configures a Worker. Store and Actions are required.
type Config struct {
	Store   scheduler.Store
	Actions scheduler.ActionReader

	// Secrets unseals secrets in jobs and looks up shared secrets. Default: a vault without keys.
	Secrets *secrets.Vault

	// Collections caches the collections of Store. Set it to share the cache with other components of the process.
	// Default: a separate cache.
	Collections *jobcache.Collections

	// Concurrency limits the running attempts in this process. Increase it if jobs call many slow targets. Default:
	// 256.
	Concurrency int

	// PerTarget limits the running attempts per target (host and port). Default: a quarter of Concurrency.
	PerTarget int

	// HoldMemory limits the bytes of batons in this process, including their definitions: early, queued for a slot, or
	// running. Batons beyond the limit wait in the store. Early batons can use seven eighths of it; the rest of a herd
	// waits in the store until it is almost due. Increase it for larger herds. Default: 160 MiB.
	HoldMemory int

	// Grace is how long a shutdown waits for running attempts before it cancels them. Another worker repeats canceled
	// attempts. Default: 20s.
	Grace time.Duration

	// OnRecord receives each history record that this process writes, after it is stored. It must not block. Default:
	// none.
	OnRecord func(*scheduler.Record)

	// OnTakeover requests a consistency check. The worker calls it after a failover (a baton arrives that another
	// worker held before); when a deleted job's baton replaced the baton of a new job with the same name; when a job
	// was edited before its end was written; and when more jobs ended than the buffer holds. It must not block.
	// Default: none.
	OnTakeover func()

	// Tracer creates spans for occurrences and attempts. Default: no tracing.
	Tracer *tracing.Tracer

	// Logger receives errors that no caller can handle. Default: discard.
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
		c.Collections = jobcache.NewCollections(c.Store.Collections(), c.Actions)
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

// Worker runs attempts. Its methods are the stages of a run (life.go) and the transitions between them.
type Worker struct {
	cfg       Config
	log       *slog.Logger
	jobs      *jobcache.Jobs
	buffer    *flow.Buffer[place]
	loader    *loader
	timers    *timers
	limiter   *limits.Limiter[*run]
	steps     *step.Executor
	writes    *flow.RetryWriter
	finalizer *finalizer
	matcher   *matcher
	ledgers   flow.Combiner[scheduler.BatonKey, *ordered]
	searches  flow.Combiner[scheduler.Key, *attemptSearch]
	moves     chan struct{} // limits the batons that are moved to a separate message at the same time
	underway  underway

	unrecorded *unrecorded

	damageLogged damages
	trouble      troubles
	away         flow.RateLimitedLog // limits log lines about batons that are returned because the store is unavailable
	putOff       burstCounter
	pace         pace
	suspect      atomic.Int64 // batons fired before this Unix nanosecond may have run

	pool     *flow.WorkerPool[stage] // runs outside the queues
	serving  context.Context         //nolint:containedctx // ends when the worker begins to stop
	attempts context.Context         //nolint:containedctx // cancels all attempts of this worker
	cancel   context.CancelCauseFunc
	settles  context.Context //nolint:containedctx // cancels the writes after the attempts
	abandon  context.CancelFunc
}

// New returns a worker. It does nothing before Run.
func New(cfg Config) *Worker {
	cfg = cfg.withDefaults()
	w := &Worker{
		cfg: cfg, log: cfg.Logger, jobs: jobcache.NewJobs(cfg.Store, cfg.Actions, cfg.Secrets),
		buffer: newBuffer(cfg.HoldMemory, cfg.Store.Lanes()), writes: flow.NewRetryWriter(cfg.Logger),
		unrecorded: newUnrecorded(cfg.Concurrency),
	}
	w.connect()
	w.jobs.Changed = func(k scheduler.Key) {
		w.matcher.listeners.edited(k, w.cfg.Store.Now())
		w.edited(k)
	}
	w.putOff.bursts.Waits = cfg.Store.Waits()
	w.steps = step.New(step.Config{
		Store: cfg.Store, Secrets: cfg.Secrets, Load: w.jobs.Load, Current: w.jobs.Current, Persist: w.persist, OnRecord: cfg.OnRecord,
		Pause: func(_ context.Context, d time.Duration) bool { return flow.Pause(w.serving, d) }, //nolint:contextcheck // of the worker
	})
	w.finalizer = newFinalizer(w.finalize, w.busy)
	w.matcher, w.moves = newMatcher(w), make(chan struct{}, cfg.Concurrency)
	w.ledgers.Now, w.searches.Now = cfg.Store.Now, cfg.Store.Now
	return w
}

// newBuffer returns a Buffer for batons in a number of bytes of memory.
func newBuffer(memory, lanes int) *flow.Buffer[place] {
	usual := max(1, memory/scheduler.UsualHeldBytes)
	return flow.NewBuffer[place](max(1, memory/scheduler.LeastHeldBytes), min(256, max(1, usual/8)), lanes).
		Bound(memory, scheduler.UsualHeldBytes)
}

// Suspect reports that the server may have lost track of deliveries, for example after a reconnect. Batons fired until
// now are checked against the history before they run.
func (w *Worker) Suspect() { w.suspect.Store(w.cfg.Store.Now().UnixNano()) }

// Run receives batons and runs due jobs until ctx is canceled, then shuts down gracefully: it accepts no new batons,
// releases those that have not started, waits up to Grace for the others, and returns nil. Run returns an error only if
// a delivery fails while ctx is active.
func (w *Worker) Run(ctx context.Context) error {
	w.Suspect()
	base := context.WithoutCancel(ctx)
	w.attempts, w.cancel = context.WithCancelCause(base)
	w.settles, w.abandon = context.WithCancel(base)
	defer w.cancel(errStopping)
	defer w.abandon()

	serving, endServing := context.WithCancel(ctx)
	defer endServing()
	w.serving = serving
	background, stop := context.WithCancel(base)
	var side sync.WaitGroup
	side.Go(func() { w.jobs.Run(background, w.lost("definitions")) })
	side.Go(func() { w.cfg.Collections.Run(background, w.lost("collections")) })
	side.Go(func() { w.review(background) })
	side.Go(func() { w.finalizer.work(background, w.cfg.OnTakeover) })
	side.Go(func() { w.loader.work(background) })
	side.Go(func() { w.matcher.run(serving) })
	timing, letGo := context.WithCancel(base)
	still := make(chan struct{}) // closed when the timers have stopped
	side.Go(func() {
		w.timers.work(timing.Done())
		close(still)
	})

	lanes, laneCtx := errgroup.WithContext(ctx)
	for lane := range w.cfg.Store.Lanes() {
		lanes.Go(func() error {
			take := func(d *scheduler.Delivery) { w.take(laneCtx, lane, d) }
			return w.cfg.Store.Deliver(laneCtx, lane, w.buffer.Wake(lane), w.buffer.Ask, take)
		})
	}
	err := lanes.Wait()
	endServing()
	letGo()
	<-still
	w.stop()
	w.pool.End()
	stop()
	defer time.AfterFunc(w.cfg.Grace, w.abandon).Stop() // events that are being matched
	side.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// stop releases runs that have not started and completes the others.
func (w *Worker) stop() {
	for _, r := range append(w.timers.drain(), w.limiter.Drain()...) {
		w.nak(r)
	}
	ended := make(chan struct{})
	go func() {
		w.pool.Wait()
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
		w.log.Warn("a watch ended; reading from the store until it is restored", "of", what, "err", err)
	}
}

// persist repeats a write until the store accepts or rejects it. This worker keeps the baton meanwhile; a shutdown ends
// the wait.
func (w *Worker) persist(ctx context.Context, k scheduler.Key, write func(context.Context) error) error {
	return w.writes.Persist(ctx, w.attempts, k.String(), write)
}

// The intervals of the worker's periodic tasks.
const (
	reviewEvery = time.Second
	retryPause  = time.Second
)

// review reviews busy targets periodically.
func (w *Worker) review(ctx context.Context) {
	tick := time.NewTicker(reviewEvery)
	defer tick.Stop()
	for {
		next := tick.C
		if w.buffer.Empty() {
			next = nil // nothing to review
		}
		select {
		case <-next:
		case <-w.buffer.Busy():
			continue
		case <-ctx.Done():
			return
		}
		now := w.cfg.Store.Now()
		w.limiter.Review(now, w.cfg.Collections.Rule)
		w.limiter.Pace(now)
		if w.held().Overloaded(w.buffer.Size()) {
			w.limiter.Shed(now, 4*w.cfg.PerTarget)
		}
	}
}
