package broker_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
	"github.com/carillon-sched/carillon/integration/testkit/bubble"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

func sessionQueue(t *testing.T, f func(t *testing.T, b *broker.Broker)) {
	t.Helper()
	queue(t, broker.Options{RequiresSession: true, LockDuration: 10 * time.Second, MaxDeliveryCount: 2}, f)
}

func TestSessionIsRequired(t *testing.T) {
	sessionQueue(t, func(t *testing.T, b *broker.Broker) {
		_, err := target(t, b, "q").Send([]amqp.Message{build(t, spec{})}, nil)
		wantCondition(t, err, broker.NotAllowed)
		_, err = source(t, b, "q").Receive(broker.ReceiverConfig{})
		wantCondition(t, err, broker.NotAllowed)
		_, err = source(t, b, deadLetters).Accept("s")
		wantCondition(t, err, broker.NotAllowed)
		if !strings.Contains(err.Error(), "Ensure RequiresSession is set to true when creating") { // clients look for it
			t.Error(err)
		}
		send(t, b, "q", spec{hasSession: true}) // an empty id is one
		must.Get(source(t, b, "q").Accept(""))(t)
	})
}

func TestSessionLockExpiry(t *testing.T) {
	sessionQueue(t, func(t *testing.T, b *broker.Broker) {
		send(t, b, "q", spec{id: "1", session: "s"}, spec{id: "2", session: "s"})
		from := source(t, b, "q")
		r := receive(t, b, "q", broker.ReceiverConfig{Session: must.Get(from.Accept("s"))(t)})
		r.SetCredit(2)
		m := r.next()
		pass(9 * time.Second)
		until, err := from.RenewSession("s")
		if err != nil || until != time.Now().UTC().Add(10*time.Second) {
			t.Error(until, err)
		}
		pass(9 * time.Second)
		if r.Err() != nil {
			t.Error("the lock did not hold")
		}
		pass(time.Second)
		wantCondition(t, r.Err(), broker.SessionLockLost)
		_, err = from.Settle(m.Token, broker.Outcome{}, nil)
		wantCondition(t, err, broker.MessageLockLost)
		_, err = from.RenewSession("s")
		wantCondition(t, err, broker.SessionLockLost)
		_, err = from.SessionState("s")
		wantCondition(t, err, broker.SessionLockLost)
		r.Close()
		r = receive(t, b, "q", broker.ReceiverConfig{Session: must.Get(from.Accept("s"))(t)})
		r.SetCredit(2)
		if m = r.next(); m.id() != "1" || m.Header().DeliveryCount != 1 {
			t.Error("the delivery did not count")
		}
		if m = r.next(); m.id() != "2" || m.Header().DeliveryCount != 0 {
			t.Error("a delivery that was not fetched has counted")
		}
		pass(10 * time.Second)
		wantIDs(t, peek(t, b, deadLetters), "1")
	})
}

func TestAcceptNextWaits(t *testing.T) {
	sessionQueue(t, func(t *testing.T, b *broker.Broker) {
		from := source(t, b, "q")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		begun := time.Now()
		_, err := from.AcceptNext(ctx)
		wantCondition(t, err, broker.Timeout)
		if time.Since(begun) != time.Minute {
			t.Errorf("after %v", time.Since(begun))
		}
		got := make(chan string, 2)
		for range 2 {
			go func() { got <- must.Get(from.AcceptNext(context.Background()))(t).ID() }()
		}
		synctest.Wait()
		send(t, b, "q", spec{session: "a"}, spec{session: "a"})
		if id := <-got; id != "a" {
			t.Error(id)
		}
		synctest.Wait()
		if len(got) != 0 {
			t.Error("one session was given to two")
		}
		pass(10 * time.Second) // the first lock ends
		if id := <-got; id != "a" {
			t.Error(id)
		}
		ended := make(chan error, 1)
		go func() {
			_, err := from.AcceptNext(context.Background())
			ended <- err
		}()
		synctest.Wait()
		must.Do(t, b.Delete("q"))
		wantCondition(t, <-ended, broker.NotFound)
	})
}

func TestSessionState(t *testing.T) {
	sessionQueue(t, func(t *testing.T, b *broker.Broker) {
		from := source(t, b, "q")
		_, err := from.SetSessionState("s", []byte("x"))
		wantCondition(t, err, broker.SessionLockLost)
		s := must.Get(from.Accept("s"))(t)
		if state, err := from.SessionState("s"); state != nil || err != nil {
			t.Error(state, err)
		}
		must.Get(from.SetSessionState("s", []byte("state")))(t)
		s.Close()
		set := time.Now()
		pass(time.Second)
		send(t, b, "q", spec{session: "m"})
		for _, want := range []struct {
			after     time.Time
			skip, top int
			ids       []string
		}{
			{time.Time{}, 0, 100, []string{"m", "s"}},
			{time.Time{}, 1, 100, []string{"s"}},
			{time.Time{}, 0, 1, []string{"m"}},
			{time.Time{}, 5, 1, nil},
			{set.Add(-time.Second), 0, 100, []string{"s"}},
			{set, 0, 100, nil},
		} {
			wantIDs(t, must.Get(from.Sessions(want.after, want.skip, want.top))(t), want.ids...)
		}
		s = must.Get(from.Accept("s"))(t)
		if state := must.Get(from.SessionState("s"))(t); string(state) != "state" {
			t.Errorf("%q", state)
		}
		must.Get(from.SetSessionState("s", []byte{}))(t) // clients have no other way to send nothing
		if state, err := from.SessionState("s"); state != nil || err != nil {
			t.Error(state, err)
		}
		s.Close()
		wantIDs(t, must.Get(from.Sessions(time.Time{}, 0, 100))(t), "m")
	})
}

func TestTTLInSession(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		b := broker.New(broker.Config{}) // does not run, so that only receivers look
		must.Get(b.CreateQueue("q", broker.Options{RequiresSession: true, DeadLetterOnExpiration: true, LockDuration: 10 * time.Second}))(t)
		send(t, b, "q", spec{id: "1", session: "s", ttl: time.Second}, spec{id: "2", session: "s"})
		from := source(t, b, "q")
		r := receive(t, b, "q", broker.ReceiverConfig{Session: must.Get(from.Accept("s"))(t)})
		time.Sleep(time.Second)
		r.SetCredit(5)
		wantIDs(t, r.all(), "2")
		wantIDs(t, peek(t, b, deadLetters), "1")
		time.Sleep(9 * time.Second)
		s, err := from.Accept("s") // the lock of the first is over
		if err != nil {
			t.Fatal(err)
		}
		wantCondition(t, r.Err(), broker.SessionLockLost)
		r = receive(t, b, "q", broker.ReceiverConfig{Session: s})
		r.SetCredit(5)
		if m := r.next(); m.id() != "2" || m.Header().DeliveryCount != 1 {
			t.Error(m.id())
		}
	})
}

// TestSessionsEndWithTheirEntity closes sessions, with and without receivers, whose entity was deleted under them.
func TestSessionsEndWithTheirEntity(t *testing.T) {
	sessionQueue(t, func(t *testing.T, b *broker.Broker) {
		send(t, b, "q", spec{id: "a", session: "a"}, spec{id: "b", session: "b"})
		from := source(t, b, "q")
		r := receive(t, b, "q", broker.ReceiverConfig{Session: must.Get(from.Accept("a"))(t)})
		r.SetCredit(1)
		r.next()
		idle := receive(t, b, "q", broker.ReceiverConfig{Session: must.Get(from.Accept("b"))(t)})
		idle.SetCredit(1)
		alone := must.Get(from.Accept("c"))(t)
		must.Do(t, b.Delete("q"))
		wantCondition(t, r.Err(), broker.NotFound)
		r.Close()
		idle.Close()
		alone.Close()
	})
}
