package worker_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/service"
)

// halting is a store that stops deleting jobs after some.
type halting struct {
	scheduler.Store

	left atomic.Int32
}

func (f *halting) RemoveJob(ctx context.Context, k scheduler.Key, revision, specSequence uint64) error {
	if f.left.Add(-1) < 0 {
		return fmt.Errorf("%w: no answer", scheduler.ErrUnavailable)
	}
	return f.Store.RemoveJob(ctx, k, revision, specSequence)
}

// interruptDeletion has a process delete a collection of five jobs, and fail after two.
func interruptDeletion(t *testing.T, w *world) {
	t.Helper()
	_, _, err := w.service.PutCollection(t.Context(), "c", nil)
	w.must(nil, err)
	for i := range 5 {
		k := scheduler.Key{Collection: "c", Job: fmt.Sprintf("j%d", i)}
		_, _, err := w.service.Put(t.Context(), service.Edit{Key: k, Body: []byte(everySecond)})
		w.must(nil, err)
	}
	time.Sleep(3 * time.Second)
	st := &halting{Store: w.store}
	st.left.Store(2)
	other := service.New(service.Config{Store: st, Actions: w.actions(), Limits: scheduler.Limits{MinRetryInterval: time.Second}})
	if err := other.DeleteCollection(t.Context(), "c", false); !errors.Is(err, scheduler.ErrUnavailable) {
		t.Fatalf("the deletion that fails midway: %v", err)
	}
	time.Sleep(time.Second) // an attempt that has begun ends
}

// mustBeDeleted checks that nothing of a collection is left.
func mustBeDeleted(t *testing.T, w *world) {
	t.Helper()
	if _, err := w.service.Collection(t.Context(), "c"); !errors.Is(err, scheduler.ErrNotFound) {
		t.Errorf("the collection, after its deletion: %v", err)
	}
	for i := range 5 {
		if _, err := w.service.Get(t.Context(), scheduler.Key{Collection: "c", Job: fmt.Sprintf("j%d", i)}); !errors.Is(err, scheduler.ErrNotFound) {
			t.Errorf("job j%d, after the deletion of its collection: %v", i, err)
		}
	}
	rep, err := w.service.Audit(t.Context(), false)
	w.must(nil, err)
	if len(rep.Findings) > 0 {
		t.Errorf("doctor finds %+v", rep.Findings)
	}
}

// TestInterruptedDeletion deletes a collection, which fails midway: its jobs stop all the same, nothing can be added, the
// consistency check reports it, and a second delete completes it.
func TestInterruptedDeletion(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		interruptDeletion(t, w)
		before := len(w.sink.seen())
		time.Sleep(time.Minute)
		if got := len(w.sink.seen()); got != before || before == 0 {
			t.Errorf("%d calls, and %d a minute after the collection was deleted", before, got)
		}
		c, err := w.service.Collection(t.Context(), "c")
		w.must(nil, err)
		if c.ShownState() != "deleting" {
			t.Errorf("the state of the collection is %s", c.ShownState())
		}
		k := scheduler.Key{Collection: "c", Job: "late"}
		if _, _, err := w.service.Put(t.Context(), service.Edit{Key: k, Body: []byte(everySecond)}); !errors.Is(err, scheduler.ErrConflict) {
			t.Errorf("a job put into the collection: %v", err)
		}
		if _, err := w.service.TurnCollection(t.Context(), "c", scheduler.Enabled); !errors.Is(err, scheduler.ErrConflict) {
			t.Errorf("the collection enabled: %v", err)
		}
		rep, err := w.service.Audit(t.Context(), false)
		w.must(nil, err)
		if len(rep.Findings) != 1 || !strings.Contains(rep.Findings[0].Problem, "is being deleted") {
			t.Errorf("doctor finds %+v", rep.Findings)
		}
		w.must(nil, w.service.DeleteCollection(t.Context(), "c", false))
		mustBeDeleted(t, w)
	})
}

// TestDeletionCompletedByAnotherReplica leaves a deletion that failed midway to another process.
func TestDeletionCompletedByAnotherReplica(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		interruptDeletion(t, w)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- w.service.Run(ctx) }()
		time.Sleep(10 * time.Second)
		mustBeDeleted(t, w)
		stop()
		w.must(nil, <-ended)
	})
}
