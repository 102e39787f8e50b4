package receive_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"github.com/carillon-sched/carillon/actions/builtin"
	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/integration/emulator/emulatortest"
	emulator "github.com/carillon-sched/carillon/integration/emulator/servicebus"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/browse"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
)

// patience limits every wait on the emulator.
const patience = time.Minute

// bus is an emulator with a client.
type bus struct {
	*harness

	server *emulator.Server
	client *azservicebus.Client
}

func newBus(t *testing.T) *bus {
	t.Helper()
	server := emulatortest.ServiceBus(t, emulator.Config{Entities: emulator.Entities{
		Queues: []emulator.Queue{
			{Name: "q"},
			{Name: "ordered", Options: emulator.QueueOptions{RequiresSession: true}},
			{Name: "short", Options: emulator.QueueOptions{LockDuration: 5 * time.Second}},
		},
		Topics: []emulator.Topic{{Name: "t", Subscriptions: []emulator.Subscription{{Name: "s"}}}},
	}})
	b := &bus{harness: newHarness(t, builtin.Config{ServiceBus: egress.Endpoints{Default: "amqp://" + server.Addr()}}), server: server}
	b.client = must.Get(azservicebus.NewClientFromConnectionString(server.ConnectionString(), nil))(t)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		must.Do(t, b.client.Close(ctx))
	})
	return b
}

// source puts a source of a queue, of the fields in rest.
func (b *bus) source(name, rest string) {
	b.Helper()
	b.put(name, fmt.Sprintf(`{"type": "serviceBusQueue", "serviceBusQueue": {"connectionString": %q, %s}}`,
		"Endpoint=sb://ns.servicebus.windows.net/;SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE", rest))
}

func (b *bus) send(entity string, messages ...*azservicebus.Message) {
	b.Helper()
	sender := must.Get(b.client.NewSender(entity, nil))(b)
	defer func() { must.Do(b, sender.Close(b.Context())) }()
	for _, m := range messages {
		must.Do(b, sender.SendMessage(b.Context(), m, nil))
	}
}

// left returns the messages of a queue, also those under lock.
func (b *bus) left(queue string, part browse.Part) []browse.Message {
	b.Helper()
	return must.Get(browse.New(b.server.Broker()).Peek(browse.Query{Path: queue, Part: part}))(b).Messages
}

// awaitEmpty waits until a queue has no message.
func (b *bus) awaitEmpty(queue string) {
	b.Helper()
	must.Await(b, "the queue "+queue+" to be empty", func() bool { return len(b.left(queue, browse.Active)) == 0 })
}

// TestServiceBusQueue stores messages of a queue with their properties, and completes them.
func TestServiceBusQueue(t *testing.T) {
	b := newBus(t)
	b.source("orders", `"queueName": "q"`)
	b.start()
	b.send("q", &azservicebus.Message{
		Body: []byte(`{"id":7}`), MessageID: new("m7"), Subject: new("new"), CorrelationID: new("c"), ContentType: new("application/json"),
		ApplicationProperties: map[string]any{
			"shop": "north", "count": int64(3), "cloudEvents:type": "order", "a b": true, "Nats-Rollup": "all", "carillon-x": "y",
		},
	})
	e := b.want("orders", `{"id":7}`)[0]
	for name, want := range map[string]string{
		"shop": "north", "count": "3", "type": "order", "a_b": "true", "messageid": "m7", "subject": "new",
		"correlationid": "c", "content-type": "application/json", "sequencenumber": "1", "carillon-x": "",
	} {
		b.attribute(e, name, want)
	}
	if e.ID != "m7/1" {
		t.Errorf("id %s", e.ID)
	}
	b.awaitEmpty("q")
	if n := len(b.left("q", browse.Dead)); n != 0 {
		t.Errorf("%d dead letters", n)
	}
}

// TestServiceBusEncoding keeps the encoding of a body.
func TestServiceBusEncoding(t *testing.T) {
	b := newBus(t)
	b.source("orders", `"queueName": "q"`)
	b.start()
	sender := must.Get(b.client.NewSender("q", nil))(t)
	defer func() { must.Do(t, sender.Close(t.Context())) }()
	must.Do(t, sender.SendAMQPAnnotatedMessage(t.Context(), &azservicebus.AMQPAnnotatedMessage{
		Properties: &azservicebus.AMQPAnnotatedMessageProperties{ContentEncoding: new("gzip")},
		Body:       azservicebus.AMQPAnnotatedMessageBody{Data: [][]byte{[]byte("1")}},
	}, nil))
	b.attribute(b.want("orders", `1`)[0], "content-encoding", "gzip")
}

// TestServiceBusSubscription receives a subscription with a connection string.
func TestServiceBusSubscription(t *testing.T) {
	b := newBus(t)
	b.put("orders", fmt.Sprintf(`{"type": "serviceBusSubscription", "serviceBusSubscription": {"connectionString": %q,
		"topicName": "t", "subscriptionName": "s"}}`, b.server.ConnectionString()))
	b.start()
	b.send("t", &azservicebus.Message{Body: []byte(`1`)})
	b.want("orders", `1`)
}

// TestServiceBusCrash stores a message once, although the process crashes before it completes the message.
func TestServiceBusCrash(t *testing.T) {
	b := newBus(t)
	b.source("orders", `"queueName": "q"`)
	b.send("q", &azservicebus.Message{Body: []byte(`1`)})
	crashed := b.crash()
	_, stop := b.start()
	<-crashed
	stop()
	if left := b.left("q", browse.Active); len(left) != 1 || left[0].Held {
		t.Fatalf("after the crash: %+v", left)
	}
	b.start()
	b.awaitEmpty("q")
	b.want("orders", `1`)
}

// TestServiceBusLostConnection reconnects after a pause.
func TestServiceBusLostConnection(t *testing.T) {
	b := newBus(t)
	b.source("orders", `"queueName": "q"`)
	m, _ := b.start()
	b.send("q", &azservicebus.Message{Body: []byte(`1`)})
	b.want("orders", `1`)
	b.awaitEmpty("q")
	b.server.Disconnect()
	b.failure(m, "orders")
	b.send("q", &azservicebus.Message{Body: []byte(`2`)})
	b.want("orders", `1`, `2`)
}

// TestServiceBusRefused moves a message that cannot be an event to the dead-letter queue.
func TestServiceBusRefused(t *testing.T) {
	b := newBus(t)
	b.source("orders", `"queueName": "q"`)
	b.send("q", &azservicebus.Message{Body: make([]byte, scheduler.MaxEventSize+1)}, &azservicebus.Message{Body: []byte(`2`)})
	m, _ := b.start()
	b.want("orders", `2`)
	b.awaitEmpty("q")
	dead := b.left("q", browse.Dead)
	if len(dead) != 1 || dead[0].Reason != "CarillonRefused" || !strings.Contains(dead[0].Description, "at most 65536") {
		t.Errorf("dead letters: %+v", dead)
	}
	if status, _ := m.Status(key("orders")); status.Refused != 1 || status.Received != 1 {
		t.Errorf("%+v", status)
	}
}

// TestServiceBusLock renews the lock of a message until the store takes it.
func TestServiceBusLock(t *testing.T) {
	b := newBus(t)
	b.source("orders", `"queueName": "short"`)
	b.send("short", &azservicebus.Message{Body: []byte(`1`)})
	b.publish = func(ctx context.Context, call int, store func() error) error {
		if call > 1 {
			t.Error("the message was delivered again")
			return store()
		}
		first := b.left("short", browse.Active)[0].LockedUntil
		must.Await(t, "the renewal", func() bool {
			return ctx.Err() != nil || b.left("short", browse.Active)[0].LockedUntil.After(first)
		})
		return store()
	}
	b.start()
	b.want("orders", `1`)
	b.awaitEmpty("short")
}

// TestServiceBusLostLock receives a message again whose lock is lost while it waits for the store, on the same link.
func TestServiceBusLostLock(t *testing.T) {
	b := newBus(t)
	b.source("orders", `"queueName": "short"`)
	b.send("short", &azservicebus.Message{Body: []byte(`1`)})
	b.publish = func(ctx context.Context, call int, store func() error) error {
		if call > 1 {
			return store()
		}
		b.server.Inject(emulator.Fault{Operation: emulator.OpManage, Condition: "com.microsoft:message-lock-lost"})
		<-ctx.Done()
		return ctx.Err()
	}
	m, _ := b.start()
	if status := b.failure(m, "orders"); !strings.Contains(status.LastError, "lost before it was settled") {
		t.Errorf("%+v", status)
	}
	b.want("orders", `1`)
	b.awaitEmpty("short")
}

// TestServiceBusSessions stores the messages of each session in order.
func TestServiceBusSessions(t *testing.T) {
	b := newBus(t)
	b.source("orders", `"queueName": "ordered", "sessions": true`)
	const many, each = 10, 20
	for i := range each {
		for s := range many {
			b.send("ordered", &azservicebus.Message{SessionID: new(fmt.Sprint("s", s)), Body: fmt.Append(nil, i)})
		}
	}
	b.start()
	b.start()
	next := map[string]int{}
	for _, e := range b.await("orders", many*each) {
		s := e.Attributes["sessionid"]
		if string(e.Data) != strconv.Itoa(next[s]) {
			t.Errorf("session %s: got %s, want %d", s, e.Data, next[s])
		}
		next[s]++
	}
	if len(next) != many {
		t.Errorf("%d sessions", len(next))
	}
	b.awaitEmpty("ordered")
}

// TestServiceBusSessionOrder sends the other messages of a session while the first one is stored: the client library
// releases what it receives in that time.
func TestServiceBusSessionOrder(t *testing.T) {
	b := newBus(t)
	b.source("orders", `"queueName": "ordered", "sessions": true`)
	const all = 20
	sender := must.Get(b.client.NewSender("ordered", nil))(t)
	batch := must.Get(sender.NewMessageBatch(t.Context(), nil))(t)
	for i := range all {
		m := &azservicebus.Message{SessionID: new("s"), Body: fmt.Append(nil, i)}
		if i == 0 {
			must.Do(t, sender.SendMessage(t.Context(), m, nil))
			continue
		}
		must.Do(t, batch.AddMessage(m, nil))
	}
	b.publish = func(ctx context.Context, call int, store func() error) error {
		if call == 1 {
			if err := sender.SendMessageBatch(ctx, batch, nil); err != nil {
				return err
			}
		}
		return store()
	}
	b.start()
	for i, e := range b.await("orders", all) {
		if string(e.Data) != strconv.Itoa(i) {
			t.Errorf("got %s, want %d", e.Data, i)
		}
	}
	b.awaitEmpty("ordered")
}

// TestServiceBusErrors reports what is wrong with a source, without its key.
func TestServiceBusErrors(t *testing.T) {
	b := newBus(t)
	b.source("missing", `"queueName": "none"`)
	connection := func(name, text string) {
		b.put(name, fmt.Sprintf(`{"type": "serviceBusQueue", "serviceBusQueue": {"connectionString": %q, "queueName": "q"}}`, text))
	}
	connection("endpoint", "SharedAccessKeyName=a;SharedAccessKey=hush")
	connection("key", "Endpoint=sb://ns.servicebus.windows.net/;SharedAccessKeyName=a;SharedAccessSignature=hush")
	connection("entity", "Endpoint=sb://ns.servicebus.windows.net/;SharedAccessKeyName=a;SharedAccessKey=hush;EntityPath=other")
	m, _ := b.start()
	for name, want := range map[string]string{
		"missing": "could not be found", "endpoint": "serviceBusQueue.connectionString: has no Endpoint",
		"key": "needs SharedAccessKeyName and SharedAccessKey", "entity": "is for the entity other, not q",
	} {
		if status := b.failure(m, name); !strings.Contains(status.LastError, want) || strings.Contains(status.LastError, "hush") {
			t.Errorf("%s: %s", name, status.LastError)
		}
	}
}
