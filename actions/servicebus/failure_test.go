package servicebus_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/emulatortest"
	emulator "github.com/carillon-sched/carillon/integration/emulator/servicebus"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// TestConditions has what each condition of the service makes of an attempt, at a send and at an attach, and shows that the next
// attempt succeeds.
func TestConditions(t *testing.T) {
	server := emulatortest.ServiceBus(t, emulator.Config{AutoCreate: true})
	p := through(t, server.Addr())
	action := toQueue(t, newClient(t, behind(p)), "q1", `"message":"hello"`)
	const answer = "ServiceBusQueue Action - Response from namespace 'ns': "
	for condition, want := range map[string]struct {
		status    int
		final     bool
		blameless bool
		hint      string
	}{
		"com.microsoft:server-busy":         {503, false, false, ""},
		"com.microsoft:timeout":             {408, false, false, ""},
		"com.microsoft:operation-cancelled": {503, false, false, ""},
		"com.microsoft:entity-disabled":     {409, false, true, " (the queue 'q1' is disabled)"},
		"com.microsoft:something-new":       {500, false, false, ""},
		"amqp:resource-limit-exceeded":      {507, false, true, " (the queue 'q1' is full)"},
		"amqp:link:message-size-exceeded":   {413, true, true, " (the message is larger than the queue 'q1' takes)"},
		"amqp:unauthorized-access":          {401, true, false, " (the job gives no sasKey)"},
		"amqp:not-found":                    {404, true, true, " (the queue 'q1' does not exist)"},
		"amqp:not-allowed":                  {400, true, false, ""},
		"amqp:internal-error":               {500, false, false, ""},
		"amqp:connection:forced":            {503, false, false, ""},
		"amqp:link:detach-forced":           {503, false, false, ""},
	} {
		for _, operation := range []emulator.Operation{emulator.OpSend, emulator.OpAttach} {
			if operation == emulator.OpAttach {
				server.Disconnect()
				p.wait(t)
			}
			server.Inject(emulator.Fault{
				Entity: "q1", Operation: operation, Condition: emulator.Condition(condition), Description: "why", Count: 2,
			})
			result := fail(t, action, want.status, want.final, answer+"'"+condition+"'"+want.hint)
			if result.SkipCircuit != want.blameless {
				t.Errorf("%s at %s: blameless: %t", condition, operation, result.SkipCircuit)
			}
			if condition != "amqp:link:message-size-exceeded" && !strings.HasSuffix(result.Message, " why") {
				t.Errorf("%s at %s: %q has no description", condition, operation, result.Message)
			}
			server.Heal()
			succeed(t, action, attempt())
		}
	}
}

// TestBusyFor shows how long a busy service asks to be left alone.
func TestBusyFor(t *testing.T) {
	server, client := start(t)
	server.Inject(emulator.Fault{
		Operation: emulator.OpSend, Condition: "com.microsoft:server-busy",
		Description: "The request was terminated because the entity is being throttled. Error code: 50009. Please wait 10 seconds and try again.",
	})
	if got := fail(t, toQueue(t, client, "q1"), 503, false).RetryAfter; got != 10*time.Second {
		t.Error(got)
	}
	server.Inject(emulator.Fault{Operation: emulator.OpSend, Condition: "amqp:not-allowed", Description: "Please wait 10 seconds and try again."})
	if got := fail(t, toQueue(t, client, "q1"), 400, true).RetryAfter; got != 0 {
		t.Errorf("a final failure asks to wait for %v", got)
	}
}

// strict starts an emulator that checks keys, and knows the queue q1.
func strict(t *testing.T) *emulator.Server {
	t.Helper()
	return emulatortest.ServiceBus(t, emulator.Config{
		Auth: emulator.Strict, Keys: map[string]string{"send": "r1ght", emulator.DefaultKeyName: emulator.DefaultKey},
		Entities: emulator.Entities{Queues: []emulator.Queue{{Name: "q1"}}},
	})
}

// withKey returns an action for a queue with a key.
func withKey(queue, name, key string) string {
	return fmt.Sprintf(`{"serviceBusQueueMessage":{"namespace":"ns","queueName":%q,"authentication":{"sasKeyName":%q,"sasKey":%s}}}`, queue, name, key)
}

func TestUnauthorized(t *testing.T) {
	server := strict(t)
	client := newClient(t, dev(server))
	right := mustRead(t, client, "ServiceBusQueue", withKey("q1", "send", `"r1ght"`))
	succeed(t, right, attempt())
	for _, wrong := range [][2]string{{"send", `"wr0ng"`}, {"other", `"r1ght"`}} {
		action := mustRead(t, client, "ServiceBusQueue", withKey("q1", wrong[0], wrong[1]))
		for range 2 {
			result := fail(t, action, 401, true,
				"Response from namespace 'ns': 'Unauthorized' (the key '"+wrong[0]+"' is wrong or may not send to the queue 'q1')")
			if strings.Contains(result.Message, "r1ght") || strings.Contains(result.Message, "wr0ng") {
				t.Error("the key is shown:", result.Message)
			}
			succeed(t, right, attempt())
		}
	}
	succeed(t, toQueue(t, client, "q1"), attempt()) // the emulator's own key
}

func TestNotFound(t *testing.T) {
	server := strict(t)
	client := newClient(t, dev(server))
	missing := mustRead(t, client, "ServiceBusQueue", withKey("q2", "send", `"r1ght"`))
	fail(t, missing, 404, true, "Response from namespace 'ns': 'Not Found' (the queue 'q2' does not exist)")
	must.Get(server.Broker().CreateQueue("q2", emulator.QueueOptions{}))(t)
	succeed(t, missing, attempt())
	// A queue that goes away while it is in use.
	must.Do(t, server.Broker().Delete("q2"))
	fail(t, missing, 404, true)
	fail(t, missing, 404, true)
}

// TestDetached shows that a link which the service closed while nothing was sent costs no attempt.
func TestDetached(t *testing.T) {
	server := strict(t)
	client := newClient(t, dev(server))
	action := mustRead(t, client, "ServiceBusQueue", withKey("q1", "send", `"r1ght"`))
	for range 3 {
		succeed(t, action, attempt())
		must.Do(t, server.Broker().Delete("q1"))
		must.Get(server.Broker().CreateQueue("q1", emulator.QueueOptions{}))(t)
	}
	succeed(t, action, attempt())
}

// TestConnectionDrop cuts the connection at a send and at an attach.
func TestConnectionDrop(t *testing.T) {
	server, client := start(t)
	action := toQueue(t, client, "q1")
	for range 3 {
		succeed(t, action, attempt())
		server.Inject(emulator.Fault{Operation: emulator.OpSend, Drop: true})
		fail(t, action, 0, false, "Request to namespace 'ns' at 127.0.0.1:", " failed: no acknowledgement, the message may have arrived: connection ")
		server.Inject(emulator.Fault{Operation: emulator.OpAttach, Drop: true})
		fail(t, action, 0, false, " failed: connection ")
	}
}

// TestSharedSecretTrouble has keys that are none.
func TestSharedSecretTrouble(t *testing.T) {
	_, client := start(t)
	action := mustRead(t, client, "ServiceBusQueue", withKey("q1", "send", `{"secretRef":"bus"}`))
	at := attempt()
	for key, want := range map[string]string{
		"":                       "the shared access key is empty",
		"a\n":                    "the shared access key must not contain semicolons, spaces or line breaks",
		"SharedAccessKey=s3cret": "the shared access key is a connection string; ",
	} {
		at.Shared = func(string) (string, error) { return key, nil }
		result := invoke(t, action, at)
		wantFailure(t, result, 0, true, want)
		if strings.Contains(result.Message, "s3cret") {
			t.Error("the key is shown")
		}
	}
}
