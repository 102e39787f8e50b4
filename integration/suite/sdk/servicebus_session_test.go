package sdk

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/integration/testkit/must"
)

const sessionful = `"RequiresSession": true`

func inSession(session, body string) *azservicebus.Message {
	return &azservicebus.Message{SessionID: new(session), Body: []byte(body)}
}

func accept(tb testing.TB, client *azservicebus.Client, session string) *azservicebus.SessionReceiver {
	tb.Helper()
	return must.Get(client.AcceptSessionForQueue(within(tb), "orders", session, nil))(tb)
}

func acceptNext(tb testing.TB, client *azservicebus.Client) *azservicebus.SessionReceiver {
	tb.Helper()
	return must.Get(client.AcceptNextSessionForQueue(within(tb), "orders", nil))(tb)
}

// TestServiceBusSession shows that a session has its messages in order and its lock for itself.
func TestServiceBusSession(t *testing.T) {
	client := connect(t, queue("orders", sessionful))
	for i := range 3 {
		send(t, client, "orders", inSession("a", fmt.Sprint("a", i)))
		send(t, client, "orders", inSession("b", fmt.Sprint("b", i)))
	}
	r := accept(t, client, "a")
	if r.SessionID() != "a" || !r.LockedUntil().After(time.Now()) {
		t.Error(r.SessionID(), r.LockedUntil())
	}
	for i, message := range receive(t, r, 3) {
		if string(message.Body) != fmt.Sprint("a", i) || *message.SessionID != "a" {
			t.Errorf("message %d is %q of %q", i, message.Body, *message.SessionID)
		}
		must.Do(t, r.CompleteMessage(within(t), message, nil))
	}
	none(t, r)
	if _, err := client.AcceptSessionForQueue(within(t), "orders", "a", nil); err == nil {
		t.Fatal("a session was accepted twice")
	}
	other := acceptNext(t, client)
	if other.SessionID() != "b" {
		t.Error("next is", other.SessionID())
	}
	before := r.LockedUntil()
	must.Do(t, r.RenewSessionLock(within(t), nil))
	if !r.LockedUntil().After(before) {
		t.Error("renewed to", r.LockedUntil(), "from", before)
	}
	must.Do(t, r.Close(within(t)))
	must.Do(t, accept(t, client, "a").Close(within(t)))
}

// TestServiceBusNextSession shows that waiting for any session ends when one has a message, and in time if none has.
func TestServiceBusNextSession(t *testing.T) {
	client := connect(t, queue("orders", sessionful))
	begun := time.Now()
	_, err := client.AcceptNextSessionForQueue(briefly(t, 8*time.Second), "orders", nil)
	wantCode(t, err, azservicebus.CodeTimeout)
	if time.Since(begun) < 6*time.Second {
		t.Error("gave up after", time.Since(begun))
	}
	accepted := make(chan *azservicebus.SessionReceiver)
	go func() {
		r, err := client.AcceptNextSessionForQueue(within(t), "orders", nil)
		if err != nil {
			t.Error(err)
		}
		accepted <- r
	}()
	send(t, client, "orders", inSession("late", "x"))
	if r := <-accepted; r.SessionID() != "late" {
		t.Error(r.SessionID())
	} else {
		one(t, r, "x")
	}
}

func TestServiceBusSessionDeferAndDeadLetter(t *testing.T) {
	client := connect(t, queue("orders", sessionful))
	send(t, client, "orders", inSession("a", "defer"))
	send(t, client, "orders", inSession("a", "dead"))
	r := accept(t, client, "a")
	messages := receive(t, r, 2)
	must.Do(t, r.DeferMessage(within(t), messages[0], nil))
	must.Do(t, r.DeadLetterMessage(within(t), messages[1], nil))
	deferred := must.Get(r.ReceiveDeferredMessages(within(t), []int64{*messages[0].SequenceNumber}, nil))(t)
	if len(deferred) != 1 || string(deferred[0].Body) != "defer" {
		t.Fatal(len(deferred))
	}
	must.Do(t, r.CompleteMessage(within(t), deferred[0], nil))
	one(t, receiver(t, client, "orders/$dead"), "dead") // by an ordinary receiver
}

func TestServiceBusSessionPeek(t *testing.T) {
	client := connect(t, queue("orders", sessionful))
	send(t, client, "orders", inSession("a", "a"))
	send(t, client, "orders", inSession("b", "b"))
	peeked, err := accept(t, client, "b").PeekMessages(within(t), 10, nil)
	must.Do(t, err)
	if len(peeked) != 1 || string(peeked[0].Body) != "b" {
		t.Error("peeked", len(peeked))
	}
	peeked, err = receiver(t, client, "orders").PeekMessages(within(t), 10, nil)
	if err == nil && len(peeked) != 2 {
		t.Error("peeked without a session", len(peeked))
	}
}

func TestServiceBusListSessions(t *testing.T) {
	client := connect(t, queue("orders", sessionful))
	want := []string{"a", "b", "c"}
	for _, session := range want {
		send(t, client, "orders", inSession(session, "x"))
	}
	var got []string
	pager := client.NewListSessionsForQueuePager("orders", nil)
	for pager.More() {
		page := must.Get(pager.NextPage(within(t)))(t)
		got = append(got, page.Sessions...)
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestServiceBusScheduledInSession shows that a scheduled message keeps its session.
func TestServiceBusScheduledInSession(t *testing.T) {
	client := connect(t, queue("orders", sessionful))
	must.Get(sender(t, client, "orders").ScheduleMessages(within(t),
		[]*azservicebus.Message{inSession("a", "later")}, time.Now().Add(100*time.Millisecond), nil))(t)
	r := acceptNext(t, client)
	one(t, r, "later")
	if r.SessionID() != "a" {
		t.Error(r.SessionID())
	}
}
