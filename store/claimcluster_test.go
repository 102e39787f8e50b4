package store_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/store/storetest"
)

// said is a notice between processes.
type said struct {
	ID    string `json:"id"`
	Says  string `json:"says"`
	Short bool   `json:"short"`
}

// hearing returns a function that waits until a number of processes have sent a notice a number of times.
func hearing(t *testing.T, nc *nats.Conn) (await func(processes int, what func(said) bool)) {
	t.Helper()
	sub := must.Get(nc.SubscribeSync("carillon.presence.all"))(t)
	must.Do(t, nc.Flush())
	return func(processes int, what func(said) bool) {
		t.Helper()
		heard := map[string]bool{}
		for end := time.Now().Add(patience); len(heard) < processes; {
			m, err := sub.NextMsg(time.Until(end))
			if err != nil {
				t.Fatalf("%d of %d processes say it: %v", len(heard), processes, err)
			}
			var s said
			if json.Unmarshal(m.Data, &s) == nil && what(s) {
				heard[s.ID] = true
			}
		}
	}
}

// lead makes a server the leader of the batons' consumer.
func lead(t *testing.T, nc *nats.Conn, s *server.Server) {
	t.Helper()
	js := must.Get(jetstream.New(nc))(t)
	tick := time.Tick(100 * time.Millisecond)
	for end := time.Now().Add(2 * patience); ; <-tick {
		ctx, cancel := context.WithTimeout(t.Context(), patience/3)
		c, err := js.Consumer(ctx, "CARILLON_TIMERS_0", "workers")
		leads := err == nil && c.CachedInfo().Cluster.Leader == s.Name()
		if err == nil && !leads {
			_, err = nc.RequestWithContext(ctx, "$JS.API.CONSUMER.LEADER.STEPDOWN.CARILLON_TIMERS_0.workers",
				fmt.Appendf(nil, `{"placement":{"preferred":%q}}`, s.Name()))
		}
		cancel()
		switch {
		case leads:
			return
		case time.Now().After(end):
			t.Fatalf("%s does not lead the consumer: %v", s.Name(), err)
		}
	}
}

// sequences returns the sorted sequences of deliveries.
func sequences(deliveries []*scheduler.Delivery) (all []uint64) {
	for _, d := range deliveries {
		all = append(all, d.Sequence)
	}
	slices.Sort(all)
	return all
}

// TestClaimInCluster: another process claims the messages of a vanished one, whichever server leads the consumer: all
// of them, each once, and others keep theirs.
func TestClaimInCluster(t *testing.T) {
	t.Parallel()
	storetest.DropTimers() // timers left by bubbles
	servers := startCluster(t)
	w := &harness{t: t}
	join := func(s *server.Server, n int) *holder {
		t.Helper()
		st, nc := openReplicated(t, s)
		return w.holding(ofBatons, nc, st, n)
	}
	claimer, other := join(servers[1], 0), join(servers[2], 0)
	await := hearing(t, claimer.nc)
	const each = 10
	take := func(h *holder) (got []*scheduler.Delivery) {
		t.Helper()
		for range each {
			got = append(got, h.take())
		}
		return got
	}
	for i, leader := range servers {
		lead(t, claimer.nc, leader)
		victim := join(servers[0], each)
		other.grow(each)
		for n := range 2 * each {
			w.must(claimer.store.Fire(t.Context(), beside(fmt.Sprintf("r%d-%d", i, n)), []byte("b"), 0))
		}
		lost, kept := take(victim), take(other)
		await(2, func(s said) bool { return s.Says == "holds" })
		began := time.Now()
		victim.kill()
		claimer.grow(each)
		await(1, func(s said) bool { return s.Says == "done" && s.Short })
		again := take(claimer)
		t.Logf("%s leads: claimed within %s", leader.Name(), time.Since(began).Round(time.Millisecond))
		if got, want := sequences(again), sequences(lost); !slices.Equal(got, want) {
			t.Errorf("%s leads: %v is claimed, want %v", leader.Name(), got, want)
		}
		for _, d := range slices.Concat(again, kept) {
			if !d.Lease.Stands() {
				t.Errorf("%s leads: %s is in doubt", leader.Name(), d.BatonKey.Detached)
			}
			w.must(d.Lease.Ack())
		}
		claimer.mustBeEmpty()
		for _, h := range []*holder{claimer, other} {
			if n := len(h.got); n > 0 {
				t.Errorf("%s leads: %d more are delivered", leader.Name(), n)
			}
		}
	}
}

// mustBeEmpty waits until no batons remain.
func (h *holder) mustBeEmpty() {
	h.t.Helper()
	tick := time.Tick(20 * time.Millisecond)
	for end := time.Now().Add(patience); ; <-tick {
		n := 0
		err := h.store.EachBaton(h.t.Context(), 0, func(scheduler.BatonKey, bool) error { n++; return nil })
		switch {
		case err == nil && n == 0:
			return
		case time.Now().After(end):
			h.t.Fatalf("%d batons are left: %v", n, err)
		}
	}
}
