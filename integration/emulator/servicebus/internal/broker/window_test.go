package broker_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/filter"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

func window(tb testing.TB, b *broker.Broker, path string) *broker.Inspector {
	tb.Helper()
	return must.Get(b.Inspect(path))(tb)
}

const every = broker.Waiting | broker.Held | broker.Deferred | broker.Scheduled

// browse returns the ids of all messages of some stages.
func browse(tb testing.TB, b *broker.Broker, path string, stages broker.Stage) []string {
	tb.Helper()
	var all []string
	for from, more := int64(0), true; more; more = from != 0 {
		found, next, err := window(tb, b, path).Browse(from, 2, stages)
		if err != nil {
			tb.Fatal(err)
		}
		for _, g := range found {
			all = append(all, amqp.IDString(g.Message().Properties().MessageID))
		}
		from = next
	}
	return all
}

// purge deletes all messages of some stages that nobody holds.
func purge(w *broker.Inspector, stages broker.Stage) (n int, err error) {
	for from, more := int64(0), true; more && err == nil; more = from != 0 {
		var p broker.Purged
		p, _, err = w.Purge(from, math.MaxInt64, stages)
		n, from = n+p.Removed, p.Next
	}
	return n, err
}

// TestWindow has each stage of a message, and what can be done in it.
func TestWindow(t *testing.T) {
	onFakeTime(t, func(t *testing.T, b *broker.Broker) {
		must.Get(b.CreateQueue("q", broker.Options{AutoDeleteOnIdle: time.Hour}))(t)
		send(t, b, "q", ids(3)...)
		send(t, b, "q", spec{id: "later", at: time.Now().Add(10 * time.Minute)}, spec{id: "short", ttl: time.Second})
		c := receive(t, b, "q", broker.ReceiverConfig{})
		c.SetCredit(2)
		first := c.next()
		second := c.next()
		c.settle(second, broker.Outcome{Kind: broker.Defer})
		c.Close()
		pass(2 * time.Second)
		wantIDs(t, browse(t, b, "q", every), "1", "2", "3", "later")
		wantIDs(t, browse(t, b, "q", broker.Held), "1")
		wantIDs(t, browse(t, b, "q", broker.Deferred), "2")
		wantIDs(t, browse(t, b, "q", broker.Waiting), "3")
		wantIDs(t, browse(t, b, "q", broker.Scheduled), "later")
		if u := must.Get(b.Entity("q"))(t).Usage; u.Deferred != 1 || u.Active != 3 {
			t.Errorf("counts are %+v", u)
		}
		w := window(t, b, "q")
		_, err := w.Remove(first.Sequence)
		wantCondition(t, err, broker.MessageLockLost)
		_, err = w.Remove(99)
		wantCondition(t, err, broker.MessageNotFound)
		must.Get(w.Remove(second.Sequence))(t)
		if n, err := purge(w, broker.Scheduled); n != 1 || err != nil {
			t.Errorf("purged %d, %v", n, err)
		}
		wantIDs(t, browse(t, b, "q", every), "1", "3")
		pass(59 * time.Minute) // it is looked at, which is no use
		wantIDs(t, browse(t, b, "q", every), "1", "3")
		pass(3 * time.Minute)
		if b.Exists("q") {
			t.Error("looking has kept the queue from deleting itself")
		}
		_, err = b.Inspect("q")
		wantCondition(t, err, broker.NotFound)
	})
}

// TestWindowMakesNothing looks for entities where they are made when they are used.
func TestWindowMakesNothing(t *testing.T) {
	b, stop := start(t, broker.Config{AutoCreate: true})
	defer stop()
	if _, err := b.Inspect("q"); broker.Condition(err) != broker.NotFound || len(b.Entities()) != 0 {
		t.Errorf("there are %d queues: %v", len(b.Entities()), err)
	}
}

// TestResubmitWhileReceived resubmits dead letters while receivers take them, as well as what has come back: each message ends
// once.
func TestResubmitWhileReceived(t *testing.T) {
	const total = 2000
	b, stop := start(t, broker.Config{})
	defer stop()
	must.Get(b.CreateQueue("q", broker.Options{}))(t)
	send(t, b, "q", ids(total)...)
	c := receive(t, b, "q", broker.ReceiverConfig{})
	c.SetCredit(total)
	for range total {
		c.settle(c.next(), broker.Outcome{Kind: broker.MoveDeadLetter})
	}
	c.Close()
	y := newTally(total)
	var group sync.WaitGroup
	for _, path := range []string{"q", "q", "q/$DeadLetterQueue", "q/$DeadLetterQueue"} {
		group.Go(func() {
			if err := consume(b, path, y, broker.ReceiverConfig{}); err != nil {
				t.Error(err)
			}
		})
	}
	w := window(t, b, "q/$DeadLetterQueue")
	for range 3 { // people
		group.Go(func() {
			for {
				select {
				case <-y.done:
					return
				default:
				}
				found, _, err := w.Browse(0, 50, every)
				if err != nil {
					t.Error(err)
					return
				}
				for _, g := range found {
					_, err := w.Resubmit(g.Sequence, g.Message(), false)
					if c := broker.Condition(err); err != nil && c != broker.MessageNotFound && c != broker.MessageLockLost {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	group.Wait()
	y.check(t, total)
}

// TestPurgeWhileReceived purges while receivers take messages: each was purged or received, and none both.
func TestPurgeWhileReceived(t *testing.T) {
	const rounds, each = 50, 100
	b, stop := start(t, broker.Config{})
	defer stop()
	must.Get(b.CreateQueue("q", broker.Options{}))(t)
	w := window(t, b, "q")
	received, purged := 0, 0
	for round := range rounds {
		for i := range each {
			send(t, b, "q", spec{id: fmt.Sprint(round, "-", strconv.Itoa(i))})
		}
		var group sync.WaitGroup
		counts := make(chan int, 2)
		for range 2 {
			group.Go(func() {
				c := receive(t, b, "q", broker.ReceiverConfig{Mode: broker.ReceiveAndDelete})
				c.SetCredit(each / 4)
				n := 0
				for _, ok := c.Next(nil); ok; _, ok = c.Next(nil) {
					n++
				}
				c.Close()
				counts <- n
			})
		}
		group.Go(func() {
			n, err := purge(w, broker.Waiting)
			if err != nil {
				t.Error(err)
			}
			purged += n
		})
		group.Wait()
		received += <-counts + <-counts
		rest := must.Get(purge(w, every))(t)
		purged += rest
	}
	if received+purged != rounds*each {
		t.Errorf("%d were received and %d purged, of %d", received, purged, rounds*each)
	}
	if u := must.Get(b.Entity("q"))(t).Usage; u.Total() != 0 || u.Size != 0 {
		t.Errorf("the queue is empty, and has %+v", u)
	}
}

// deadLetterOne makes dead letters of the first n messages.
func deadLetterOne(tb testing.TB, b *broker.Broker, path string, n int) {
	tb.Helper()
	c := receive(tb, b, path, broker.ReceiverConfig{})
	defer c.Close()
	c.SetCredit(uint32(n))
	for range n {
		c.settle(c.next(), broker.Outcome{Kind: broker.MoveDeadLetter, Reason: "r"})
	}
}

// resubmit puts a dead letter back as it is.
func resubmit(tb testing.TB, w *broker.Inspector, sequence int64, toTopic bool) error {
	tb.Helper()
	g, err := w.Message(sequence)
	if err != nil {
		return err
	}
	receipt, err := w.Resubmit(sequence, g.Message(), toTopic)
	if err != nil {
		return err
	}
	return receipt.Wait()
}

// TestResubmitToNobody keeps a dead letter that no subscription would take: sent to the topic it would be nowhere.
func TestResubmitToNobody(t *testing.T) {
	b, stop := start(t, broker.Config{})
	defer stop()
	must.Get(b.CreateTopic("t", broker.Options{DuplicateDetection: true}))(t)
	must.Get(b.CreateSubscription("t", "s", broker.Options{}, nil))(t)
	send(t, b, "t", spec{id: "1", properties: amqp.Map{{Key: "n", Value: "text"}}})
	const path = "t/Subscriptions/s"
	deadLetterOne(t, b, path, 1)
	w := window(t, b, path+"/$DeadLetterQueue")
	dead := browse(t, b, path+"/$DeadLetterQueue", every)
	g, _, err := w.Browse(0, 1, every)
	if err != nil || len(g) != 1 {
		t.Fatalf("%d dead letters: %v", len(g), err)
	}
	for _, rule := range []broker.Rule{
		{Name: broker.DefaultRule, Filter: filter.FalseFilter()},
		{Name: broker.DefaultRule, Filter: must.Get(filter.ParseSQL("n > 1", nil))(t)},
	} {
		must.Get(b.UpdateRule("t", "s", rule))(t)
		wantCondition(t, resubmit(t, w, g[0].Sequence, true), broker.NotAllowed)
		wantIDs(t, browse(t, b, path+"/$DeadLetterQueue", every), dead...)
	}
	must.Get(b.UpdateRule("t", "s", broker.Rule{Name: broker.DefaultRule, Filter: must.Get(filter.ParseSQL("n = 'text'", nil))(t)}))(t)
	must.Do(t, resubmit(t, w, g[0].Sequence, true))
	wantIDs(t, browse(t, b, path, every), "1")
	wantIDs(t, browse(t, b, path+"/$DeadLetterQueue", every))
}

// TestResubmitForwarded puts back what could not be forwarded, over a restart: the target, which has seen its id, takes it.
func TestResubmitForwarded(t *testing.T) {
	for _, restarts := range []bool{false, true} {
		dir := t.TempDir()
		b, stop := start(t, broker.Config{Dir: dir})
		must.Get(b.CreateQueue("to", broker.Options{DuplicateDetection: true}))(t)
		must.Get(b.CreateQueue("from", broker.Options{}))(t)
		send(t, b, "to", spec{id: "1"})
		send(t, b, "from", spec{id: "1"})
		deadLetterOne(t, b, "from", 1)
		w := window(t, b, "from/$DeadLetterQueue")
		if !restarts {
			must.Get(b.Update(broker.QueueKind, "from", broker.Options{ForwardTo: "to"}))(t)
		}
		must.Do(t, resubmit(t, w, 1, false))
		if restarts {
			stop()
			b, stop = start(t, broker.Config{Dir: dir})
			must.Get(b.Update(broker.QueueKind, "from", broker.Options{ForwardTo: "to"}))(t)
			send(t, b, "from", spec{id: "2"}) // which has the others go on, too
		}
		deadline := time.Now().Add(20 * time.Second)
		for must.Get(b.Entity("from"))(t).Usage.Total() > 0 && time.Now().Before(deadline) {
			runtime.Gosched()
		}
		got := browse(t, b, "to", every)
		if n := len(got); n != 2 && !restarts || n != 3 && restarts || got[1] != "1" {
			t.Errorf("restarted %t: the target has %v", restarts, got)
		}
		stop()
	}
}

// TestResubmitIntoFull puts a dead letter back into a queue that is full of it.
func TestResubmitIntoFull(t *testing.T) {
	b, stop := start(t, broker.Config{})
	defer stop()
	must.Get(b.CreateQueue("q", broker.Options{}))(t)
	send(t, b, "q", ids(2)...)
	deadLetterOne(t, b, "q", 2)
	w := window(t, b, "q/$DeadLetterQueue")
	must.Get(b.Update(broker.QueueKind, "q", broker.Options{MaxSize: must.Get(b.Entity("q"))(t).Usage.Size}))(t)
	must.Do(t, resubmit(t, w, 1, false))
	must.Get(b.Update(broker.QueueKind, "q", broker.Options{MaxSize: 10}))(t)
	wantCondition(t, resubmit(t, w, 2, false), broker.ResourceLimitExceeded)
	wantIDs(t, browse(t, b, "q", every), "1")
	wantIDs(t, browse(t, b, "q/$DeadLetterQueue", every), "2")
}

// TestResubmitTorn ends the process at every byte of what a resubmission writes: the message is in one place.
func TestResubmitTorn(t *testing.T) {
	dir := t.TempDir()
	b, stop := start(t, broker.Config{Dir: dir})
	must.Get(b.CreateQueue("q", broker.Options{DuplicateDetection: true}))(t)
	send(t, b, "q", ids(1)...)
	deadLetterOne(t, b, "q", 1)
	logs := must.Get(filepath.Glob(filepath.Join(dir, "*.log")))(t)
	before := must.Get(os.Stat(logs[0]))(t).Size()
	must.Do(t, resubmit(t, window(t, b, "q/$DeadLetterQueue"), 1, false))
	stop()
	after := must.Get(os.ReadFile(logs[0]))(t)
	if len(logs) != 1 || int64(len(after)) <= before {
		t.Fatalf("%d logs, of %d and then %d bytes", len(logs), before, len(after))
	}
	for size := int(before); size <= len(after); size++ {
		torn := t.TempDir()
		must.Do(t, os.WriteFile(filepath.Join(torn, filepath.Base(logs[0])), after[:size], 0o600))
		b, stop := start(t, broker.Config{Dir: torn})
		alive, dead := browse(t, b, "q", every), browse(t, b, "q/$DeadLetterQueue", every)
		if whole := size == len(after); len(alive)+len(dead) != 1 || whole != (len(alive) == 1) {
			t.Errorf("after %d of %d bytes: %v are back, and %v dead letters", size, len(after), alive, dead)
		}
		stop()
	}
}
