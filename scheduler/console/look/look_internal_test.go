package look

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/bubble"
)

// TestLooks has several look at what takes long: it is worked out once, kept for a minute, and anew after an error.
func TestLooks(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var l Looks[int]
		runs := 0
		var fails error
		work := func(ctx context.Context, counted func(int)) (int, error) {
			runs++
			n := runs
			counted(7)
			select {
			case <-time.After(10 * time.Second):
			case <-ctx.Done():
			}
			return n, fails
		}
		gone, leave := context.WithCancel(t.Context())
		first := l.at(gone, "a", work)
		leave() // it goes on
		if l.at(t.Context(), "a", work) != first || first.Wait(t.Context(), time.Second) || first.counted.Load() != 7 {
			t.Errorf("while it is worked out: %d", first.counted.Load())
		}
		other := l.at(t.Context(), "b", work)
		if !first.Wait(t.Context(), time.Minute) || !other.Wait(t.Context(), time.Minute) || first.Value == other.Value || runs != 2 {
			t.Errorf("the results are %d and %d after %d", first.Value, other.Value, runs)
		}
		time.Sleep(lookAge - 2*time.Second)
		if l.at(t.Context(), "a", work) != first {
			t.Error("it is worked out anew within a minute")
		}
		time.Sleep(3 * time.Second)
		fails = errors.New("no store")
		failed := l.at(t.Context(), "a", work)
		if failed == first || !failed.Wait(t.Context(), time.Minute) || failed.Err == nil {
			t.Errorf("after a minute: %v", failed.Err)
		}
		l.at(t.Context(), "b", work).Wait(t.Context(), time.Minute)
		if l.at(t.Context(), "a", work) == failed {
			t.Error("an error is kept")
		}
		if again := l.at(t.Context(), "a", work); again == failed {
			t.Error("an error is kept")
		} else {
			l.Forget() // it is under way still
			if l.at(t.Context(), "a", work) != again {
				t.Error("what is worked out is begun again")
			}
			again.Wait(t.Context(), time.Minute)
		}
		for i := range 3 * looksMost {
			l.at(t.Context(), string(rune('A'+i)), work).Wait(t.Context(), time.Minute)
		}
		if len(l.all) > looksMost {
			t.Errorf("%d are kept", len(l.all))
		}
	})
}

// TestLooksShowWhatWasThere has what is old shown until there is something newer.
func TestLooksShowWhatWasThere(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var l Looks[int]
		runs := 0
		var fails error
		work := func(context.Context, func(int)) (int, error) {
			runs++
			n, err := runs, fails
			time.Sleep(10 * time.Second)
			return n, err
		}
		at := func() *Look[int] {
			one := l.at(t.Context(), "a", work)
			synctest.Wait() // it has begun
			return one
		}
		shows := func(what string, one *Look[int], want int) {
			t.Helper()
			got := 0
			if before := one.before.Load(); before != nil {
				got = before.Value
			}
			if got != want {
				t.Errorf("%s: %d is shown, want %d", what, got, want)
			}
		}
		first := at()
		shows("at first", first, 0)
		first.Wait(t.Context(), time.Minute)
		time.Sleep(lookAge)
		second := at()
		shows("after a minute", second, 1)
		l.at(t.Context(), "b", work)
		synctest.Wait()
		second.Wait(t.Context(), time.Minute)
		shows("when it is there", second, 0)

		l.Renew()
		fails = errors.New("no store")
		third := at()
		shows("when it is to be new", third, 2)
		third.Wait(t.Context(), time.Minute)
		fourth := at()
		shows("after an error", fourth, 2)
		fourth.Wait(t.Context(), time.Minute)
		fails = nil
		fifth := at()
		shows("after two", fifth, 2)
		fifth.Wait(t.Context(), time.Minute)
		l.Forget()
		sixth := at()
		shows("when it is forgotten", sixth, 0)
		sixth.Wait(t.Context(), time.Minute)
		time.Sleep(looksKept)
		last := at()
		shows("after an hour", last, 0)
		last.Wait(t.Context(), time.Minute)
	})
}

// TestLooksAreBounded asks for another one each time, and waits for none.
func TestLooksAreBounded(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var l Looks[int]
		var running atomic.Int64
		work := func(context.Context, func(int)) (int, error) {
			running.Add(1)
			time.Sleep(time.Second)
			return 1, nil
		}
		for i := range 10 * looksMost {
			l.at(t.Context(), strconv.Itoa(i), work)
		}
		synctest.Wait()
		if n := running.Load(); n != looksMost {
			t.Errorf("%d are worked out", n)
		}
		if one := l.at(t.Context(), "another", work); !one.isDone() || one.Err == nil || one.Err.Error() != busy().Error() {
			t.Errorf("one more: %v", one.Err)
		}
		time.Sleep(2 * time.Second)
		if one := l.at(t.Context(), "another", work); !one.Wait(t.Context(), time.Minute) || one.Err != nil {
			t.Errorf("later: %v", one.Err)
		}
	})
}

// TestLooksHaveTheirAge has an age and a lifetime of its own, as a count has that all open pages read each second.
func TestLooksHaveTheirAge(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		l := Looks[int]{Age: 3 * time.Second, Kept: 20 * time.Second}
		takes, runs := time.Second, 0
		var fails error
		next := func() *Look[int] {
			return l.at(t.Context(), "", func(context.Context, func(int)) (int, error) {
				runs++
				n := runs
				time.Sleep(takes)
				return n, fails
			})
		}
		first := next()
		if first.Shown(t.Context(), time.Millisecond) != nil || first.Shown(t.Context(), time.Minute) != first {
			t.Error("the first is not shown when it is there")
		}
		time.Sleep(2 * time.Second)
		if next() != first {
			t.Error("it is young, and not shared")
		}
		time.Sleep(time.Second)
		second := next()
		if second == first || second.Shown(t.Context(), time.Millisecond) != first {
			t.Error("it is old, and not shown until there is another")
		}
		second.Wait(t.Context(), time.Minute)
		time.Sleep(20 * time.Second)
		if next().Shown(t.Context(), time.Millisecond) != nil {
			t.Error("it is shown after its lifetime")
		}

		time.Sleep(20 * time.Second)
		synctest.Wait() // the count has ended
		takes, runs, fails = 0, 0, errors.New("no store")
		for range 10 {
			if one := next(); !one.Wait(t.Context(), time.Minute) || one.Err == nil {
				t.Errorf("the store fails, and the count does not: %v", one.Err)
			}
			time.Sleep(time.Second)
		}
		if runs != 5 {
			t.Errorf("%d counts begin in ten seconds", runs)
		}
	})
}
