package fairqueue_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/carillon-sched/carillon/integration/testkit/bubble"
	"github.com/carillon-sched/carillon/scheduler/fairqueue"
)

// bench is where callers work, and what they did.
type bench struct {
	t     *testing.T
	queue *fairqueue.Queue

	mu   sync.Mutex
	done []string // in the order in which they got their slots
	wg   sync.WaitGroup
}

// ask has a caller wait for a slot, which it releases back at once.
func (b *bench) ask(name string) {
	b.wg.Go(func() {
		release, err := b.queue.Acquire(b.t.Context(), name)
		if err != nil {
			b.t.Error(err)
			return
		}
		b.mu.Lock()
		b.done = append(b.done, name)
		b.mu.Unlock()
		release()
	})
	synctest.Wait() // it has its place in the queue
}

// TestCallersTakeTurns: who asks for much waits behind himself.
func TestCallersTakeTurns(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		b := &bench{t: t, queue: fairqueue.New(fairqueue.Config{Slots: 1, PerCaller: 100, Waiting: 1000})}
		release, err := b.queue.Acquire(t.Context(), "flood")
		if err != nil {
			t.Fatal(err)
		}
		for range 4 {
			b.ask("flood")
		}
		for _, name := range []string{"ann", "bob", "ann"} {
			b.ask(name)
		}
		release()
		b.wg.Wait()
		if got, want := strings.Join(b.done, " "), "flood ann bob flood ann flood flood"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		b.ask("late") // the slot is free again
		b.wg.Wait()
	})
}

// TestFull: neither one caller nor all of them wait without bound, and whoever releases up leaves nothing behind.
func TestFull(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		all := fairqueue.New(fairqueue.Config{Slots: 2, PerCaller: 2, Waiting: 3})
		var releases []func()
		for range 2 {
			release, err := all.Acquire(t.Context(), "a")
			if err != nil {
				t.Fatal(err)
			}
			releases = append(releases, release)
		}
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error, 4)
		for _, name := range []string{"a", "a", "b"} {
			go func() {
				_, err := all.Acquire(ctx, name)
				failed <- err
			}()
			synctest.Wait()
		}
		for _, name := range []string{"a", "b", "c"} {
			if _, err := all.Acquire(t.Context(), name); !errors.Is(err, fairqueue.ErrFull) {
				t.Errorf("one more of %s: %v", name, err)
			}
		}
		cancel()
		for range 3 {
			if err := <-failed; !errors.Is(err, context.Canceled) {
				t.Errorf("who gave up: %v", err)
			}
		}
		for _, release := range releases {
			release()
		}
		for range 2 {
			if _, err := all.Acquire(t.Context(), "c"); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestCrossing releases places and releases up at once, from many callers: none is lost.
func TestCrossing(t *testing.T) {
	all := fairqueue.New(fairqueue.Config{Slots: 3, PerCaller: 1000, Waiting: 1000})
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			ctx, cancel := context.WithCancel(t.Context())
			if i%2 == 0 {
				go cancel()
			}
			defer cancel()
			if release, err := all.Acquire(ctx, string(rune('a'+i%7))); err == nil {
				release()
			}
		})
	}
	wg.Wait()
	for range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := all.Acquire(ctx, "last"); err != nil {
			t.Fatalf("a slot was lost: %v", err)
		}
	}
}

// TestRunning: a caller with as many slots as it may have waits, while others take the free ones.
func TestRunning(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		b := &bench{t: t, queue: fairqueue.New(fairqueue.Config{Slots: 2, Running: 1, PerCaller: 1, Waiting: 9})}
		release, err := b.queue.Acquire(t.Context(), "ann")
		if err != nil {
			t.Fatal(err)
		}
		b.ask("ann")
		b.ask("bob")
		if _, err := b.queue.Acquire(t.Context(), "ann"); !errors.Is(err, fairqueue.ErrFull) {
			t.Errorf("one more: %v", err)
		}
		release()
		b.wg.Wait()
		b.ask("ann")
		b.wg.Wait()
		if got, want := strings.Join(b.done, " "), "bob ann ann"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}
