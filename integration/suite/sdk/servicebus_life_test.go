package sdk

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// poll waits until a condition holds.
func poll(t *testing.T, what string, condition func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	deadline := within(t)
	for !condition() {
		select {
		case <-tick.C:
		case <-deadline.Done():
			t.Fatal("never: ", what)
		}
	}
}

// TestServiceBusRestart shows that with a folder for data everything is there again after a restart.
func TestServiceBusRestart(t *testing.T) {
	dir := t.TempDir()
	keep := func(c *servicebus.Config) { c.Data = dir }
	const namespace = `"Queues": [{"Name": "orders"}, {"Name": "sessions", "Properties": {"RequiresSession": true}}],
		"Topics": [{"Name": "events", "Subscriptions": [{"Name": "s"}]}]`
	server := startBus(t, namespace, keep)
	client := dial(t, server)
	for _, body := range []string{"done", "kept", "deferred", "dead"} {
		send(t, client, "orders", text(body))
	}
	r := receiver(t, client, "orders")
	messages := receive(t, r, 4)
	must.Do(t, r.CompleteMessage(within(t), messages[0], nil))
	must.Do(t, r.AbandonMessage(within(t), messages[1], nil))
	must.Do(t, r.DeferMessage(within(t), messages[2], nil))
	must.Do(t, r.DeadLetterMessage(within(t), messages[3], nil))
	must.Get(sender(t, client, "orders").ScheduleMessages(within(t), []*azservicebus.Message{text("later")}, time.Now().Add(time.Hour), nil))(t)
	send(t, client, "events", text("news"))
	session := must.Get(client.AcceptSessionForQueue(within(t), "sessions", "a", nil))(t)
	must.Do(t, session.SetSessionState(within(t), []byte("state"), nil))
	must.Get(administer(t, server).CreateQueue(within(t), "made", nil))(t)
	must.Do(t, server.Close())

	server = startBus(t, namespace, keep)
	client = dial(t, server)
	r = receiver(t, client, "orders")
	if kept := one(t, r, "kept"); kept.DeliveryCount != 2 || *kept.SequenceNumber != 2 {
		t.Errorf("delivery %d of %d", kept.DeliveryCount, *kept.SequenceNumber)
	}
	none(t, r)
	deferred := must.Get(r.ReceiveDeferredMessages(within(t), []int64{3}, nil))(t)
	if string(deferred[0].Body) != "deferred" {
		t.Errorf("%q", deferred[0].Body)
	}
	one(t, receiver(t, client, "orders/$dead"), "dead")
	one(t, receiver(t, client, "events/s"), "news")
	session = must.Get(client.AcceptSessionForQueue(within(t), "sessions", "a", nil))(t)
	state := must.Get(session.GetSessionState(within(t), nil))(t)
	if string(state) != "state" {
		t.Errorf("state %q", state)
	}
	info := must.Get(administer(t, server).GetQueueRuntimeProperties(within(t), "orders", nil))(t)
	if info.ScheduledMessageCount != 1 {
		t.Errorf("%+v", info)
	}
	send(t, client, "made", text("x"))
}

// TestServiceBusDeleted shows that a receiver learns that its queue is gone, whether it waits or waits later.
func TestServiceBusDeleted(t *testing.T) {
	server := startBus(t, queue("orders", ""))
	client := dial(t, server)
	send(t, client, "orders", text("first"))
	r := receiver(t, client, "orders")
	must.Do(t, r.CompleteMessage(within(t), one(t, r, "first"), nil)) // so the link is there
	received := make(chan error)
	go func() {
		_, err := r.ReceiveMessages(within(t), 1, nil)
		received <- err
	}()
	_, err := administer(t, server).DeleteQueue(within(t), "orders", nil)
	must.Do(t, err)
	if err := <-received; err == nil || !strings.Contains(err.Error(), "The messaging entity 'orders' could not be found.") {
		t.Error(err)
	}
	_, err = receiver(t, client, "orders").ReceiveMessages(within(t), 1, nil)
	wantCode(t, err, azservicebus.CodeNotFound)
}

// TestServiceBusManyConnections shows that a thousand clients are served side by side.
func TestServiceBusManyConnections(t *testing.T) {
	if testing.Short() {
		t.Skip("a thousand clients; run it without -short")
	}
	server := startBus(t, queue("orders", ""))
	const clients = 1000
	limit := make(chan bool, 50)
	failures := make(chan error, clients)
	for i := range clients {
		limit <- true
		go func() {
			defer func() { <-limit }()
			client, err := azservicebus.NewClientFromConnectionString(server.ConnectionString(), quick)
			if err != nil {
				failures <- err
				return
			}
			t.Cleanup(func() { _ = client.Close(context.Background()) })
			s, err := client.NewSender("orders", nil)
			if err == nil {
				err = s.SendMessage(within(t), text(fmt.Sprint("from ", i)), nil)
			}
			failures <- err
		}()
	}
	var problems []error
	for range clients {
		problems = append(problems, <-failures)
	}
	must.Do(t, errors.Join(problems...))
	info := must.Get(server.Broker().Entity("orders"))(t)
	if info.Usage.Active != clients {
		t.Errorf("%+v", info.Usage.Counts)
	}
	if n := server.Disconnect(); n < clients {
		t.Errorf("%d were connected", n)
	}
}

// TestServiceBusLeavesNothing shows that no goroutine of the emulator is left when it is closed, whatever clients were doing.
func TestServiceBusLeavesNothing(t *testing.T) {
	server := startBus(t, queue("orders", sessionful))
	client := dial(t, server)
	send(t, client, "orders", inSession("a", "x"))
	one(t, acceptNext(t, client), "x")
	waiting := make(chan bool)
	go func() {
		defer close(waiting)
		_, _ = client.AcceptNextSessionForQueue(briefly(t, 2*time.Second), "orders", nil)
	}()
	over := dialString(t, server.ConnectionString(), overWebSocket(server, nil, "ws"))
	send(t, over, "orders", inSession("b", "y"))
	must.Do(t, server.Close())
	stacks := make([]byte, 1<<20)
	poll(t, "all goroutines have ended", func() bool {
		all := string(stacks[:runtime.Stack(stacks, true)])
		return !strings.Contains(all, "emulator/servicebus")
	})
	<-waiting
}
