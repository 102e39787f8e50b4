package store_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/store/storetest"
)

// TestListingBeyondAPage: a listing returns the same whether it reads the index or the messages.
func TestListingBeyondAPage(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		ctx, later := t.Context(), time.Now().Add(time.Hour)
		for i := range 40 {
			k := scheduler.Key{Collection: fmt.Sprintf("c%d", i%2), Job: fmt.Sprintf("j%d", i)}
			rev := must.Get(w.store.SaveJob(ctx, k, []byte("x"), 0, false))(t)
			if i%5 == 0 {
				must.Get(w.store.SaveJob(ctx, k, []byte("y"), rev, false))(t)
			}
			w.must(w.store.ScheduleAt(ctx, scheduler.BatonKey{Key: k}, []byte("t"), later, 0))
			if i%3 == 0 {
				w.must(w.store.Fire(ctx, scheduler.BatonKey{Key: k}, []byte("f"), 0))
				w.must(w.store.Fire(ctx, scheduler.BatonKey{Key: k, Detached: "x1"}, []byte("f"), 0))
			}
		}
		list := func() map[string][]string {
			all := map[string][]string{}
			for _, c := range []string{"", "c0", "c1", "c2"} {
				w.must(w.store.EachJob(ctx, c, func(k scheduler.Key) error { all[c] = append(all[c], k.String()); return nil }))
			}
			w.must(w.store.EachBaton(ctx, 0, func(s scheduler.BatonKey, waiting bool) error {
				all["batons"] = append(all["batons"], fmt.Sprintln(s, s.Detached, waiting))
				return nil
			}))
			for _, names := range all {
				slices.Sort(names)
			}
			return all
		}
		want := list()
		if len(want[""]) != 40 || len(want["c1"]) != 20 || len(want["batons"]) != 68 {
			t.Fatalf("by the index: %v", want)
		}
		for _, page := range []uint64{20, 7, 1} { // a collection fits into the first
			w.store.ScanBeyond(page)
			if got := list(); !maps.EqualFunc(got, want, slices.Equal) {
				t.Errorf("beyond %d: %v, want %v", page, got, want)
			}
		}
		mustStop(t, func(f func() error) error { return w.store.EachJob(ctx, "", func(scheduler.Key) error { return f() }) })
		mustStop(t, func(f func() error) error {
			return w.store.EachBaton(ctx, 0, func(scheduler.BatonKey, bool) error { return f() })
		})
	})
}

// TestListingWhileWritten: jobs written during a listing are not omitted and are returned once. A baton may be returned
// twice.
func TestListingWhileWritten(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		ctx, later := t.Context(), time.Now().Add(time.Hour)
		w.store.ScanBeyond(1)
		const jobs = 10
		key := func(i int) scheduler.Key { return scheduler.Key{Collection: "c", Job: fmt.Sprintf("j%d", i)} }
		revisions := make([]uint64, jobs)
		for i := range jobs {
			revisions[i] = must.Get(w.store.SaveJob(ctx, key(i), []byte("x"), 0, false))(t)
			w.must(w.store.ScheduleAt(ctx, scheduler.BatonKey{Key: key(i)}, []byte("t"), later, 0))
		}
		told := map[string]int{}
		write := func(i int) {
			revisions[i] = must.Get(w.store.SaveJob(ctx, key(i), []byte("y"), revisions[i], false))(t)
		}
		w.must(w.store.EachJob(ctx, "", func(k scheduler.Key) error {
			told[k.String()]++
			if len(told) == 5 && told[k.String()] == 1 {
				write(0)        // already read
				write(jobs - 1) // not read yet, unless its headers are in flight
				write(0)
			}
			return nil
		}))
		for i := range jobs {
			if n := told[key(i).String()]; n != 1 {
				t.Errorf("job %s was told %d times", key(i), n)
			}
		}
		clear(told)
		w.must(w.store.EachBaton(ctx, 0, func(s scheduler.BatonKey, _ bool) error {
			told[s.String()]++
			if len(told) == 1 {
				w.must(w.store.Clear(ctx, key(0), nil))
				w.must(w.store.ScheduleAt(ctx, scheduler.BatonKey{Key: key(0)}, []byte("t"), later, 0))
			}
			return nil
		}))
		for i := range jobs {
			if n := told[key(i).String()]; n != 1 && (i > 0 || n != 2) {
				t.Errorf("the baton of %s was told %d times", key(i), n)
			}
		}
	})
}

// TestListingWhileEmptied: a listing ends if its remaining messages are removed.
func TestListingWhileEmptied(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		ctx := t.Context()
		w.store.ScanBeyond(1)
		for i := range 5000 { // more than requested ahead
			must.Get(w.store.SaveJob(ctx, scheduler.Key{Collection: "c", Job: fmt.Sprintf("j%d", i)}, []byte("x"), 0, false))(t)
		}
		stream := must.Get(w.js.Stream(ctx, "KV_carillon-jobs"))(t)
		n := 0
		w.must(w.store.EachJob(ctx, "", func(scheduler.Key) error {
			n++
			if n == 1 {
				w.must(stream.Purge(ctx))
			}
			return nil
		}))
		if n == 0 || n == 5000 {
			t.Errorf("told %d", n)
		}
		ended, cancel := context.WithCancel(ctx)
		cancel()
		if err := w.store.EachJob(ended, "", func(scheduler.Key) error { return nil }); !errors.Is(err, context.Canceled) {
			t.Errorf("after the end: %v", err)
		}
	})
}

// TestListingAsksTheIndexOnce: the index, which the server sorts for each response, is never paged. If it exceeds a
// page, messages are read instead, for batons as for jobs.
func TestListingAsksTheIndexOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		ctx, later := t.Context(), time.Now().Add(time.Hour)
		const jobs = 40
		for i := range jobs {
			k := scheduler.Key{Collection: fmt.Sprintf("c%d", i%2), Job: fmt.Sprintf("j%d", i)}
			must.Get(w.store.SaveJob(ctx, k, []byte("x"), 0, false))(t)
			w.must(w.store.ScheduleAt(ctx, scheduler.BatonKey{Key: k}, []byte("t"), later, 0))
		}
		listener := storetest.Connect(t, w.server)
		index := must.Get(listener.SubscribeSync("$JS.API.STREAM.INFO.>"))(t)
		w.must(listener.Flush()) // the subscription is active
		asked := func() (n int) {
			for {
				m, err := index.NextMsg(time.Second)
				if err != nil {
					return n
				}
				if strings.Contains(string(m.Data), "subjects_filter") {
					n++
				}
			}
		}
		batons := func() error { return w.store.EachBaton(ctx, 0, func(scheduler.BatonKey, bool) error { return nil }) }
		collection := func() error { return w.store.EachJob(ctx, "c1", func(scheduler.Key) error { return nil }) }
		for _, test := range []struct {
			what string
			page uint64
			list func() error
			want int
		}{
			{"batons, one page", jobs, batons, 1},
			{"batons, two pages", jobs - 1, batons, 0},
			{"batons, many pages", 1, batons, 0},
			{"a collection, one page", jobs / 2, collection, 1},
			{"a collection, many pages", 1, collection, 1}, // number of index requests
		} {
			w.store.ScanBeyond(test.page)
			w.must(test.list())
			if got := asked(); got != test.want {
				t.Errorf("%s: the index was asked for %d times, want %d", test.what, got, test.want)
			}
		}
	})
}

// TestListingManyBatons lists the batons of a lane when the index exceeds a page.
func TestListingManyBatons(t *testing.T) {
	if testing.Short() {
		t.Skip("it stores a hundred thousand messages: run the tests without -short")
	}
	inBubble(t, func(t *testing.T, w *harness) {
		ctx := t.Context()
		const batons = 100_100 // a page has 100,000
		acks := make([]jetstream.PubAckFuture, batons)
		for i := range acks {
			acks[i] = must.Get(w.js.PublishAsync(fmt.Sprintf("carillon.fire.0.c.j%d", i), nil, jetstream.WithStallWait(time.Minute)))(t)
		}
		for _, ack := range acks {
			select {
			case <-ack.Ok():
			case err := <-ack.Err():
				t.Fatal(err)
			}
		}
		told := make(map[scheduler.BatonKey]bool, batons)
		w.must(w.store.EachBaton(ctx, 0, func(s scheduler.BatonKey, waiting bool) error {
			if waiting || told[s] {
				t.Fatalf("%s: waits %t, told before %t", s, waiting, told[s])
			}
			told[s] = true
			return nil
		}))
		if len(told) != batons {
			t.Errorf("told %d", len(told))
		}
	})
}
