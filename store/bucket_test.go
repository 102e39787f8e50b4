package store_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
)

// inBuckets runs f for each bucket of a store.
func inBuckets(t *testing.T, f func(t *testing.T, w *harness, b scheduler.Bucket)) {
	t.Helper()
	inBubbles(t, map[string]func(w *harness) scheduler.Bucket{
		"collections": func(w *harness) scheduler.Bucket { return w.store.Collections() },
		"secrets":     func(w *harness) scheduler.Bucket { return w.store.Secrets() },
	}, func(t *testing.T, w *harness, of func(w *harness) scheduler.Bucket) { f(t, w, of(w)) })
}

// TestBucket makes each write from each state. A conflict changes nothing.
func TestBucket(t *testing.T) {
	inBuckets(t, func(t *testing.T, _ *harness, b scheduler.Bucket) {
		ctx := t.Context()
		is := func(name, want string, revision uint64) {
			t.Helper()
			st, err := b.Load(ctx, name)
			if want == "" {
				mustBe(t, "Load", err, scheduler.ErrNotFound)
			} else if err != nil || string(st.Data) != want || st.Revision != revision || st.Key.Job != name {
				t.Errorf("loaded %+v, %v, want %q", st, err, want)
			}
		}
		save := func(what, body string, replaces uint64, want error) uint64 {
			t.Helper()
			rev, err := b.Save(ctx, "a", []byte(body), replaces)
			mustBe(t, what, err, want)
			return rev
		}
		is("a", "", 0)
		save("over what never was", "1", 7, scheduler.ErrConflict)
		first := save("new", "1", 0, nil)
		is("a", "1", first)
		save("new, and there already", "2", 0, scheduler.ErrConflict)
		is("a", "1", first)
		last := save("over the last", "2", first, nil)
		save("over an earlier one", "3", first, scheduler.ErrConflict)
		is("a", "2", last)
		mustBe(t, "remove an earlier one", b.Remove(ctx, "a", first), scheduler.ErrConflict)
		is("a", "2", last)
		mustBe(t, "remove the last", b.Remove(ctx, "a", last), nil)
		is("a", "", 0)
		mustBe(t, "remove it again", b.Remove(ctx, "a", last), scheduler.ErrConflict)
		save("over what was removed", "3", last, scheduler.ErrConflict)
		is("a", "3", save("new, after it was removed", "3", 0, nil))
	})
}

// TestSaveAfter: a value that depends on others is saved only while they are unchanged.
func TestSaveAfter(t *testing.T) {
	inBuckets(t, func(t *testing.T, w *harness, named scheduler.Bucket) {
		b := named.(scheduler.CheckedBucket)
		ctx := t.Context()
		fine := func() error { return nil }
		saveOther := func() error {
			_, err := b.Save(ctx, rand.Text(), []byte("1"), 0)
			return err
		}
		first := must.Get(b.SaveAfter(ctx, fine, "a", []byte("1"), 0))(t)
		for name, stale := range map[string]struct {
			check    func() error
			replaces uint64
			want     error
		}{
			"another one has changed":  {saveOther, first, scheduler.ErrConflict},
			"it is there already":      {fine, 0, scheduler.ErrConflict},
			"it is another":            {fine, first + 9, scheduler.ErrConflict},
			"the check says no":        {func() error { return scheduler.ErrInvalid }, first, scheduler.ErrInvalid},
			"the check says not found": {func() error { return scheduler.ErrNotFound }, first, scheduler.ErrNotFound},
		} {
			_, err := b.SaveAfter(ctx, stale.check, "a", []byte("2"), stale.replaces)
			mustBe(t, name, err, stale.want)
		}
		again := must.Get(b.SaveAfter(ctx, fine, "a", []byte("2"), first))(t)
		st, err := b.Load(ctx, "a")
		if err != nil || string(st.Data) != "2" || st.Revision != again {
			t.Errorf("loaded %+v, %v", st, err)
		}
		w.must(b.Remove(ctx, "a", again))
		_, err = b.SaveAfter(ctx, fine, "a", []byte("3"), 0)
		mustBe(t, "new, after it was removed", err, nil)
	})
}

// TestBucketsAreApart: a collection and a secret can have the same name.
func TestBucketsAreApart(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		must.Get(w.store.Collections().Save(t.Context(), "a", []byte("collection"), 0))(t)
		_, err := w.store.Secrets().Load(t.Context(), "a")
		mustBe(t, "the secret", err, scheduler.ErrNotFound)
	})
}

func TestEachValue(t *testing.T) {
	inBuckets(t, func(t *testing.T, w *harness, b scheduler.Bucket) {
		ctx := t.Context()
		each := func() (all []string) {
			w.must(b.Each(ctx, func(st scheduler.Stored) error {
				all = append(all, fmt.Sprintf("%s %s %d", st.Key.Job, st.Data, st.Revision))
				return nil
			}))
			slices.Sort(all)
			return all
		}
		if got := each(); len(got) != 0 {
			t.Errorf("an empty bucket has %q", got)
		}
		for _, name := range []string{"a", "b", "c"} {
			must.Get(b.Save(ctx, name, []byte("of "+name), 0))(t)
		}
		w.must(b.Remove(ctx, "b", 2))
		if got, want := each(), []string{"a of a 1", "c of c 3"}; !slices.Equal(got, want) {
			t.Errorf("there are %q, want %q", got, want)
		}
		mustStop(t, func(f func() error) error { return b.Each(ctx, func(scheduler.Stored) error { return f() }) })
	})
}

// TestSince passes the changes after a revision, and returns the last revision.
func TestSince(t *testing.T) {
	inBuckets(t, func(t *testing.T, w *harness, b scheduler.Bucket) {
		ctx := t.Context()
		is := func(after uint64, want ...string) {
			t.Helper()
			var got []string
			last, err := b.Since(ctx, after, func(name string, revision uint64, data []byte) {
				got = append(got, fmt.Sprintf("%s %q %d", name, data, revision))
			})
			if got = append(got, strconv.FormatUint(last, 10)); err != nil || !slices.Equal(got, want) {
				t.Errorf("since %d: %q, %v, want %q", after, got, err, want)
			}
		}
		is(0, "0")
		must.Get(b.Save(ctx, "a", []byte("1"), 0))(t)
		must.Get(b.Save(ctx, "b", []byte("2"), 0))(t)
		is(0, `a "1" 1`, `b "2" 2`, "2")
		is(1, `b "2" 2`, "2")
		is(2, "2")
		w.must(b.Remove(ctx, "a", 1))
		must.Get(b.Save(ctx, "b", []byte("3"), 2))(t)
		is(2, `a "" 3`, `b "3" 4`, "4")
		is(9, "4")
		w.nc.Close()
		_, err := b.Since(ctx, 0, func(string, uint64, []byte) {})
		mustBe(t, "without a connection", err, scheduler.ErrUnavailable)
	})
}

// TestWatchValues: a watch delivers the current values, then ready, then every change, until its context ends or it
// fails.
func TestWatchValues(t *testing.T) {
	ends := map[string]struct {
		do   func(w *harness, cancel func())
		want error
	}{
		"ended":           {func(_ *harness, cancel func()) { cancel() }, nil},
		"connection lost": {func(w *harness, _ func()) { w.nc.Close() }, scheduler.ErrUnavailable},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			inBuckets(t, func(t *testing.T, w *harness, b scheduler.Bucket) {
				for _, name := range []string{"a", "b"} {
					must.Get(b.Save(t.Context(), name, []byte("of "+name), 0))(t)
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				seen, ended := make(chan string, 100), make(chan error, 1)
				go func() {
					ended <- b.Watch(ctx, func() { seen <- "ready" }, func(name string, revision uint64, data []byte) {
						if data == nil {
							data = []byte("none")
						}
						seen <- fmt.Sprintf("%s %s %d", name, data, revision)
					})
				}()
				time.Sleep(time.Second)
				must.Get(b.Save(t.Context(), "a", []byte("another"), 1))(t)
				w.must(b.Remove(t.Context(), "b", 2))
				time.Sleep(time.Second) // a change that is overwritten immediately may be omitted
				must.Get(b.Save(t.Context(), "b", []byte("back"), 0))(t)
				for _, want := range []string{"a of a 1", "b of b 2", "ready", "a another 3", "b none 4", "b back 5"} {
					select {
					case got := <-seen:
						if got != want {
							t.Errorf("told %q, want %q", got, want)
						}
					case <-time.After(time.Minute):
						t.Fatalf("not told %q", want)
					}
				}
				end.do(w, cancel)
				mustEnd(t, ended, time.Minute, end.want)
			})
		})
	}
}

// TestWatchEndsWithConnection reconnects a watch to a server that may have lost its consumer.
func TestWatchEndsWithConnection(t *testing.T) {
	inBuckets(t, func(t *testing.T, w *harness, b scheduler.Bucket) {
		ready, ended := make(chan struct{}), make(chan error, 1)
		go func() {
			ended <- b.Watch(t.Context(), func() { close(ready) }, func(string, uint64, []byte) {})
		}()
		<-ready
		w.must(w.nc.ForceReconnect())
		mustEnd(t, ended, 10*time.Second, scheduler.ErrUnavailable)
	})
}

// TestWatchManyValues watches more values than one request returns, and deletes one during the read.
func TestWatchManyValues(t *testing.T) {
	inBuckets(t, func(t *testing.T, _ *harness, b scheduler.Bucket) {
		const n = 600
		for i := range n {
			must.Get(b.Save(t.Context(), fmt.Sprintf("v%d", i), []byte("x"), 0))(t)
		}
		known, ready := map[string]uint64{}, make(chan struct{})
		gone := make(chan string, 10) // may be called twice
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() {
			_ = b.Watch(ctx, func() { close(ready) }, func(name string, revision uint64, data []byte) {
				if data == nil {
					gone <- name
					return
				}
				if len(known) == 0 {
					mustBe(t, "remove", b.Remove(ctx, "v0", 1), nil)
				}
				known[name] = revision
			})
		}()
		<-ready
		if name := <-gone; name != "v0" {
			t.Errorf("%s is gone", name)
		}
		for i := range n {
			if name := fmt.Sprintf("v%d", i); i > 0 && known[name] != uint64(i+1) {
				t.Errorf("%s has revision %d", name, known[name])
			}
		}
	})
}
