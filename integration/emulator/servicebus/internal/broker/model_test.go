package broker_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
	"github.com/carillon-sched/carillon/integration/testkit/bubble"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

const (
	modelLock     = 10 * time.Second
	modelAttempts = 3
)

// A modelMessage is what the model knows of a message. Times are those of the bubble.
type modelMessage struct {
	seq     int64
	state   string // ready, locked, deferred or dead
	count   uint32
	parked  bool
	expires time.Time // zero for never
	locked  time.Time // until
	token   amqp.UUID
}

// A model is a queue as simple as it can be: a list that is looked through for everything.
type model struct {
	t        testing.TB
	dir      string
	broker   *broker.Broker
	stop     func()
	receiver *client
	source   *broker.Source
	messages map[string]*modelMessage
	sent     int
	seq      int64
}

// catchUp does what time has brought.
func (m *model) catchUp() {
	now := time.Now()
	for changed := true; changed; {
		changed = false
		for id, x := range m.messages {
			switch {
			case x.state == "locked" && !x.locked.After(now):
				m.giveBack(x, true)
				changed = true
			case (x.state == "ready" || x.state == "deferred") && !x.expires.IsZero() && !x.expires.After(now):
				delete(m.messages, id)
				changed = true
			}
		}
	}
}

func (m *model) giveBack(x *modelMessage, count bool) {
	x.token = amqp.UUID{}
	if count {
		x.count++
	}
	switch {
	case x.count >= modelAttempts:
		x.state, x.expires = "dead", time.Time{}
	case x.parked:
		x.state = "deferred"
	default:
		x.state = "ready"
	}
}

// ids are the ids of messages in some state, by number.
func (m *model) ids(states ...string) []string {
	all := slices.DeleteFunc(slices.Collect(maps.Keys(m.messages)), func(id string) bool {
		return !slices.Contains(states, m.messages[id].state)
	})
	slices.SortFunc(all, func(a, b string) int { return int(m.messages[a].seq - m.messages[b].seq) })
	return all
}

func (m *model) check(t *rapid.T) {
	synctest.Wait()
	m.catchUp()
	if got, want := fmt.Sprint(peek(m.t, m.broker, "q")), fmt.Sprint(m.ids("ready", "locked", "deferred")); got != want {
		t.Fatalf("the queue has %s, want %s", got, want)
	}
	if got, want := fmt.Sprint(peek(m.t, m.broker, deadLetters)), fmt.Sprint(m.ids("dead")); got != want {
		t.Fatalf("the dead-letter queue has %s, want %s", got, want)
	}
	for _, d := range must.Get(m.source.Peek(0, 1000, nil))(t) {
		g := parse(m.t, d)
		if x := m.messages[g.id()]; x.count != g.Header().DeliveryCount || x.seq != g.Sequence {
			t.Fatalf("message %s has count %d and number %d, want %d and %d", g.id(), g.Header().DeliveryCount, g.Sequence, x.count, x.seq)
		}
	}
	counts := must.Get(m.broker.Entity("q"))(t).Usage.Counts
	if counts.Active != int64(len(m.ids("ready", "locked", "deferred"))) || counts.DeadLetter != int64(len(m.ids("dead"))) {
		t.Fatalf("counts %+v", counts)
	}
}

func (m *model) send(t *rapid.T) {
	var batch []amqp.Message
	for range rapid.IntRange(1, 5).Draw(t, "batch") {
		m.sent++
		m.seq++
		x := &modelMessage{seq: m.seq, state: "ready"}
		s := spec{id: strconv.Itoa(m.sent)}
		if rapid.Bool().Draw(t, "expires") {
			s.ttl = time.Duration(rapid.IntRange(1, 30).Draw(t, "ttl")) * time.Second
			x.expires = time.Now().Add(s.ttl)
		}
		m.messages[s.id] = x
		batch = append(batch, build(m.t, s))
	}
	receipt := must.Get(target(m.t, m.broker, "q").Send(batch, nil))(t)
	must.Do(t, receipt.Wait())
}

func (m *model) receive(t *rapid.T) {
	n := rapid.IntRange(1, 5).Draw(t, "credit")
	m.catchUp()
	want := m.ids("ready")
	want = want[:min(n, len(want))]
	m.receiver.SetCredit(uint32(n))
	var have []string
	for {
		d, ok := m.receiver.Next(nil)
		if !ok {
			break
		}
		g := parse(m.t, d)
		have = append(have, g.id())
		x := m.messages[g.id()]
		if x == nil {
			t.Fatalf("message %s should not be", g.id())
		}
		x.state, x.token, x.locked = "locked", d.Token, d.LockedUntil
		if time.Until(d.LockedUntil) != modelLock {
			t.Fatalf("locked for %v", time.Until(d.LockedUntil))
		}
	}
	m.receiver.SetCredit(0)
	if fmt.Sprint(have) != fmt.Sprint(want) {
		t.Fatalf("got %v, want %v", have, want)
	}
}

// pick returns a message that was ever locked, whose lock may be over.
func (m *model) pick(t *rapid.T) *modelMessage {
	m.catchUp()
	all := m.ids("locked")
	if len(all) == 0 {
		t.Skip("nothing is locked")
	}
	return m.messages[rapid.SampledFrom(all).Draw(t, "message")]
}

func (m *model) settle(t *rapid.T) {
	x := m.pick(t)
	kind := rapid.SampledFrom([]broker.OutcomeKind{
		broker.Complete, broker.Abandon, broker.Release, broker.Defer, broker.MoveDeadLetter,
	}).Draw(t, "outcome")
	receipt, err := m.source.Settle(x.token, broker.Outcome{Kind: kind}, nil)
	if err == nil {
		err = receipt.Wait()
	}
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.source.Settle(x.token, broker.Outcome{}, nil)
	if broker.Condition(err) != broker.MessageLockLost {
		t.Fatalf("a token was good twice: %v", err)
	}
	switch kind {
	case broker.Complete:
		for id, other := range m.messages {
			if other == x {
				delete(m.messages, id)
			}
		}
	case broker.Defer:
		x.state, x.parked = "deferred", true
	case broker.MoveDeadLetter:
		x.state, x.expires = "dead", time.Time{}
	default:
		m.giveBack(x, kind == broker.Abandon)
	}
}

func (m *model) receiveDeferred(t *rapid.T) {
	m.catchUp()
	all := m.ids("deferred")
	if len(all) == 0 {
		t.Skip("nothing is deferred")
	}
	x := m.messages[rapid.SampledFrom(all).Draw(t, "message")]
	d, _, err := m.source.ReceiveDeferred([]int64{x.seq}, broker.PeekLock, nil)
	if err != nil {
		t.Fatal(err)
	}
	x.state, x.token, x.locked = "locked", d[0].Token, d[0].LockedUntil
}

func (m *model) renew(t *rapid.T) {
	x := m.pick(t)
	x.locked = must.Get(m.source.Renew(x.token))(t)
}

func (m *model) wait(t *rapid.T) {
	pass(time.Duration(rapid.IntRange(1, 15).Draw(t, "seconds")) * time.Second)
}

func (m *model) snapshot(t *rapid.T) {
	must.Do(t, m.broker.Snapshot())
}

// restart ends the broker in good order or as a crash would, and starts another. Locks do not outlive it.
func (m *model) restart(t *rapid.T) {
	m.catchUp()
	synctest.Wait()
	dir := m.dir
	if rapid.Bool().Draw(t, "crash") {
		must.Do(t, m.broker.Flush())
		m.dir = crash(m.t, dir)
		m.stop()
	} else {
		m.stop()
	}
	for _, x := range m.messages {
		if x.state == "locked" {
			m.giveBack(x, false)
		}
	}
	m.open()
}

func (m *model) open() {
	m.broker, m.stop = start(m.t, broker.Config{Dir: m.dir})
	if _, err := m.broker.Entity("q"); err != nil {
		must.Get(m.broker.CreateQueue("q", broker.Options{LockDuration: modelLock, MaxDeliveryCount: modelAttempts}))(m.t)
	}
	m.receiver = receive(m.t, m.broker, "q", broker.ReceiverConfig{})
	m.source = m.receiver.source
}

// undated hides the deadline of a test, which is none of a bubble's time.
type undated struct{ rapid.TB }

// TestModel drives a queue and the model with the same operations, and compares what they have: nothing is lost or duplicated.
func TestModel(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		rapid.Check(undated{t}, func(rt *rapid.T) {
			m := &model{t: t, dir: t.TempDir(), messages: map[string]*modelMessage{}}
			m.open()
			defer func() { m.stop() }()
			rt.Repeat(map[string]func(*rapid.T){
				"": m.check, "send": m.send, "receive": m.receive, "settle": m.settle, "receiveDeferred": m.receiveDeferred,
				"renew": m.renew, "wait": m.wait, "restart": m.restart, "snapshot": m.snapshot,
			})
		})
	})
}
