package broker_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
	"github.com/carillon-sched/carillon/integration/testkit/bubble"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// A modelSession is what the model knows of a session: its messages in their order, and who has it.
type modelSession struct {
	id       string
	messages []*sessionMessage
	client   *client // nil if it is free
	until    time.Time
}

type sessionMessage struct {
	id     string
	count  uint32
	locked *got // nil if it is not
}

// A sessionModel is a queue with sessions that are looked through for everything.
type sessionModel struct {
	t        testing.TB
	broker   *broker.Broker
	source   *broker.Source
	sessions []*modelSession
	sent     int
}

// catchUp does what time has brought: locks end, and what they held counts as delivered.
func (m *sessionModel) catchUp() {
	for _, s := range m.sessions {
		if s.client != nil && !s.until.After(time.Now()) {
			m.release(s, true)
		}
	}
}

func (m *sessionModel) release(s *modelSession, lost bool) {
	s.client = nil
	s.messages = slices.DeleteFunc(s.messages, func(x *sessionMessage) bool {
		if x.locked != nil && lost {
			x.count++
		}
		x.locked = nil
		return x.count >= modelAttempts
	})
}

// pick returns a session of which something is true.
func (m *sessionModel) pick(t *rapid.T, ok func(*modelSession) bool) *modelSession {
	m.catchUp()
	var fitting []int
	for i, s := range m.sessions {
		if ok(s) {
			fitting = append(fitting, i)
		}
	}
	if len(fitting) == 0 {
		t.Skip("no session fits")
	}
	return m.sessions[rapid.SampledFrom(fitting).Draw(t, "session")]
}

func (m *sessionModel) check(t *rapid.T) {
	synctest.Wait()
	m.catchUp()
	var withMessages []string
	for _, s := range m.sessions {
		var have, want []string
		for _, d := range must.Get(m.source.Peek(0, 1000, &s.id))(t) {
			g := parse(m.t, d)
			have = append(have, fmt.Sprint(g.id(), "/", g.Header().DeliveryCount))
		}
		for _, x := range s.messages {
			want = append(want, fmt.Sprint(x.id, "/", x.count))
		}
		if !slices.Equal(have, want) {
			t.Fatalf("session %s has %v, want %v", s.id, have, want)
		}
		if len(want) > 0 {
			withMessages = append(withMessages, s.id)
		}
		if s.client != nil && s.client.Err() != nil {
			t.Fatalf("session %s: %v", s.id, s.client.Err())
		}
	}
	if got := must.Get(m.source.Sessions(time.Time{}, 0, 10))(t); !slices.Equal(got, withMessages) {
		t.Fatalf("sessions %v, want %v", got, withMessages)
	}
}

func (m *sessionModel) send(t *rapid.T) {
	s := m.pick(t, func(*modelSession) bool { return true })
	m.sent++
	x := &sessionMessage{id: strconv.Itoa(m.sent)}
	s.messages = append(s.messages, x)
	send(m.t, m.broker, "q", spec{id: x.id, session: s.id})
}

func (m *sessionModel) own(s *modelSession, locked *broker.Session) {
	s.client = receive(m.t, m.broker, "q", broker.ReceiverConfig{Session: locked})
	s.until = locked.LockedUntil()
}

func (m *sessionModel) accept(t *rapid.T) {
	s := m.pick(t, func(*modelSession) bool { return true })
	locked, err := m.source.Accept(s.id)
	if s.client != nil {
		if broker.Condition(err) != broker.SessionCannotBeLocked {
			t.Fatalf("session %s was given to two: %v", s.id, err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	m.own(s, locked)
}

// acceptNext takes a session that is free and has messages, if there is one.
func (m *sessionModel) acceptNext(t *rapid.T) {
	m.catchUp()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	free := slices.ContainsFunc(m.sessions, func(s *modelSession) bool { return s.client == nil && len(s.messages) > 0 })
	locked, err := m.source.AcceptNext(ctx)
	if (err == nil) != free {
		t.Fatalf("a session is free: %v; got %v", free, err)
	}
	if err != nil {
		return
	}
	s := m.sessions[slices.IndexFunc(m.sessions, func(s *modelSession) bool { return s.id == locked.ID() })]
	if s.client != nil || len(s.messages) == 0 {
		t.Fatalf("session %s is not free, or empty", s.id)
	}
	m.own(s, locked)
}

func isOwned(s *modelSession) bool { return s.client != nil }

func (m *sessionModel) receive(t *rapid.T) {
	s := m.pick(t, isOwned)
	n := rapid.IntRange(1, 4).Draw(t, "credit")
	s.client.SetCredit(uint32(n))
	for range n {
		i := slices.IndexFunc(s.messages, func(x *sessionMessage) bool { return x.locked == nil })
		d, ok := s.client.Next(nil)
		if ok != (i >= 0) {
			t.Fatalf("session %s has a message: %v, want %v", s.id, ok, i >= 0)
		}
		if !ok {
			break
		}
		g := parse(m.t, d)
		if g.id() != s.messages[i].id {
			t.Fatalf("session %s: got %s, want %s", s.id, g.id(), s.messages[i].id)
		}
		s.messages[i].locked = &g
	}
	s.client.SetCredit(0)
}

func (m *sessionModel) settle(t *rapid.T) {
	s := m.pick(t, func(s *modelSession) bool {
		return slices.ContainsFunc(s.messages, func(x *sessionMessage) bool { return x.locked != nil })
	})
	i := slices.IndexFunc(s.messages, func(x *sessionMessage) bool { return x.locked != nil })
	x := s.messages[i]
	kind := rapid.SampledFrom([]broker.OutcomeKind{broker.Complete, broker.Abandon, broker.Release}).Draw(t, "outcome")
	s.client.settle(*x.locked, broker.Outcome{Kind: kind})
	x.locked = nil
	if kind == broker.Abandon {
		x.count++
	}
	if kind == broker.Complete || x.count >= modelAttempts {
		s.messages = slices.Delete(s.messages, i, i+1)
	}
}

func (m *sessionModel) renew(t *rapid.T) {
	s := m.pick(t, isOwned)
	s.until = must.Get(m.source.RenewSession(s.id))(t)
}

func (m *sessionModel) close(t *rapid.T) {
	s := m.pick(t, isOwned)
	s.client.Close()
	m.release(s, false)
}

func (*sessionModel) wait(t *rapid.T) {
	pass(time.Duration(rapid.IntRange(1, 12).Draw(t, "seconds")) * time.Second)
}

// TestSessionModel drives a queue with sessions and the model with the same operations, and compares what they have.
func TestSessionModel(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		rapid.Check(undated{t}, func(rt *rapid.T) {
			b, stop := start(t, broker.Config{})
			defer stop()
			must.Get(b.CreateQueue("q", broker.Options{RequiresSession: true, LockDuration: modelLock, MaxDeliveryCount: modelAttempts}))(rt)
			m := &sessionModel{t: t, broker: b, source: source(t, b, "q"), sessions: []*modelSession{{id: "a"}, {id: "b"}, {id: "c"}}}
			rt.Repeat(map[string]func(*rapid.T){
				"": m.check, "send": m.send, "accept": m.accept, "acceptNext": m.acceptNext, "receive": m.receive, "settle": m.settle,
				"renew": m.renew, "close": m.close, "wait": m.wait,
			})
		})
	})
}
