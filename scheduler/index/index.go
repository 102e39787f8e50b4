package index

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/intake"
)

// Config configures an index. Store is required.
type Config struct {
	Store scheduler.Store

	// Bulk is from how many jobs on those that have changed, or have run, are read as they lie in the store, and not looked up.
	// Default: 8192.
	Bulk int

	// Now is the clock that jobs are due by. Default: time.Now.
	Now func() time.Time

	// Logger takes what no caller can be told. Default: discard.
	Logger *slog.Logger
}

// Index knows of every job what searches ask for. It is safe for concurrent use.
type Index struct {
	cfg   Config
	began time.Time
	wake  chan struct{} // there is something to read
	built atomic.Int32  // how much of it is, in percent

	mu       sync.RWMutex
	shelves  map[string]*shelf
	order    []string // of the collections
	labels   *labels
	targets  *targets
	actions  actions
	ready    bool
	last     uint64    // up to which change everything is known to have been told, or read
	noted    uint64    // the last change that was told of
	heard    time.Time // when that was
	searched time.Time // when somebody last searched
	waiters  []waiter
}

// waiter waits for a change to be told of.
type waiter struct {
	revision uint64
	told     chan struct{}
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
		x.mu.Lock()
		x.clear()
		x.mu.Unlock()
		if ctx.Err() != nil {
			return
		}
		x.cfg.Logger.Warn("lost the index of jobs; searching without until it is built again", "err", err)
		if time.Since(began) > lastPause {
			pause = firstPause
		}
		intake.Pause(ctx, pause)
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
	x.shelves, x.order, x.labels, x.targets, x.actions = map[string]*shelf{}, nil, newLabels(), newTargets(), nil
	x.ready, x.last, x.noted = false, 0, 0
	x.built.Store(0)
	for _, w := range x.waiters {
		close(w.told)
	}
	x.waiters = nil
}

// clock is the time in milliseconds since the index was made, as records have it. It begins again after 49 days; only
// differences count.
func (x *Index) clock() uint32 { return uint32(time.Since(x.began).Milliseconds()) }

// note takes in that a definition was changed.
func (x *Index) note(k scheduler.Key, revision uint64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.heard, x.noted = time.Now(), revision
	x.advance(revision)
	_, r := x.record(k)
	if r == nil || revision <= r.told {
		return
	}
	r.told, r.at = revision, x.clock()
	r.flags = changed | moved | unseen
	x.rouse()
}

// advance notes how far the index has been told.
func (x *Index) advance(revision uint64) {
	x.last = max(x.last, revision)
	x.waiters = slices.DeleteFunc(x.waiters, func(w waiter) bool {
		if w.revision <= x.last {
			close(w.told)
		}
		return w.revision <= x.last
	})
}

func (x *Index) rouse() {
	select {
	case x.wake <- struct{}{}:
	default:
	}
}

// Suspect tells that a job's baton was moved though its definition has not changed and it was not due: the job was run
// by hand.
func (x *Index) Suspect(k scheduler.Key) {
	x.mu.Lock()
	defer x.mu.Unlock()
	s := x.shelves[k.Collection]
	if s == nil {
		return
	}
	if r := s.find(k.Job); r != nil {
		r.next, r.at = 0, max(r.at+1, x.clock())
	}
}

// record returns the record of a job, and makes one if there is none; nil for what cannot be a job's name.
func (x *Index) record(k scheduler.Key) (*shelf, *record) {
	if k.Job == "" || len(k.Job) > nameMost {
		return nil, nil
	}
	s := x.shelves[k.Collection]
	if s == nil {
		s = &shelf{collection: strings.Clone(k.Collection)}
		x.shelves[s.collection] = s
		at, _ := slices.BinarySearch(x.order, s.collection)
		x.order = slices.Insert(x.order, at, s.collection)
	}
	r := s.find(k.Job)
	if r == nil {
		r = s.insert(k.Job)
	}
	return s, r
}

// remove takes a job away.
func (x *Index) remove(s *shelf, name string) {
	r, was := s.remove(name)
	if !was {
		return
	}
	x.labels.release(r.labels)
	x.targets.release(r.target)
	if len(s.blocks) == 0 {
		delete(x.shelves, s.collection)
		if at, found := slices.BinarySearch(x.order, s.collection); found {
			x.order = slices.Delete(x.order, at, at+1)
		}
	}
}

// from returns where the collections from one on begin.
func (x *Index) from(collection string) int { return sort.SearchStrings(x.order, collection) }

// Ready reports whether the index is built.
func (x *Index) Ready() bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.ready
}

// Progress tells how far an index is with what it has to read.
type Progress struct {
	Behind  int // jobs that have been changed, or are new, and have yet to be read; those that it knows of
	Percent int // of all, that have been read: 100 at the end
}

// Progress looks at what is known of each job, which takes some milliseconds for a million.
func (x *Index) Progress() Progress {
	if !x.Ready() {
		return Progress{Percent: int(x.built.Load())}
	}
	to := x.backlog()
	p := Progress{Behind: to.changed + to.moved, Percent: 100}
	if p.Behind > 0 {
		p.Percent = min(99, 100*(to.jobs-p.Behind)/to.jobs)
	}
	return p
}

// lagPatience is how long a search waits until the index has been told what was stored before the search began.
const lagPatience = time.Second

// Current reports whether the index knows of every definition that is stored now, for which it may wait a moment. It
// does not while it is being built.
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
	told := x.await(last)
	patience := time.NewTimer(lagPatience)
	defer patience.Stop()
	select {
	case <-told:
		x.mu.RLock()
		defer x.mu.RUnlock()
		return x.ready && x.last >= last, nil
	case <-patience.C:
		return false, nil
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
}

// await returns a channel that is closed when a change was told of, or the index was lost.
func (x *Index) await(revision uint64) <-chan struct{} {
	told := make(chan struct{})
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.last >= revision || !x.ready {
		close(told)
		return told
	}
	x.waiters = append(x.waiters, waiter{revision, told})
	return told
}

// stateNames are the states by number.
var stateNames = map[state]scheduler.State{
	enabled: scheduler.Enabled, disabled: scheduler.Disabled, completed: scheduler.Completed, faulted: scheduler.Faulted,
	damaged: scheduler.Damaged,
}

// stateOf is the reverse of stateNames.
func stateOf(name scheduler.State) state {
	for st, other := range stateNames {
		if other == name {
			return st
		}
	}
	return unknown
}
