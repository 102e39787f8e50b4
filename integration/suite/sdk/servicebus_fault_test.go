package sdk

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// TestServiceBusFaults shows that what is made to fail does, as often as asked for, and that the SDK recovers.
func TestServiceBusFaults(t *testing.T) {
	server := startBus(t, queue("orders", ""))
	client := dial(t, server)
	s, r := sender(t, client, "orders"), receiver(t, client, "orders")
	must.Do(t, s.SendMessage(within(t), text("first"), nil))

	server.Inject(servicebus.Fault{Entity: "orders", Operation: "send", Count: 2, Condition: "com.microsoft:server-busy"})
	must.Do(t, s.SendMessage(within(t), text("retried"), nil)) // the SDK tries three times

	server.Inject(servicebus.Fault{Entity: "orders", Operation: "send", Count: 9, Condition: "com.microsoft:server-busy"})
	if err := s.SendMessage(within(t), text("refused"), nil); err == nil || !strings.Contains(err.Error(), "server-busy") {
		t.Error("sent to a server that is busy:", err)
	}
	server.Heal()

	server.Inject(servicebus.Fault{Entity: "orders", Operation: "send", Condition: "com.microsoft:entity-disabled"})
	if err := s.SendMessage(within(t), text("refused"), nil); err == nil || !strings.Contains(err.Error(), "entity-disabled") {
		t.Error("an error that is final was tried again:", err)
	}

	server.Inject(servicebus.Fault{Operation: "send", Drop: true})
	must.Do(t, s.SendMessage(within(t), text("reconnected"), nil))

	server.Inject(servicebus.Fault{Operation: "send", Delay: 300 * time.Millisecond})
	begun := time.Now()
	must.Do(t, s.SendMessage(within(t), text("delayed"), nil))
	if time.Since(begun) < 300*time.Millisecond {
		t.Error("not delayed")
	}

	server.Inject(servicebus.Fault{Operation: "receive", Condition: "amqp:link:detach-forced"})
	messages := map[string]*azservicebus.ReceivedMessage{}
	for len(messages) < 4 {
		more, err := r.ReceiveMessages(within(t), 4, nil)
		if err != nil {
			t.Log(err)
		}
		for _, message := range more {
			messages[string(message.Body)] = message
		}
	}
	server.Inject(servicebus.Fault{Operation: "settle", Condition: "com.microsoft:message-lock-lost"})
	wantCode(t, r.CompleteMessage(within(t), messages["first"], nil), azservicebus.CodeLockLost)
	must.Do(t, r.CompleteMessage(within(t), messages["retried"], nil))
	server.Inject(servicebus.Fault{Operation: "manage", Condition: "com.microsoft:timeout"})
	must.Do(t, r.RenewMessageLock(within(t), messages["delayed"], nil))
}

// TestServiceBusConditions shows after which errors the SDK tries again, on the same link or another, and which are final.
func TestServiceBusConditions(t *testing.T) {
	server := startBus(t, queue("orders", ""))
	s := sender(t, dial(t, server), "orders")
	for condition, again := range map[string]bool{
		"com.microsoft:server-busy":              true,
		"com.microsoft:timeout":                  true,
		"com.microsoft:operation-cancelled":      true,
		"amqp:link:detach-forced":                true,
		"amqp:link:transfer-limit-exceeded":      true,
		"amqp:connection:forced":                 true,
		"amqp:internal-error":                    true,
		"amqp:resource-limit-exceeded":           false,
		"amqp:link:message-size-exceeded":        false,
		"amqp:unauthorized-access":               false,
		"amqp:not-found":                         false,
		"amqp:not-allowed":                       false,
		"com.microsoft:entity-disabled":          false,
		"com.microsoft:session-cannot-be-locked": false,
		"com.microsoft:message-lock-lost":        false,
	} {
		server.Inject(servicebus.Fault{Operation: servicebus.OpSend, Condition: servicebus.Condition(condition)})
		if err := s.SendMessage(within(t), text("x"), nil); again != (err == nil) {
			t.Errorf("%s: %v", condition, err)
		}
		server.Heal()
	}
}

// TestServiceBusManagementFaults shows the same for requests.
func TestServiceBusManagementFaults(t *testing.T) {
	server := startBus(t, queue("orders", ""))
	r := receiver(t, dial(t, server), "orders")
	for condition, again := range map[string]bool{
		"com.microsoft:server-busy": true,
		"com.microsoft:timeout":     true,
		"amqp:internal-error":       true,
		"amqp:not-found":            false,
		"amqp:unauthorized-access":  false,
	} {
		server.Inject(servicebus.Fault{Operation: servicebus.OpManage, Condition: servicebus.Condition(condition)})
		if _, err := r.PeekMessages(within(t), 1, nil); again != (err == nil) {
			t.Errorf("%s: %v", condition, err)
		}
	}
}

// TestServiceBusDisconnect shows that the SDK goes on after the network broke.
func TestServiceBusDisconnect(t *testing.T) {
	server := startBus(t, queue("orders", ""))
	client := dial(t, server)
	s, r := sender(t, client, "orders"), receiver(t, client, "orders")
	for range 3 {
		must.Do(t, s.SendMessage(within(t), text("x"), nil))
		must.Do(t, r.CompleteMessage(within(t), one(t, r, "x"), nil))
		if server.Disconnect() == 0 {
			t.Error("nobody was connected")
		}
	}
}

// TestServiceBusJSON shows the JSON interface.
func TestServiceBusJSON(t *testing.T) {
	server := startBus(t, queue("orders", ""))
	client := dial(t, server)
	for _, body := range []string{"a", "b", "c"} {
		send(t, client, "orders", text(body))
	}
	r := receiver(t, client, "orders")
	for _, message := range receive(t, r, 3) {
		must.Do(t, r.DeadLetterMessage(within(t), message, &azservicebus.DeadLetterOptions{Reason: new("why")}))
	}
	call(t, server, "GET", "/health", "", `"status":"healthy"`)
	call(t, server, "GET", "/api/entities", "", `"name":"orders"`, `"deadLetter":3`)
	call(t, server, "GET", "/api/deadletters?entity=orders&top=1", "", `"body":"a"`, `"DeadLetterReason":"why"`)
	call(t, server, "POST", "/api/resubmit?entity=orders&sequence=2", "", `"resubmitted":1`)
	again := one(t, r, "b")
	if again.DeadLetterReason != nil || again.DeliveryCount != 1 {
		t.Errorf("%+v", again)
	}
	must.Do(t, r.CompleteMessage(within(t), again, nil))
	call(t, server, "POST", "/api/resubmit?entity=orders", "", `"resubmitted":2`)
	call(t, server, "GET", "/api/messages?entity=orders", "", `"body":"a"`, `"body":"c"`, `"state":"active"`)
	call(t, server, "DELETE", "/api/messages?entity=orders", "", `"deleted":2`)
	call(t, server, "POST", "/api/faults", `{"operation":"send","condition":"com.microsoft:server-busy","count":2}`, `"count":2`)
	call(t, server, "DELETE", "/api/faults", "", `"faults":[]`)
	call(t, server, "GET", "/api/messages?entity=nowhere", "", `"not_found"`)
	call(t, server, "GET", "/api/nothing", "", `"not_found"`)
}

// call calls the JSON interface and checks that the answer has all of want.
func call(t *testing.T, server *servicebus.Server, method, path, body string, want ...string) {
	t.Helper()
	request := must.Get(http.NewRequestWithContext(within(t), method, "http://"+server.HTTPAddr()+path, strings.NewReader(body)))(t)
	response, err := http.DefaultClient.Do(request)
	must.Do(t, err)
	defer response.Body.Close()
	var answer strings.Builder
	must.Get(io.Copy(&answer, response.Body))(t)
	for _, part := range want {
		if !strings.Contains(answer.String(), part) {
			t.Errorf("%s %s: %s has no %s", method, path, answer.String(), part)
		}
	}
}
