package index

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// impatient ends a goroutine that goes on with a canceled context.
type impatient struct {
	context.Context //nolint:containedctx // it is one

	left atomic.Int32
}

func (c *impatient) Done() <-chan struct{} {
	if c.left.Add(-1) < 0 {
		runtime.Goexit()
	}
	return c.Context.Done()
}

// TestRefreshStopsWhileBusy cancels the refresh while it waits for quiet.
func TestRefreshStopsWhileBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := New(Config{})
		canceled, cancel := context.WithCancel(t.Context())
		ctx := &impatient{Context: canceled}
		ctx.left.Store(100)
		ended := make(chan struct{})
		var err error
		go func() {
			defer close(ended)
			err = x.refresh(ctx)
		}()
		x.note(scheduler.Key{Collection: "c", Job: "a"}, 1)
		time.Sleep(time.Second)
		cancel()
		<-ended
		if err == nil || ctx.left.Load() < 0 {
			t.Errorf("the refresh did not stop: %v", err)
		}
	})
}

// loading is a store that finds the definition of every job.
type loading struct {
	scheduler.Store

	during func()
}

func (s loading) LoadJobs(_ context.Context, keys []scheduler.Key, found func(scheduler.Stored)) error {
	s.during()
	for _, k := range keys {
		found(scheduler.Stored{Key: k, Revision: 1, Data: []byte("{}")})
	}
	return nil
}

// TestReadAddsNoJob loses the index while a search reads a job: only the build adds it again.
func TestReadAddsNoJob(t *testing.T) {
	var x *Index
	x = New(Config{Store: loading{during: func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.clear()
	}}})
	k := scheduler.Key{Collection: "c", Job: "a"}
	x.ready = true
	x.note(k, 1)
	if err := x.Refresh(t.Context(), &scheduler.JobQuery{}, []Hit{{Key: k, Stale: true}}); err != nil {
		t.Fatal(err)
	}
	if r := x.get(k); r != nil {
		t.Errorf("a read added a job to the index that was lost meanwhile: %+v", r)
	}
}

// TestPassedAreNotBehind marks a job that has run, and one that has changed: only the latter counts as behind.
func TestPassedAreNotBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := indexOf(2)
		x.ready = true
		for r := range x.jobs.all() {
			r.state, r.next = enabled, time.Now().UnixMilli()
		}
		for r := range x.jobs.all() {
			x.mark(r, unseen)
		}
		if p := x.Progress(); p.Behind != 0 || p.Percent != 100 || len(x.dirty) != 2 {
			t.Errorf("%d jobs have run: %+v", len(x.dirty), p)
		}
		x.note(scheduler.Key{Collection: "default", Job: "job-0000001"}, 9)
		if p := x.Progress(); p.Behind != 1 {
			t.Errorf("one has changed: %+v", p)
		}
	})
}
