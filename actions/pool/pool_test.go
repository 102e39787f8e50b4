package pool_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carillon-sched/carillon/actions/pool"
	"github.com/carillon-sched/carillon/integration/testkit/bubble"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// conn is a connection that does what a test asks for.
type conn struct {
	harness *harness
	name    string
	number  int64
	broken  atomic.Bool
	closed  atomic.Bool
}

func (c *conn) Open(ctx context.Context) error {
	c.harness.mu.Lock()
	timer, err := time.NewTimer(c.harness.takes), c.harness.err
	c.harness.mu.Unlock()
	defer timer.Stop()
	select {
	case <-timer.C:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (c *conn) Usable() bool { return !c.broken.Load() }

func (c *conn) Close() {
	if c.closed.Swap(true) {
		c.harness.Error("closed twice")
	}
	c.harness.open.Add(-1)
}

// harness has a pool, and counts what it keeps.
type harness struct {
	*testing.T

	*pool.Pool[string, *conn]

	dialed, open atomic.Int64 // and not closed yet

	mu      sync.Mutex
	takes   time.Duration // opening
	err     error         // of opening
	refusal error         // of dialling
}

const (
	timeIdle = 5 * time.Minute
	timeOpen = time.Second
)

// in runs a test with a pool of a config in a bubble. At its end nothing is left open.
func in(t *testing.T, config pool.Config, test func(w *harness)) {
	t.Helper()
	bubble.Test(t, func(t *testing.T) {
		if config.IdleTimeout == 0 {
			config.IdleTimeout = timeIdle
		}
		w := &harness{T: t, Pool: pool.New[string, *conn](config), takes: timeOpen}
		test(w)
		w.Close()
		if n := w.open.Load(); n != 0 {
			t.Errorf("%d connections are left open", n)
		}
		if _, err := w.get(t.Context(), "late"); !errors.Is(err, pool.ErrClosed) {
			t.Errorf("got %v from a closed pool", err)
		}
	})
}

// set changes what openings do from now on.
func (w *harness) set(takes time.Duration, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.takes, w.err = takes, err
}

type lease = pool.Lease[string, *conn]

func (w *harness) get(ctx context.Context, name string) (*lease, error) {
	return w.Get(ctx, name, func() (*conn, error) {
		if w.refusal != nil {
			return nil, w.refusal
		}
		w.open.Add(1)
		return &conn{harness: w, name: name, number: w.dialed.Add(1)}, nil
	})
}

// must returns the connection of a name.
func (w *harness) must(name string) *lease {
	w.Helper()
	l := must.Get(w.get(w.Context(), name))(w)
	if l.Conn.name != name || l.Conn.closed.Load() {
		w.Fatalf("got %s for %s, closed: %t", l.Conn.name, name, l.Conn.closed.Load())
	}
	return l
}

// touch uses the connection of a name and returns its number.
func (w *harness) touch(name string) int64 {
	w.Helper()
	l := w.must(name)
	defer l.Release()
	return l.Conn.number
}

// expect checks how many connections were dialled, and are open now.
func (w *harness) expect(when string, dialed, open int64) {
	w.Helper()
	synctest.Wait()
	if d, o := w.dialed.Load(), w.open.Load(); d != dialed || o != open {
		w.Errorf("%s: %d dialled and %d open, want %d and %d", when, d, o, dialed, open)
	}
}

func TestOneConnectionForAll(t *testing.T) {
	in(t, pool.Config{Max: 4}, func(w *harness) {
		var group sync.WaitGroup
		for range 100 {
			group.Go(func() { w.touch("a") })
		}
		group.Wait()
		w.expect("100 at once", 1, 1)
		w.touch("a")
		w.expect("one more", 1, 1)
		w.touch("b")
		w.expect("another key", 2, 2)
	})
}

func TestBound(t *testing.T) {
	in(t, pool.Config{Max: 3}, func(w *harness) {
		var group sync.WaitGroup
		var mu sync.Mutex
		users := map[*conn]int{}
		count := func(c *conn, n int) {
			mu.Lock()
			defer mu.Unlock()
			if users[c] += n; users[c] == 0 {
				delete(users, c)
			}
			if len(users) > 3 {
				w.Errorf("%d are in use", len(users))
			}
		}
		for i := range 60 {
			group.Go(func() {
				l := w.must(fmt.Sprint("k", i%10))
				count(l.Conn, 1)
				time.Sleep(time.Millisecond)
				count(l.Conn, -1)
				l.Release()
			})
		}
		group.Wait()
		synctest.Wait()
		if n := w.open.Load(); n != 3 {
			w.Errorf("%d are open", n)
		}
	})
}

func TestIdleLongestMakesRoom(t *testing.T) {
	in(t, pool.Config{Max: 3}, func(w *harness) {
		for _, name := range []string{"a", "b", "c", "a"} {
			w.touch(name)
			time.Sleep(time.Second)
		}
		inUse := w.must("b") // was idle for longest
		w.touch("d")
		w.expect("d for c", 4, 3)
		if w.touch("a") != 1 || inUse.Conn.closed.Load() {
			w.Error("another made room")
		}
		inUse.Release()
		if w.touch("c") != 5 {
			w.Error("c was kept")
		}
	})
}

func TestWaitForRoom(t *testing.T) {
	in(t, pool.Config{Max: 1}, func(w *harness) {
		l := w.must("a")
		ctx, cancel := context.WithTimeout(w.Context(), time.Minute)
		defer cancel()
		_, err := w.get(ctx, "b")
		full, ok := errors.AsType[*pool.WaitError](err)
		if !ok || !full.Full || !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "in use") {
			w.Errorf("got %v", err)
		}
		var group sync.WaitGroup
		for range 5 {
			group.Go(func() { w.touch("b") })
		}
		synctest.Wait()
		w.expect("while a is in use", 1, 1)
		l.Release()
		group.Wait()
		w.expect("then", 2, 1)
	})
}

// TestCloseEndsWaits closes the pool while some wait for room, and another for a connection to be opened.
func TestCloseEndsWaits(t *testing.T) {
	in(t, pool.Config{Max: 1}, func(w *harness) {
		w.set(time.Hour, nil)
		var group sync.WaitGroup
		for _, name := range []string{"a", "b", "c"} {
			group.Go(func() {
				if _, err := w.get(w.Context(), name); !errors.Is(err, pool.ErrClosed) {
					w.Errorf("%s: got %v", name, err)
				}
			})
		}
		synctest.Wait()
		start := time.Now()
		w.Close()
		group.Wait()
		if took := time.Since(start); took > 0 {
			w.Errorf("took %v", took)
		}
	})
}

// TestCloseWaitsForUsers shows that a pool closes nothing under its users.
func TestCloseWaitsForUsers(t *testing.T) {
	in(t, pool.Config{Max: 1}, func(w *harness) {
		l := w.must("a")
		done := make(chan struct{})
		go func() {
			w.Close()
			close(done)
		}()
		synctest.Wait()
		select {
		case <-done:
			w.Error("did not wait")
		default:
		}
		if l.Conn.closed.Load() {
			w.Error("closed while in use")
		}
		l.Release()
		<-done
		if !l.Conn.closed.Load() {
			w.Error("left open")
		}
	})
}

func TestIdle(t *testing.T) {
	in(t, pool.Config{Max: 4}, func(w *harness) {
		w.touch("a")
		inUse := w.must("b")
		time.Sleep(timeIdle - 2*time.Second)
		w.expect("before", 2, 2)
		time.Sleep(time.Second)
		w.expect("after", 2, 1)
		time.Sleep(time.Hour)
		w.expect("in use", 2, 1)
		inUse.Release()
		for range 10 {
			time.Sleep(timeIdle - time.Second)
			w.touch("b")
		}
		w.expect("used now and then", 2, 1)
		time.Sleep(timeIdle + time.Second)
		w.expect("in the end", 2, 0)
		w.touch("a")
		w.expect("and again", 3, 1)
	})
}

func TestFailedOpening(t *testing.T) {
	in(t, pool.Config{Max: 1}, func(w *harness) {
		refused := errors.New("refused")
		w.set(timeOpen, refused)
		var group sync.WaitGroup
		for range 10 {
			group.Go(func() {
				if _, err := w.get(w.Context(), "a"); !errors.Is(err, refused) {
					w.Errorf("got %v", err)
				}
			})
		}
		group.Wait()
		w.expect("failed for all at once", 1, 0)
		w.set(timeOpen, nil)
		if w.touch("a") != 2 {
			w.Error("not tried again")
		}
		w.refusal = refused
		if _, err := w.get(w.Context(), "b"); !errors.Is(err, refused) {
			w.Errorf("got %v from dial", err)
		}
	})
}

// TestFailureIsForgotten tries again as soon as it has heard of a failure.
func TestFailureIsForgotten(t *testing.T) {
	in(t, pool.Config{Max: 1}, func(w *harness) {
		w.set(0, nil)
		for range 2000 {
			w.set(0, errors.New("refused"))
			if _, err := w.get(w.Context(), "a"); err == nil {
				w.Fatal("opened")
			}
			w.set(0, nil)
			w.touch("a")
			w.Drop(func(*conn) bool { return true })
		}
	})
}

// TestOpeningOutlivesAttempt has an attempt that ends while its connection is being opened: others have it.
func TestOpeningOutlivesAttempt(t *testing.T) {
	in(t, pool.Config{Max: 1}, func(w *harness) {
		ctx, cancel := context.WithTimeout(w.Context(), timeOpen/2)
		defer cancel()
		_, err := w.get(ctx, "a")
		if wait, ok := errors.AsType[*pool.WaitError](err); !ok || wait.Full || !errors.Is(err, context.DeadlineExceeded) {
			w.Errorf("got %v", err)
		}
		if w.touch("a") != 1 {
			w.Error("opened once more")
		}
	})
}

func TestBrokenIsReplaced(t *testing.T) {
	in(t, pool.Config{Max: 1}, func(w *harness) {
		l := w.must("a")
		l.Conn.broken.Store(true)
		if w.touch("a") != 2 {
			w.Error("a broken connection was given out")
		}
		if l.Conn.closed.Load() {
			w.Error("closed while in use")
		}
		l.Release()
		w.expect("its user has left", 2, 1)
		l = w.must("a")
		l.Conn.broken.Store(true)
		w.touch("b") // for which it makes room, although it is in use
		l.Release()
		w.expect("in the end", 3, 1)
	})
}

func TestDrop(t *testing.T) {
	in(t, pool.Config{Max: 2}, func(w *harness) {
		l, other := w.must("a"), w.must("a")
		l.Drop()
		l.Drop()
		l.Release()
		w.expect("one user left", 1, 1)
		if w.touch("a") != 2 {
			w.Error("a dropped connection was given out")
		}
		other.Release()
		w.expect("no user left", 2, 1)
		w.touch("b")
		w.Drop(func(c *conn) bool { return c.name == "b" })
		w.expect("one that nobody uses", 3, 1)
		if w.touch("a") != 2 {
			w.Error("the other one was dropped")
		}
	})
}
