package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/store/storetest"
)

// quick is the maximum time until messages of a killed process are redelivered.
const quick = 2500 * time.Millisecond

// ackWait returns the server's current ack wait for a stream.
func (w *harness) ackWait(stream string) time.Duration {
	w.t.Helper()
	return must.Get(w.js.Consumer(w.t.Context(), stream, "workers"))(w.t).CachedInfo().Config.AckWait
}

// setAckWait sets the server's ack wait.
func (w *harness) setAckWait(d time.Duration) {
	w.t.Helper()
	c := must.Get(w.js.Consumer(w.t.Context(), "CARILLON_TIMERS_0", "workers"))(w.t)
	cfg := c.CachedInfo().Config
	cfg.AckWait = d
	must.Get(w.js.UpdateConsumer(w.t.Context(), "CARILLON_TIMERS_0", cfg))(w.t)
}

// TestVanishedProcess: batons and specs of a killed process reach another one within 3 s, all of them, each once, and
// other processes keep theirs.
func TestVanishedProcess(t *testing.T) {
	type messages struct {
		queue  queue
		stream string
		send   func(w *harness, n int)
	}
	inBubbles(t, map[string]messages{
		"batons": {ofBatons, "CARILLON_TIMERS_0", (*harness).fire},
		"specs": {ofSpecs, "CARILLON_SPECS", func(w *harness, n int) {
			for i := range n {
				w.publish(fmt.Sprintf("put.c.j%d", i), "spec")
			}
		}},
		"records": {ofRecords, "CARILLON_HISTORY", func(w *harness, n int) {
			for i := range n {
				w.record(scheduler.Key{Collection: "c", Job: fmt.Sprintf("j%d", i)}, scheduler.OutcomeFaulted, "")
			}
		}},
	}, func(t *testing.T, w *harness, of messages) {
		const each = 40
		process := func() *holder {
			nc, s := w.open()
			return w.holding(of.queue, nc, s, each)
		}
		a, b, c := process(), process(), process()
		of.send(w, 3*each)
		lost, kept := a.all(time.Second), []map[string]*scheduler.Delivery{b.all(time.Second), c.all(time.Second)}
		if len(lost) != each || len(kept[0]) != each || len(kept[1]) != each {
			t.Fatalf("%d, %d and %d held", len(lost), len(kept[0]), len(kept[1]))
		}
		time.Sleep(20*time.Second + 123*time.Millisecond)
		a.kill()
		b.grow(3 * each)
		c.grow(3 * each)
		again := b.all(quick)
		for name, d := range c.all(time.Millisecond) {
			if again[name] != nil {
				t.Errorf("%s comes twice", name)
			}
			again[name] = d
		}
		for name, d := range again {
			if lost[name] == nil || d.Deliveries != 2 {
				t.Errorf("%s is delivered for the %d. time; the one that was killed held it: %t", name, d.Deliveries, lost[name] != nil)
			}
		}
		if len(again) != each {
			t.Errorf("%d of %d came within %s", len(again), each, quick)
		}
		b.none(time.Minute)
		c.none(time.Minute)
		if got := w.ackWait(of.stream); got != 10*time.Second {
			t.Errorf("the server waits for %s now", got)
		}
		for _, held := range append(kept, again) {
			for name, d := range held {
				if !d.Lease.Stands() {
					t.Errorf("%s is in doubt", name)
				}
			}
		}
	})
}

// TestClaimWithoutOneQueue claims messages of a killed process while another queue does not answer, such as one without
// a leader.
func TestClaimWithoutOneQueue(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		a, b := w.holder(5), w.holder(0)
		w.fire(5)
		if n := len(a.all(time.Second)); n != 5 {
			t.Fatalf("%d held", n)
		}
		w.must(w.js.DeleteConsumer(t.Context(), "CARILLON_SPECS", "workers"))
		a.kill()
		b.grow(5)
		if n := len(b.all(quick)); n != 5 {
			t.Errorf("%d of 5 came within %s", n, quick)
		}
	})
}

// TestPredecessor: a new process immediately takes over the messages of its predecessor, and none of a live process.
func TestPredecessor(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		a, b := w.holder(5), w.holder(5)
		w.fire(10)
		if n := len(a.all(time.Second)) + len(b.all(time.Second)); n != 10 {
			t.Fatalf("%d held", n)
		}
		time.Sleep(30 * time.Second)
		a.nc.Close()
		b.nc.Close()
		time.Sleep(300 * time.Millisecond)
		began := time.Now()
		c := w.holder(100)
		if got := c.all(quick); len(got) != 10 {
			t.Errorf("%d of 10 came within %s", len(got), time.Since(began))
		}
		d := w.holder(100)
		d.none(time.Minute)
		c.none(time.Minute)
		go a.stop()
		go b.stop()
	})
}

// TestLateTakeover: cases in which messages of a killed process are not claimed but redelivered after the ack wait, to
// protect others.
func TestLateTakeover(t *testing.T) {
	inBubbles(t, map[string]func(w *harness){
		"a process that holds something is connected and does not answer": func(w *harness) { w.sleeper() },
		"a process works, too, that may not tell of its presence": func(w *harness) {
			kv := must.Get(w.js.KeyValue(w.t.Context(), "carillon-settings"))(w.t)
			must.Get(kv.Put(w.t.Context(), "written", []byte("1")))(w.t)
		},
	}, func(t *testing.T, w *harness, other func(w *harness)) {
		a, b := w.holder(1), w.holder(0)
		w.fire(1)
		d := a.take()
		time.Sleep(2 * time.Second)
		other(w)
		a.kill()
		b.grow(1)
		b.none(5500 * time.Millisecond)
		began := time.Now()
		if again := b.take(); again.Sequence != d.Sequence || time.Since(began) > 5*time.Second {
			t.Errorf("delivered %+v after %s", again, time.Since(began))
		}
	})
}

// TestClaimerVanishes: if a process dies during its claim, the others renew their leases until they have restored the
// ack wait.
func TestClaimerVanishes(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		a, b := w.holder(30), w.holder(30)
		w.fire(60)
		if n := len(a.all(time.Second)) + len(b.all(time.Second)); n != 60 {
			t.Fatalf("%d held", n)
		}
		a.grow(100)
		b.grow(100)
		nc := storetest.Connect(t, w.server)
		for range 3 {
			must.Get(nc.Request("carillon.presence.all", []byte(`{"id":"gone","says":"renew"}`), time.Second))(t)
			w.setAckWait(1500 * time.Millisecond)
			a.none(6 * time.Second)
			b.none(time.Second)
			if got := w.ackWait("CARILLON_TIMERS_0"); got != 10*time.Second {
				t.Errorf("the server waits for %s still", got)
			}
		}
		a.none(time.Minute)
		b.none(time.Minute)
	})
}

// TestNotWaitedFor: a process that could not renew its leases before a claim starts none of its messages and sends
// nothing to the server. Messages that no other process holds are redelivered soon.
func TestNotWaitedFor(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		a := w.holder(2)
		w.fire(1)
		before := a.take()
		nc := storetest.Connect(t, w.server)
		tell := func(says, more string) {
			t.Helper()
			w.must(nc.Publish("carillon.presence.all", []byte(`{"id":"other","says":"`+says+`"`+more+`}`)))
			w.must(nc.Flush())
			time.Sleep(10 * time.Millisecond)
		}
		tell("renew", "")
		tell("done", "")
		if !before.Lease.Stands() {
			t.Error("in doubt after a claim that came to nothing")
		}
		tell("renew", "")
		w.must(w.store.Fire(t.Context(), own, []byte("later"), 0))
		later := a.take()
		tell("done", `,"short":true,"answered":["x"]`)
		if !later.Lease.Stands() {
			t.Error("what came after the leases were renewed is in doubt")
		}
		if before.Lease.Stands() {
			t.Error("what came before is not in doubt")
		}
		before.Lease.Drop()
		later.Lease.Drop() // its lease stands, so Drop does nothing
		a.grow(1)
		began := time.Now()
		if again := a.take(); again.Sequence != before.Sequence || again.Deliveries != 2 || time.Since(began) > 2*quick {
			t.Errorf("delivered %+v after %s", again, time.Since(began))
		}
		if !later.Lease.Stands() {
			t.Error("what is held is in doubt")
		}
	})
}
