package pool_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carillon-sched/carillon/actions/pool"
)

var (
	errGone = errors.New("gone")
	renewed = pool.Config{
		Max: 2, RenewAfter: 4 * time.Minute, MaxAge: 270 * time.Second, Final: func(err error) bool { return errors.Is(err, errGone) },
	}
)

// use uses a connection every second for some time.
func (w *harness) use(name string, d time.Duration) {
	w.Helper()
	for range d / time.Second {
		w.touch(name)
		time.Sleep(time.Second)
	}
}

// TestRenewal shows that a connection in use gets a successor, for which nobody waits.
func TestRenewal(t *testing.T) {
	in(t, renewed, func(w *harness) {
		w.touch("a")
		for range 3600 {
			begun := time.Now()
			l := w.must("a")
			if age := time.Since(begun); age > 0 {
				w.Fatalf("waited %v", age)
			}
			time.Sleep(time.Second)
			if l.Conn.closed.Load() {
				w.Fatal("closed while in use")
			}
			l.Release()
		}
		synctest.Wait()
		if n := w.dialed.Load(); n < 14 || n > 16 {
			w.Errorf("%d connections in an hour", n)
		}
		if n := w.open.Load(); n > 2 {
			w.Errorf("%d are open", n)
		}
	})
}

// TestNoRenewalOfIdle shows that one which is not used gets no successor, and is dropped when it is too old.
func TestNoRenewalOfIdle(t *testing.T) {
	in(t, renewed, func(w *harness) {
		w.touch("a")
		time.Sleep(timeIdle)
		w.expect("too old", 1, 0)
	})
}

// TestMaxAge shows that one without a successor is not used when it is too old, and that its users keep it.
func TestMaxAge(t *testing.T) {
	in(t, pool.Config{Max: 1, MaxAge: time.Minute}, func(w *harness) {
		l := w.must("a")
		time.Sleep(time.Minute - timeOpen)
		if w.touch("a") != 1 {
			w.Error("dropped too early")
		}
		time.Sleep(time.Second)
		if w.touch("a") != 2 || l.Conn.closed.Load() {
			w.Error("used when too old, or closed under its user")
		}
		l.Release()
		w.expect("in the end", 2, 1)
	})
}

// TestSuccessorFails has successors that cannot be opened: for a while, which costs nothing before the predecessor is too old, and
// for good.
func TestSuccessorFails(t *testing.T) {
	in(t, renewed, func(w *harness) {
		w.touch("a")
		w.set(timeOpen, errors.New("busy"))
		w.use("a", 260*time.Second)
		if w.touch("a") != 1 || w.dialed.Load() != 2 {
			w.Errorf("%d dialled", w.dialed.Load())
		}
		time.Sleep(15 * time.Second)
		if _, err := w.get(w.Context(), "a"); err == nil {
			w.Error("used when too old")
		}
	})
	in(t, renewed, func(w *harness) {
		w.touch("a")
		w.use("a", 230*time.Second)
		w.set(timeOpen, errGone)
		time.Sleep(15 * time.Second)
		w.expect("its successor was refused", 2, 0)
		if _, err := w.get(w.Context(), "a"); !errors.Is(err, errGone) {
			w.Errorf("got %v", err)
		}
	})
}

// TestSuccessorComesLate has a predecessor that was dropped meanwhile, and a pool that was closed.
func TestSuccessorComesLate(t *testing.T) {
	for _, closing := range []bool{false, true} {
		in(t, renewed, func(w *harness) {
			w.touch("a")
			w.use("a", 230*time.Second)
			w.set(10*time.Second, nil)
			time.Sleep(12 * time.Second)
			w.expect("its successor is under way", 2, 2)
			if closing {
				w.Close()
				w.expect("closed", 2, 0)
				return
			}
			w.Drop(func(*conn) bool { return true })
			w.expect("dropped", 2, 1)
			w.touch("a")
			w.expect("nobody needs the successor", 3, 1)
		})
	}
}
