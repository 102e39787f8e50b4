package servicebus_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"github.com/carillon-sched/carillon/actions/actiontest"
	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/actions/servicebus"
	"github.com/carillon-sched/carillon/integration/emulator/emulatortest"
	emulator "github.com/carillon-sched/carillon/integration/emulator/servicebus"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
)

// patience bounds every wait on the emulator; none should come near it.
const patience = time.Minute

// attempt is the second try of an occurrence.
func attempt() scheduler.Attempt { return actiontest.Attempt() }

// keyed is that attempt with another idempotency key.
func keyed(key string) scheduler.Attempt {
	a := attempt()
	a.Key = key
	return a
}

// newClient returns a client that is closed with the test.
func newClient(tb testing.TB, config servicebus.Config) *servicebus.Client {
	tb.Helper()
	client := servicebus.New(config)
	tb.Cleanup(client.Close)
	return client
}

// dev is what `carillon dev` has: every namespace is the emulator, and takes any key.
func dev(server *emulator.Server) servicebus.Config {
	return servicebus.Config{Endpoints: egress.Endpoints{Default: "amqp://" + server.Addr()}, KeyOptional: true}
}

// start starts an emulator that makes entities when they are first used, and returns a client for it.
func start(tb testing.TB) (*emulator.Server, *servicebus.Client) {
	tb.Helper()
	server := emulatortest.ServiceBus(tb, emulator.Config{AutoCreate: true})
	return server, newClient(tb, dev(server))
}

// read reads an action from JSON.
func read(tb testing.TB, client *servicebus.Client, kind, action string) (scheduler.Action, error) {
	tb.Helper()
	a, _, err := actiontest.Read(tb, client, kind, action)
	return a, err
}

// mustRead is read for actions that are right.
func mustRead(tb testing.TB, client *servicebus.Client, kind, action string) scheduler.Action {
	tb.Helper()
	return actiontest.MustRead(tb, client, kind, action)
}

// toQueue returns an action for a queue of the namespace ns, with more members of its message as JSON.
func toQueue(tb testing.TB, client *servicebus.Client, queue string, more ...string) scheduler.Action {
	tb.Helper()
	members := append([]string{fmt.Sprintf(`"namespace":"ns","queueName":%q`, queue)}, more...)
	return mustRead(tb, client, "ServiceBusQueue", `{"serviceBusQueueMessage":{`+strings.Join(members, ",")+`}}`)
}

// invoke runs one attempt.
func invoke(tb testing.TB, action scheduler.Action, at scheduler.Attempt) scheduler.Result {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), patience)
	defer cancel()
	return actiontest.Invoke(ctx, action, at)
}

// succeed runs an attempt that must be completed.
func succeed(tb testing.TB, action scheduler.Action, at scheduler.Attempt) scheduler.Result {
	tb.Helper()
	result := invoke(tb, action, at)
	if result.Failed || result.Final || result.Status != 202 || result.Response != "" {
		tb.Fatalf("%+v", result)
	}
	return result
}

// fail runs an attempt that must fail in this way. Its message must have all of parts.
func fail(tb testing.TB, action scheduler.Action, status int, final bool, parts ...string) scheduler.Result {
	tb.Helper()
	result := invoke(tb, action, attempt())
	wantFailure(tb, result, status, final, parts...)
	return result
}

func wantFailure(tb testing.TB, result scheduler.Result, status int, final bool, parts ...string) {
	tb.Helper()
	if !result.Failed || result.Status != status || result.Final != final {
		tb.Errorf("got %+v, want status %d, final %t", result, status, final)
	}
	if status == 0 && final && !result.SkipCircuit {
		tb.Errorf("%q is final without an answer, so it has not reached for the namespace", result.Message)
	}
	for _, part := range parts {
		if !strings.Contains(result.Message, part) {
			tb.Errorf("%q has no %q", result.Message, part)
		}
	}
}

// consumer returns a client of the SDK, as a program that receives has one.
func consumer(tb testing.TB, server *emulator.Server) *azservicebus.Client {
	tb.Helper()
	client := must.Get(azservicebus.NewClientFromConnectionString(server.ConnectionString(), nil))(tb)
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := client.Close(ctx); err != nil {
			tb.Log(err)
		}
	})
	return client
}

// receive receives and deletes the next message of the queue q1.
func receive(tb testing.TB, server *emulator.Server) *azservicebus.ReceivedMessage {
	tb.Helper()
	receiver := must.Get(consumer(tb, server).NewReceiverForQueue("q1", &azservicebus.ReceiverOptions{ReceiveMode: azservicebus.ReceiveModeReceiveAndDelete}))(tb)
	return take(tb, receiver)
}

func take(tb testing.TB, receiver *azservicebus.Receiver) *azservicebus.ReceivedMessage {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), patience)
	defer cancel()
	messages := must.Get(receiver.ReceiveMessages(ctx, 1, nil))(tb)
	return messages[0]
}
