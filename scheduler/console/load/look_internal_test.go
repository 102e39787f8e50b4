package load

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/bubble"
)

// TestLooks has several look at what takes long: it is worked out once, kept for a minute, and anew after an error.
func TestLooks(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var l looks[int]
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
		if l.at(t.Context(), "a", work) != first || first.wait(t.Context(), time.Second) || first.counted.Load() != 7 {
			t.Errorf("while it is worked out: %d", first.counted.Load())
		}
		other := l.at(t.Context(), "b", work)
		if !first.wait(t.Context(), time.Minute) || !other.wait(t.Context(), time.Minute) || first.value == other.value || runs != 2 {
			t.Errorf("the results are %d and %d after %d", first.value, other.value, runs)
		}
		time.Sleep(lookAge - 2*time.Second)
		if l.at(t.Context(), "a", work) != first {
			t.Error("it is worked out anew within a minute")
		}
		time.Sleep(3 * time.Second)
		fails = errors.New("no store")
		failed := l.at(t.Context(), "a", work)
		if failed == first || !failed.wait(t.Context(), time.Minute) || failed.err == nil {
			t.Errorf("after a minute: %v", failed.err)
		}
		if again := l.at(t.Context(), "a", work); again == failed {
			t.Error("an error is kept")
		} else {
			l.forget() // it is under way still
			if l.at(t.Context(), "a", work) != again {
				t.Error("what is worked out is begun again")
			}
			again.wait(t.Context(), time.Minute)
		}
		for i := range 3 * looksMost {
			l.at(t.Context(), string(rune('A'+i)), work).wait(t.Context(), time.Minute)
		}
		if len(l.all) > looksMost {
			t.Errorf("%d are kept", len(l.all))
		}
	})
}
