package turns_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/carillon-sched/carillon/scheduler/turns"
)

// bench is where callers work, and what they did.
type bench struct {
	t     *testing.T
	turns *turns.Turns

	mu   sync.Mutex
	done []string // in the order in which they got their places
	wg   sync.WaitGroup
}

// ask has a caller wait for a place, which it gives back at once.
func (b *bench) ask(name string) {
	b.wg.Go(func() {
		give, err := b.turns.Take(b.t.Context(), name)
		if err != nil {
			b.t.Error(err)
			return
		}
		b.mu.Lock()
		b.done = append(b.done, name)
		b.mu.Unlock()
		give()
	})
	synctest.Wait() // it has its place in the queue
}

// TestCallersTakeTurns: who asks for much waits behind himself.
func TestCallersTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &bench{t: t, turns: turns.New(turns.Config{Places: 1, PerCaller: 100, Waiting: 1000})}
		give, err := b.turns.Take(t.Context(), "flood")
		if err != nil {
			t.Fatal(err)
		}
		for range 4 {
			b.ask("flood")
		}
		for _, name := range []string{"ann", "bob", "ann"} {
			b.ask(name)
		}
		give()
		b.wg.Wait()
		if got, want := strings.Join(b.done, " "), "flood ann bob flood ann flood flood"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		b.ask("late") // the place is free again
		b.wg.Wait()
	})
}

// TestCrowded: neither one caller nor all of them wait without bound, and whoever gives up leaves nothing behind.
func TestCrowded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := turns.New(turns.Config{Places: 2, PerCaller: 2, Waiting: 3})
		var gives []func()
		for range 2 {
			give, err := all.Take(t.Context(), "a")
			if err != nil {
				t.Fatal(err)
			}
			gives = append(gives, give)
		}
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error, 4)
		for _, name := range []string{"a", "a", "b"} {
			go func() {
				_, err := all.Take(ctx, name)
				failed <- err
			}()
			synctest.Wait()
		}
		for _, name := range []string{"a", "b", "c"} {
			if _, err := all.Take(t.Context(), name); !errors.Is(err, turns.ErrCrowded) {
				t.Errorf("one more of %s: %v", name, err)
			}
		}
		cancel()
		for range 3 {
			if err := <-failed; !errors.Is(err, context.Canceled) {
				t.Errorf("who gave up: %v", err)
			}
		}
		for _, give := range gives {
			give()
		}
		for range 2 {
			if _, err := all.Take(t.Context(), "c"); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestCrossing gives places and gives up at once, from many callers: none is lost.
func TestCrossing(t *testing.T) {
	all := turns.New(turns.Config{Places: 3, PerCaller: 1000, Waiting: 1000})
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			ctx, cancel := context.WithCancel(t.Context())
			if i%2 == 0 {
				go cancel()
			}
			defer cancel()
			if give, err := all.Take(ctx, string(rune('a'+i%7))); err == nil {
				give()
			}
		})
	}
	wg.Wait()
	for range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := all.Take(ctx, "last"); err != nil {
			t.Fatalf("a place was lost: %v", err)
		}
	}
}
