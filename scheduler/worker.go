package scheduler

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// WorkerConfig says how a worker works. Store and Actions are required.
type WorkerConfig struct {
	Store   Store
	Actions ActionReader

	// Secrets opens what is sealed in jobs, and finds shared secrets.
	// Default: a vault without keys.
	Secrets *Vault

	// Concurrency is how many attempts may be in flight in this process.
	// Raise it when targets are many and slow. Default 256.
	Concurrency int

	// PerTarget is how many of them may go to one target (host and port).
	// Default a quarter of Concurrency.
	PerTarget int

	// Hold is how many batons this process holds in memory at most: waiting
	// for their instant, for a slot, or running. It bounds the memory (about
	// 2 KB each) and what a dead worker delays. Default 16384.
	Hold int

	// Grace is how long a stop waits for running attempts before it cancels
	// them and lets another worker repeat them. Default 20 s.
	Grace time.Duration

	// OnRecord is called with every record this process writes to a history,
	// after it is stored. It must not block. Default: none.
	OnRecord func(*Record)

	// OnTakeover is called when a baton comes that another worker had before:
	// that worker may have died, and left endings unwritten that an audit
	// finds. Likewise when a baton of a deleted job took the place of that of
	// the next job of the name, and when a job was edited while its end was
	// written. It must not block. Default: none.
	OnTakeover func()

	// Logger takes what no caller can be told. Default: discard.
	Logger *slog.Logger
}

func (c WorkerConfig) withDefaults() WorkerConfig {
	if c.Concurrency <= 0 {
		c.Concurrency = 256
	}
	if c.PerTarget <= 0 {
		c.PerTarget = max(1, c.Concurrency/4)
	}
	if c.Hold <= 0 {
		c.Hold = 1 << 14
	}
	if c.Grace <= 0 {
		c.Grace = 20 * time.Second
	}
	if c.Secrets == nil {
		c.Secrets = NewVault(VaultConfig{Store: c.Store})
	}
	if c.OnTakeover == nil {
		c.OnTakeover = func() {}
	}
	if c.OnRecord == nil {
		c.OnRecord = func(*Record) {}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

// Worker runs the attempts of batons that become due. Any number of workers,
// in any number of processes, share the jobs of one store; none of them has a
// state that another would miss.
type Worker struct {
	cfg     WorkerConfig
	store   Store
	log     *slog.Logger
	secrets *Vault
	library *library
	rooms   *collections
	hold    *hold
	targets *targets
	endings *endings
	loader  *loader

	suspect atomic.Int64 // batons fired before this Unix nanosecond may have been run already

	mu   sync.Mutex
	held map[place]*run
	busy chan struct{} // the first baton came

	still chan struct{} // the hold hands on nothing more
	wake  []chan struct{}

	steps   sync.WaitGroup  // everything under way for a run outside the hold and the queues
	actions context.Context //nolint:containedctx // ends all attempts of this worker
	cancel  context.CancelCauseFunc
	settles context.Context //nolint:containedctx // ends what the attempts leave to be stored
	abandon context.CancelFunc
}

// errStopping is why an attempt is canceled when the worker stops.
var errStopping = errors.New("the scheduler is stopping")

// NewWorker returns a worker that does nothing before Run.
func NewWorker(cfg WorkerConfig) *Worker {
	cfg = cfg.withDefaults()
	w := &Worker{
		cfg: cfg, store: cfg.Store, log: cfg.Logger, held: map[place]*run{}, busy: make(chan struct{}, 1), still: make(chan struct{}),
		secrets: cfg.Secrets,
		library: newLibrary(cfg.Store, cfg.Actions, cfg.Secrets), rooms: newCollections(cfg.Store),
	}
	w.hold = newHold(w.expire)
	w.loader = newLoader(w.library, w.await)
	w.targets = newTargets(cfg.Concurrency, cfg.PerTarget, w.start, w.putOff)
	w.endings = newEndings(w.writeEnding, w.targets.backlog)
	for range cfg.Store.Lanes() {
		w.wake = append(w.wake, make(chan struct{}, 1))
	}
	return w
}

// Suspect says that the server may have lost track of what was delivered, as
// after a reconnect: batons fired until now are checked against the history
// before they run.
func (w *Worker) Suspect() { w.suspect.Store(time.Now().UnixNano()) }

// Run works until ctx is done, then stops in good order: it takes no more
// batons, gives back those that have not started, waits Grace for the others,
// and returns nil.
func (w *Worker) Run(ctx context.Context) error {
	w.Suspect()
	base := context.WithoutCancel(ctx)
	w.actions, w.cancel = context.WithCancelCause(base)
	w.settles, w.abandon = context.WithCancel(base)
	defer w.cancel(errStopping)
	defer w.abandon()

	background, stop := context.WithCancel(base)
	var side sync.WaitGroup
	side.Go(func() { w.library.watch(background, w.lostWatch) })
	side.Go(func() { w.rooms.watch(background, w.lostWatch) })
	side.Go(func() { w.tend(background) })
	side.Go(func() { w.endings.work(background) })
	side.Go(func() { w.loader.work(background) })
	holding, letGo := context.WithCancel(base)
	side.Go(func() {
		w.hold.work(holding.Done())
		close(w.still)
	})

	lanes, laneCtx := errgroup.WithContext(ctx)
	for lane := range w.store.Lanes() {
		lanes.Go(func() error {
			return w.store.Deliver(laneCtx, lane, w.wake[lane], w.room, func(d *Delivery) { w.take(laneCtx, d) })
		})
	}
	err := lanes.Wait()
	letGo()
	<-w.still
	w.stop()
	stop()
	side.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// stop gives back what has not started and sees the rest to its end.
func (w *Worker) stop() {
	for _, r := range append(w.hold.drain(), w.targets.drain()...) {
		w.giveBack(r)
	}
	ended := make(chan struct{})
	go func() {
		w.steps.Wait()
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

func (w *Worker) lostWatch(err error) {
	w.log.Warn("lost a watch; reading definitions from the store until it stands again", "err", err)
}

// free is how many more batons can be held.
func (w *Worker) free() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.cfg.Hold - len(w.held)
}

// room is how many more batons may come. Little room is none, so that batons
// are asked for in batches and not one by one.
func (w *Worker) room() int {
	if n := w.free(); n >= w.batch() {
		return n
	}
	return 0
}

// batch is the least number of batons worth asking for.
func (w *Worker) batch() int { return min(256, max(1, w.cfg.Hold/8)) }

// step runs f as part of a run's way; a stop waits for it.
func (w *Worker) step(f func()) { w.steps.Go(f) }

// keep takes r in. False means that its message is with this process already:
// the server heard no sign of life for too long, as while the connection was
// lost, and gave out again what the run under way still answers for.
func (w *Worker) keep(r *run) bool {
	w.mu.Lock()
	if _, ok := w.held[r.place()]; ok {
		w.mu.Unlock()
		return false
	}
	w.held[r.place()] = r
	first := len(w.held) == 1
	w.mu.Unlock()
	if first {
		select {
		case w.busy <- struct{}{}:
		default:
		}
	}
	return true
}

// release ends a run in this process.
func (w *Worker) release(r *run) {
	w.mu.Lock()
	delete(w.held, r.place())
	room := w.cfg.Hold-len(w.held) == w.batch()
	w.mu.Unlock()
	if !room {
		return
	}
	for _, c := range w.wake {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

func (w *Worker) ack(r *run) {
	if err := r.delivery.Lease.Ack(); err != nil {
		w.log.Warn("baton not acknowledged", "job", r.key().String(), "err", err)
	}
	w.release(r)
}

func (w *Worker) giveBack(r *run) {
	w.release(r) // first: it may come again at once
	if err := r.delivery.Lease.GiveBack(); err != nil {
		w.log.Warn("baton not given back", "job", r.key().String(), "err", err)
	}
}

// await holds r until it is due; a worker that stops gives it back.
func (w *Worker) await(r *run) {
	if !w.hold.add(r) {
		w.giveBack(r)
	}
}

// submit queues r for a slot; a worker that stops gives it back.
func (w *Worker) submit(r *run) {
	r.join(w.rooms.rule(r.key().Collection, r.target))
	r.queued, r.changes = time.Now(), w.library.changes(r.key())
	if !w.targets.submit(r) {
		w.giveBack(r)
	}
}

// The rhythm of what a worker does by the clock.
const (
	tendEvery  = time.Second
	touchAfter = 3 * time.Second
)

// tend keeps the leases of held batons and looks after busy targets.
func (w *Worker) tend(ctx context.Context) {
	tick := time.NewTicker(tendEvery)
	defer tick.Stop()
	for {
		next := tick.C
		if w.free() == w.cfg.Hold {
			next = nil // nothing to tend
		}
		select {
		case <-next:
		case <-w.busy:
			continue
		case <-ctx.Done():
			return
		}
		now := time.Now()
		w.touch(now)
		w.targets.review(now, w.rooms.rule)
		w.targets.pace(now)
		if w.free() <= w.cfg.Hold*3/4 {
			w.targets.relieve(now, 4*w.cfg.PerTarget)
		}
	}
}

// touch renews the leases that were not renewed for three seconds.
func (w *Worker) touch(now time.Time) {
	oldest := now.Add(-touchAfter).UnixNano()
	var due []*run
	w.mu.Lock()
	for _, r := range w.held {
		if r.touched.Load() < oldest {
			due = append(due, r)
		}
	}
	w.mu.Unlock()
	for _, r := range due {
		r.touched.Store(now.UnixNano())
		if err := r.delivery.Lease.Touch(); err != nil {
			w.log.Warn("lease not renewed", "job", r.key().String(), "err", err)
		}
	}
}
