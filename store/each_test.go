package store_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
)

// TestEachJobFrom reads the definitions and delete markers since a revision, but none written during the read.
func TestEachJobFrom(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		key := func(name string) scheduler.Key { return scheduler.Key{Collection: "c", Job: name} }
		save := func(name, body string, replaces uint64) uint64 {
			return must.Get(w.store.SaveJob(t.Context(), key(name), []byte(body), replaces, false))(t)
		}
		read := func(from uint64) (all []string) {
			w.must(w.store.EachJobFrom(t.Context(), from, func(st scheduler.Stored, deleted bool) error {
				if len(all) == 0 {
					save(fmt.Sprintf("later-%d", from), "meanwhile", 0)
				}
				all = append(all, fmt.Sprintf("%s %s %t", st.Key.Job, st.Data, deleted))
				return nil
			}))
			return all
		}
		if got := read(1); got != nil {
			t.Errorf("of nothing: %q", got)
		}
		a := save("a", "1", 0)
		b := save("b", "1", 0)
		a = save("a", "2", a)
		w.must(w.store.RemoveJob(t.Context(), key("b"), b, 0))
		last := save("c", "1", 0)
		want := []string{"a 1 false", "a 2 false", "b  true", "c 1 false"}
		if got := read(0); !slices.Equal(got, want) {
			t.Errorf("all: %q, want %q", got, want)
		}
		want = append(want[1:], "later-0 meanwhile false")
		if got := read(a); !slices.Equal(got, want) {
			t.Errorf("from the second of a on: %q, want %q", got, want)
		}
		if got := read(last + 100); got != nil {
			t.Errorf("from what is to come: %q", got)
		}
		errEnough := errors.New("enough")
		if err := w.store.EachJobFrom(t.Context(), 1, func(scheduler.Stored, bool) error { return errEnough }); err != errEnough { //nolint:errorlint // as it is
			t.Errorf("an error of who reads becomes %v", err)
		}
	})
}
