package index

import (
	"cmp"
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/flow"
)

// Config configures an index. Store and Actions are required.
type Config struct {
	Store   scheduler.Store
	Actions scheduler.ActionReader

	// Bulk is the most changed definitions that the refresh looks up: it reads more in bulk. It reads all batons if more than
	// Bulk, and more than a quarter of all, may have moved. Default: 8192.
	Bulk int

	// Now is the clock that jobs are due by. Default: time.Now.
	Now func() time.Time

	// Logger reports a lost index. Default: discard.
	Logger *slog.Logger
}

// Index knows of every job what searches ask for. It is safe for concurrent use.
type Index struct {
	cfg   Config
	began time.Time
	wake  chan struct{} // there is a dirty job
	built atomic.Int32  // the progress of the build, in percent

	mu       sync.RWMutex
	jobs     sorted
	dirty    map[key]struct{} // the jobs with flags
	pauses   map[pause]int    // how many enabled jobs have them
	ready    bool
	lost     uint64        // how often the index forgot everything
	last     uint64        // the index has heard of, or read, all changes up to this revision
	lanes    []uint64      // the index has read all batons up to these sequences; only for Run
	unsaved  bool          // a failed snapshot was logged; only for Run
	heard    time.Time     // when a change was last announced
	searched time.Time     // when a client last searched
	progress chan struct{} // is closed when last grows, or the index is lost; nil: without waiting calls
}

// New returns an empty index, which knows nothing before Run. It does no I/O.
func New(cfg Config) *Index {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg.Bulk = cmp.Or(cfg.Bulk, 1<<13)
	x := &Index{cfg: cfg, began: time.Now(), wake: make(chan struct{}, 1)}
	x.clear()
	return x
}

// The pauses before an index that was lost is built again.
const (
	firstPause = time.Second
	lastPause  = time.Minute
)

// Run builds the index and follows what changes until ctx is done. When it cannot, it forgets everything, and tries
// again after a while.
func (x *Index) Run(ctx context.Context) {
	for pause := firstPause; ctx.Err() == nil; pause = min(2*pause, lastPause) {
		began := time.Now()
		err := x.follow(ctx)
		if ctx.Err() != nil {
			ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), endPatience)
			x.save(ending, ending.Err)
			cancel()
		}
		x.mu.Lock()
		x.clear()
		x.mu.Unlock()
		if ctx.Err() != nil {
			return
		}
		x.cfg.Logger.Warn("the index of jobs was lost; searches are slow until it is rebuilt", "err", err)
		if time.Since(began) > lastPause {
			pause = firstPause
		}
		flow.Pause(ctx, pause)
	}
}

// follow builds the index and keeps it, until ctx is done or it may have missed something.
func (x *Index) follow(ctx context.Context) error {
	following, end := context.WithCancelCause(ctx)
	var work sync.WaitGroup
	defer work.Wait()
	defer end(nil)
	stands := make(chan struct{})
	work.Go(func() {
		select {
		case <-stands:
		case <-following.Done():
			return
		}
		err := x.build(following)
		if err == nil {
			err = x.refresh(following)
		}
		end(err)
	})
	if err := x.cfg.Store.WatchJobs(following, func() { close(stands) }, x.note); err != nil {
		return err
	}
	return context.Cause(following)
}

// clear forgets everything.
func (x *Index) clear() {
	x.jobs, x.dirty, x.pauses = sorted{}, map[key]struct{}{}, map[pause]int{}
	x.ready, x.last, x.lanes = false, 0, nil
	x.lost++
	x.built.Store(0)
	x.report()
}

// report wakes those that wait in Current.
func (x *Index) report() {
	if x.progress != nil {
		close(x.progress)
		x.progress = nil
	}
}

// advance notes that the index has heard of all changes up to a revision.
func (x *Index) advance(revision uint64) {
	if revision > x.last {
		x.last = revision
		x.report()
	}
}

// clock is the time in milliseconds since the index was made.
func (x *Index) clock() int64 { return time.Since(x.began).Milliseconds() }

// since returns how long ago a time of clock was.
func (x *Index) since(at int64) time.Duration { return time.Duration(x.clock()-at) * time.Millisecond }

// note marks a job as dirty whose definition has changed.
func (x *Index) note(k scheduler.Key, revision uint64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.heard = time.Now()
	x.advance(revision)
	x.hear(k, revision)
}

func (x *Index) hear(k scheduler.Key, revision uint64) {
	r := x.get(k)
	if r == nil {
		r = x.add(k)
	}
	if revision <= r.revision {
		return
	}
	r.revision, r.at = revision, x.clock()
	x.mark(r, changed|moved|unseen)
	x.rouse()
}

// mark sets the flags of a job.
func (x *Index) mark(r *record, f flags) {
	r.flags = f
	if f == 0 {
		delete(x.dirty, r.key)
	} else {
		x.dirty[r.key] = struct{}{}
	}
}

func (x *Index) rouse() {
	flow.Signal(x.wake)
}

// Suspect says that a manual run moved the job's baton, although its definition has not changed and it was not due.
func (x *Index) Suspect(k scheduler.Key) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if r := x.get(k); r != nil {
		r.next, r.at = 0, max(r.at+1, x.clock())
	}
}

// get returns nil for an unknown job.
func (x *Index) get(k scheduler.Key) *record {
	return x.jobs.get(keyOf(k))
}

func (x *Index) add(k scheduler.Key) *record {
	k.Job = strings.Clone(k.Job) // without the message that it is part of
	return x.jobs.insert(keyOf(k))
}

func (x *Index) remove(r *record) {
	x.mark(r, 0)
	x.tally(r, -1)
	x.jobs.remove(r.key)
}

// Ready reports whether the index is built.
func (x *Index) Ready() bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.ready
}

// Triggered returns the known jobs with a trigger; none while the index is not built.
func (x *Index) Triggered() (all []scheduler.Key) {
	if !x.Ready() {
		return nil
	}
	x.walk(scheduler.Key{}, nil, "", func(r *record) bool {
		if r.hears {
			all = append(all, r.full())
		}
		return true
	})
	return all
}

// Generation changes when the index forgets everything: an answer that took longer than a generation may be incomplete.
func (x *Index) Generation() uint64 {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.lost
}

// Progress is how much the index has read.
type Progress struct {
	Behind  int // known jobs that the index must read: changed or new
	Percent int // of all jobs, 100 at the end
}

// Progress counts the dirty jobs, except those that have merely run.
func (x *Index) Progress() Progress {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if !x.ready {
		return Progress{Percent: int(x.built.Load())}
	}
	p := Progress{Percent: 100}
	for k := range x.dirty {
		if r := x.jobs.get(k); r.flags&moved != 0 && r.flags&missing == 0 && x.outdated(r) {
			p.Behind++
		}
	}
	if p.Behind > 0 {
		p.Percent = min(99, 100*(x.jobs.count-p.Behind)/x.jobs.count)
	}
	return p
}

// lagPatience is how long a search waits until the index has received the changes before the search.
const lagPatience = time.Second

// Current reports whether the index includes every stored definition. It may wait a moment for that. While the index is
// being built, the result is false.
func (x *Index) Current(ctx context.Context) (bool, error) {
	x.mu.Lock()
	ready := x.ready
	x.searched = time.Now()
	x.mu.Unlock()
	if !ready {
		return false, nil
	}
	last, err := x.cfg.Store.LastRevision(ctx)
	if err != nil {
		return false, err
	}
	patience := time.NewTimer(lagPatience)
	defer patience.Stop()
	for {
		x.mu.Lock()
		ready, current := x.ready, x.last >= last
		if x.progress == nil {
			x.progress = make(chan struct{})
		}
		progress := x.progress
		x.mu.Unlock()
		if !ready || current {
			return ready, nil
		}
		select {
		case <-progress:
		case <-patience.C:
			return false, nil
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
	}
}
