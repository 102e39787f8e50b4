package broker_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
	"github.com/carillon-sched/carillon/integration/testkit/bubble"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

func queue(t *testing.T, options broker.Options, f func(t *testing.T, b *broker.Broker)) {
	t.Helper()
	onFakeTime(t, func(t *testing.T, b *broker.Broker) {
		must.Get(b.CreateQueue("q", options))(t)
		f(t, b)
	})
}

const deadLetters = "q/$DeadLetterQueue"

func TestSendAndReceive(t *testing.T) {
	queue(t, broker.Options{LockDuration: 30 * time.Second}, func(t *testing.T, b *broker.Broker) {
		now := time.Now().UTC()
		send(t, b, "Q", spec{id: "a", label: "hello", ttl: time.Hour, properties: amqp.Map{{Key: "k", Value: int32(5)}}})
		r := receive(t, b, "q", broker.ReceiverConfig{})
		if _, ok := r.Next(nil); ok {
			t.Fatal("a message without credit")
		}
		r.SetCredit(10)
		if r.woken != 1 {
			t.Errorf("woken %d times", r.woken)
		}
		m := r.next()
		header, annotations := m.Header(), m.MessageAnnotations()
		if header != (amqp.Header{Durable: true, Priority: 4, TTL: time.Hour}) {
			t.Errorf("%+v", header)
		}
		for key, want := range map[string]any{
			"x-opt-sequence-number": int64(1), "x-opt-enqueued-time": now, "x-opt-locked-until": now.Add(30 * time.Second),
			"x-opt-enqueue-sequence-number": nil, "x-opt-message-state": nil,
		} {
			if got := annotations.Get(key); got != want {
				t.Errorf("%s: %v (%T), want %v", key, got, got, want)
			}
		}
		if got := m.DeliveryAnnotations(); len(got) != 1 || got.Get("x-opt-lock-token") != m.Token {
			t.Errorf("delivery annotations %v, want the token %v", got, m.Token)
		}
		if m.Properties().Subject != "hello" || m.ApplicationProperties().Get("k") != int32(5) || string(m.Data()[0]) != "body of a" {
			t.Error("the message has changed")
		}
		if m.LockedUntil != now.Add(30*time.Second) || m.Sequence != 1 {
			t.Errorf("%+v", m.Delivery)
		}
		r.settle(m, broker.Outcome{})
		_, err := r.source.Settle(m.Token, broker.Outcome{}, nil)
		wantCondition(t, err, broker.MessageLockLost)
		if info := must.Get(b.Entity("q"))(t); info.Usage.Total() != 0 || info.Usage.Size != 0 {
			t.Errorf("%+v", info.Usage)
		}
	})
}

func TestReceiversTakeTurns(t *testing.T) {
	queue(t, broker.Options{}, func(t *testing.T, b *broker.Broker) {
		var receivers []*client
		for range 4 {
			r := receive(t, b, "q", broker.ReceiverConfig{})
			r.SetCredit(5)
			receivers = append(receivers, r)
		}
		send(t, b, "q", ids(12)...)
		for i, r := range receivers {
			if got := r.all(); len(got) != 3 || r.woken != 1 {
				t.Errorf("receiver %d: messages %v, woken %d times", i, got, r.woken)
			}
		}
	})
}

// TestSlowReceiver shows that one which does not fetch holds little, and not for long.
func TestSlowReceiver(t *testing.T) {
	queue(t, broker.Options{}, func(t *testing.T, b *broker.Broker) {
		send(t, b, "q", ids(200)...)
		slow := receive(t, b, "q", broker.ReceiverConfig{})
		slow.SetCredit(1000)
		quick := receive(t, b, "q", broker.ReceiverConfig{Mode: broker.ReceiveAndDelete})
		quick.SetCredit(1000)
		if got := quick.all(); len(got) != 200-64 {
			t.Errorf("%d messages are left", len(got))
		}
		slow.SetCredit(10)
		if got := quick.all(); len(got) != 54 {
			t.Errorf("%d messages were given back", len(got))
		}
		slow.Close()
		quick.SetCredit(1000)
		if got := quick.all(); len(got) != 10 {
			t.Errorf("%d messages were given back", len(got))
		}
	})
}

func TestUnfetchedDeliveryDoesNotCount(t *testing.T) {
	queue(t, broker.Options{LockDuration: time.Second, MaxDeliveryCount: 1}, func(t *testing.T, b *broker.Broker) {
		send(t, b, "q", ids(1)...)
		slow := receive(t, b, "q", broker.ReceiverConfig{})
		slow.SetCredit(1)
		pass(time.Minute)
		m := slow.next()
		if m.Header().DeliveryCount != 0 {
			t.Errorf("count %d", m.Header().DeliveryCount)
		}
		if m.LockedUntil.Before(time.Now()) {
			t.Error("the lock is over already")
		}
		pass(2 * time.Second)
		wantReason(t, first(t, b, deadLetters), "MaxDeliveryCountExceeded")
		if text := first(t, b, deadLetters).ApplicationProperties().Get("DeadLetterErrorDescription"); text !=
			"Message could not be consumed after 1 delivery attempts." {
			t.Error(text)
		}
	})
}

func TestDeadLetter(t *testing.T) {
	queue(t, broker.Options{RequiresSession: true}, func(t *testing.T, b *broker.Broker) {
		send(t, b, "q", spec{id: "1", session: "s"})
		session := must.Get(source(t, b, "q").Accept("s"))(t)
		r := receive(t, b, "q", broker.ReceiverConfig{Session: session})
		r.SetCredit(1)
		r.settle(r.next(), broker.Outcome{
			Kind: broker.MoveDeadLetter, Reason: "bad", Description: "very", Properties: amqp.Map{{Key: "k", Value: "v"}},
		})
		d := receive(t, b, deadLetters, broker.ReceiverConfig{})
		d.SetCredit(5)
		m := d.next()
		wantReason(t, m, "bad")
		p := m.ApplicationProperties()
		if p.Get("DeadLetterErrorDescription") != "very" || p.Get("k") != "v" || m.Properties().GroupID != "s" {
			t.Errorf("%v", p)
		}
		_, err := d.source.Settle(m.Token, broker.Outcome{Kind: broker.MoveDeadLetter}, nil)
		wantCondition(t, err, broker.NotAllowed)
		for range 20 { // no limit here, and nothing is counted
			d.settle(m, broker.Outcome{Kind: broker.Abandon})
			d.SetCredit(1)
			m = d.next()
		}
		pass(time.Hour) // nor are locks that are lost
		d.SetCredit(1)
		if m = d.next(); m.Header().DeliveryCount != 0 {
			t.Errorf("count %d", m.Header().DeliveryCount)
		}
		d.settle(m, broker.Outcome{})
		if counts := must.Get(b.Entity("q"))(t).Usage.Counts; counts.Total() != 0 {
			t.Errorf("%+v", counts)
		}
	})
}

func TestTTL(t *testing.T) {
	for _, keep := range []bool{false, true} {
		queue(t, broker.Options{DefaultTTL: time.Minute, DeadLetterOnExpiration: keep}, func(t *testing.T, b *broker.Broker) {
			send(t, b, "q", spec{id: "long", ttl: time.Hour}, spec{id: "short", ttl: time.Second}, spec{id: "default"})
			if ttl := first(t, b, "q").Header().TTL; ttl != time.Minute {
				t.Errorf("ttl %v", ttl)
			}
			pass(time.Second)
			wantIDs(t, peek(t, b, "q"), "long", "default")
			r := receive(t, b, "q", broker.ReceiverConfig{})
			r.SetCredit(1)
			locked := r.next()
			pass(59 * time.Second) // the lock has been taken later
			r.settle(locked, broker.Outcome{})
			wantIDs(t, peek(t, b, "q"))
			if keep {
				wantIDs(t, peek(t, b, deadLetters), "short", "default")
				wantReason(t, first(t, b, deadLetters), "TTLExpiredException")
				pass(time.Hour)
				wantIDs(t, peek(t, b, deadLetters), "short", "default")
			} else {
				wantIDs(t, peek(t, b, deadLetters))
			}
		})
	}
}

// TestExpiredMessageIsNotDelivered shows that nothing depends on when the broker comes to look.
func TestExpiredMessageIsNotDelivered(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		b := broker.New(broker.Config{}) // does not run
		must.Get(b.CreateQueue("q", broker.Options{DeadLetterOnExpiration: true, LockDuration: time.Second}))(t)
		send(t, b, "q", spec{id: "1", ttl: time.Second}, spec{id: "2"})
		time.Sleep(time.Second)
		r := receive(t, b, "q", broker.ReceiverConfig{})
		r.SetCredit(5)
		wantIDs(t, r.all(), "2")
		wantIDs(t, peek(t, b, deadLetters), "1")
	})
}

func TestSchedule(t *testing.T) {
	queue(t, broker.Options{}, func(t *testing.T, b *broker.Broker) {
		at := time.Now().Add(time.Hour)
		to := target(t, b, "q")
		numbers, _, err := to.Schedule([]amqp.Message{build(t, spec{id: "1", at: at}), build(t, spec{id: "2", at: at})}, nil)
		if err != nil || fmt.Sprint(numbers) != "[1 2]" {
			t.Fatal(numbers, err)
		}
		send(t, b, "q", spec{id: "3"}, spec{id: "past", at: time.Now().Add(-time.Hour)})
		if counts := must.Get(b.Entity("q"))(t).Usage.Counts; counts.Scheduled != 2 || counts.Active != 2 {
			t.Errorf("%+v", counts)
		}
		if got := first(t, b, "q"); got.MessageAnnotations().Get("x-opt-message-state") != int32(2) {
			t.Error("not scheduled")
		}
		for _, wrong := range [][]int64{{1, 3}, {1, 1}, {-1}} {
			_, err = to.Cancel(wrong)
			wantCondition(t, err, broker.MessageNotFound)
		}
		must.Get(to.Cancel([]int64{1}))(t)
		r := receive(t, b, "q", broker.ReceiverConfig{Mode: broker.ReceiveAndDelete})
		r.SetCredit(5)
		wantIDs(t, r.all(), "3", "past")
		pass(time.Hour - time.Millisecond)
		wantIDs(t, r.all())
		pass(time.Millisecond)
		m := r.next()
		if m.id() != "2" || m.Sequence != 5 || m.MessageAnnotations().Get("x-opt-enqueued-time") != time.Now().UTC() {
			t.Errorf("%+v", m.Delivery)
		}
	})
}

func TestDuplicates(t *testing.T) {
	queue(t, broker.Options{DuplicateDetection: true, DuplicateWindow: time.Minute}, func(t *testing.T, b *broker.Broker) {
		send(t, b, "q", spec{id: "a"}, spec{id: "a"}, spec{id: "b"}, spec{}, spec{})
		if n := len(peek(t, b, "q")); n != 4 {
			t.Errorf("%d messages", n)
		}
		r := receive(t, b, "q", broker.ReceiverConfig{Mode: broker.ReceiveAndDelete})
		r.SetCredit(100)
		r.all()
		pass(59 * time.Second)
		send(t, b, "q", spec{id: "a"})
		wantIDs(t, r.all())
		pass(time.Second)
		send(t, b, "q", spec{id: "a"})
		wantIDs(t, r.all(), "a")
	})
}

func TestBatchIsAllOrNothing(t *testing.T) {
	queue(t, broker.Options{MaxSize: 1000, MaxMessageSize: 200}, func(t *testing.T, b *broker.Broker) {
		to := target(t, b, "q")
		big := build(t, spec{id: "big", label: string(make([]byte, 300))})
		_, err := to.Send([]amqp.Message{build(t, spec{id: "1"}), big}, nil)
		wantCondition(t, err, broker.MessageSizeExceeded)
		var many []amqp.Message
		for _, s := range ids(100) {
			many = append(many, build(t, s))
		}
		_, err = to.Send(many, nil)
		wantCondition(t, err, broker.ResourceLimitExceeded)
		wantIDs(t, peek(t, b, "q"))
		must.Get(to.Send(many[:3], nil))(t)
		wantIDs(t, peek(t, b, "q"), "1", "2", "3")
	})
}

func TestDelete(t *testing.T) {
	queue(t, broker.Options{}, func(t *testing.T, b *broker.Broker) {
		send(t, b, "q", ids(3)...)
		pass(time.Second)
		cutoff := time.Now()
		send(t, b, "q", spec{id: "late"})
		r := receive(t, b, "q", broker.ReceiverConfig{})
		r.SetCredit(1)
		r.next()
		if n, _, err := r.source.Delete(10, cutoff); n != 2 || err != nil {
			t.Error(n, err)
		}
		wantIDs(t, peek(t, b, "q"), "1", "late")
		if n, _, err := r.source.Delete(1, time.Time{}); n != 1 || err != nil {
			t.Error(n, err)
		}
		wantIDs(t, peek(t, b, "q"), "1")
	})
}

func TestStatus(t *testing.T) {
	queue(t, broker.Options{}, func(t *testing.T, b *broker.Broker) {
		r := receive(t, b, "q", broker.ReceiverConfig{})
		must.Get(b.Update(broker.QueueKind, "q", broker.Options{Status: broker.ReceiveDisabled}))(t)
		wantCondition(t, r.Err(), broker.EntityDisabled)
		if r.woken != 1 {
			t.Error("not woken")
		}
		send(t, b, "q", spec{id: "1"})
		_, err := source(t, b, "q").Receive(broker.ReceiverConfig{})
		wantCondition(t, err, broker.EntityDisabled)
		must.Get(b.Update(broker.QueueKind, "q", broker.Options{Status: broker.SendDisabled}))(t)
		_, err = target(t, b, "q").Send([]amqp.Message{build(t, spec{})}, nil)
		wantCondition(t, err, broker.EntityDisabled)
		r.Close()
		r = receive(t, b, "q", broker.ReceiverConfig{})
		r.SetCredit(1)
		wantIDs(t, r.all(), "1")
	})
}

func TestAutoDeleteOnIdle(t *testing.T) {
	queue(t, broker.Options{AutoDeleteOnIdle: 5 * time.Minute}, func(t *testing.T, b *broker.Broker) {
		pass(4 * time.Minute)
		send(t, b, "q", spec{id: "1"})
		pass(4 * time.Minute)
		r := receive(t, b, "q", broker.ReceiverConfig{})
		pass(time.Hour)
		if _, err := b.Entity("q"); err != nil {
			t.Fatal("deleted under a receiver")
		}
		r.Close()
		pass(5*time.Minute - time.Millisecond)
		if _, err := b.Entity("q"); err != nil {
			t.Fatal("deleted too early")
		}
		pass(time.Millisecond)
		_, err := b.Entity("q")
		wantCondition(t, err, broker.NotFound)
	})
}

// TestIDsInCharacters has ids and keys at the limit of 128 characters, as .NET counts them, and one character beyond it.
func TestIDsInCharacters(t *testing.T) {
	queue(t, broker.Options{}, func(t *testing.T, b *broker.Broker) {
		for what, build := range map[string]func(id string) amqp.Message{
			"message id":    func(id string) amqp.Message { return build(t, spec{id: id}) },
			"session id":    func(id string) amqp.Message { return build(t, spec{session: id}) },
			"partition key": func(id string) amqp.Message { return build(t, spec{partition: id}) },
		} {
			for _, most := range []string{
				strings.Repeat("a", 128),
				strings.Repeat("é", 128), // 256 bytes
				strings.Repeat("€", 128),
				strings.Repeat("𝄞", 64), // 64 runes, 128 code units
			} {
				if _, err := target(t, b, "q").Send([]amqp.Message{build(most)}, nil); err != nil {
					t.Errorf("%s %q: %v", what, most, err)
				}
				_, err := target(t, b, "q").Send([]amqp.Message{build(most + "a")}, nil)
				wantCondition(t, err, broker.InvalidField)
			}
		}
	})
}

// TestAcceptCountsCharacters accepts a session by an id at the limit, and one beyond it.
func TestAcceptCountsCharacters(t *testing.T) {
	sessionQueue(t, func(t *testing.T, b *broker.Broker) {
		for _, most := range []string{strings.Repeat("é", 128), strings.Repeat("𝄞", 64)} {
			if _, err := source(t, b, "q").Accept(most); err != nil {
				t.Errorf("%q: %v", most, err)
			}
			_, err := source(t, b, "q").Accept(most + "a")
			wantCondition(t, err, broker.InvalidField)
		}
	})
}

// TestAnnotationsOfTheSender shows that they come back beside those of the broker, which a sender cannot forge.
func TestAnnotationsOfTheSender(t *testing.T) {
	queue(t, broker.Options{}, func(t *testing.T, b *broker.Broker) {
		send(t, b, "q", spec{id: "1", delivery: amqp.Map{
			{Key: amqp.Symbol("x-opt-mine"), Value: "kept"}, {Key: amqp.Symbol("x-opt-lock-token"), Value: "forged"},
		}})
		wantMine := func(m got, token any) {
			t.Helper()
			if a := m.DeliveryAnnotations(); a.Get("x-opt-mine") != "kept" || a.Get("x-opt-lock-token") != token {
				t.Errorf("%v", a)
			}
		}
		wantMine(first(t, b, "q"), nil)
		r := receive(t, b, "q", broker.ReceiverConfig{})
		r.SetCredit(1)
		m := r.next()
		wantMine(m, m.Token)
		r.settle(m, broker.Outcome{Kind: broker.Abandon})
		gone := receive(t, b, "q", broker.ReceiverConfig{Mode: broker.ReceiveAndDelete})
		gone.SetCredit(1)
		wantMine(gone.next(), nil)
	})
}
