package sdk

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// patience bounds every wait on the emulator; none should come near it.
const patience = time.Minute

// within returns a context that ends after the patience or with the test.
func within(tb testing.TB) context.Context {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), patience)
	tb.Cleanup(cancel)
	return ctx
}

// briefly is for waits that are expected to end without a result.
func briefly(tb testing.TB, wait time.Duration) context.Context {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), wait)
	tb.Cleanup(cancel)
	return ctx
}

// startBus starts an emulator on free ports with entities as in Microsoft's config.json, of which namespace is what is within the
// only namespace.
func startBus(tb testing.TB, namespace string, options ...func(*servicebus.Config)) *servicebus.Server {
	tb.Helper()
	entities := must.Get(servicebus.ReadConfig(strings.NewReader(
		`{"UserConfig": {"Namespaces": [{"Name": "sbemulatorns", ` + namespace + `}], "Logging": {"Type": "Console"}}}`,
	)))(tb)
	config := servicebus.Config{Addr: "127.0.0.1:0", HTTPAddr: "127.0.0.1:0", Entities: entities}
	for _, option := range options {
		option(&config)
	}
	server := must.Get(servicebus.Start(tb.Context(), config))(tb)
	tb.Cleanup(func() { must.Do(tb, server.Close()) })
	return server
}

// quick makes the SDK give up or try again soon.
var quick = &azservicebus.ClientOptions{
	RetryOptions: azservicebus.RetryOptions{MaxRetries: 2, RetryDelay: 10 * time.Millisecond, MaxRetryDelay: 20 * time.Millisecond},
}

// dial returns a client of the SDK.
func dial(tb testing.TB, server *servicebus.Server) *azservicebus.Client {
	tb.Helper()
	return dialString(tb, server.ConnectionString(), quick)
}

func dialString(tb testing.TB, connection string, options *azservicebus.ClientOptions) *azservicebus.Client {
	tb.Helper()
	client := must.Get(azservicebus.NewClientFromConnectionString(connection, options))(tb)
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := client.Close(ctx); err != nil {
			tb.Log(err)
		}
	})
	return client
}

// connect starts an emulator and returns a client of it.
func connect(tb testing.TB, namespace string) *azservicebus.Client {
	tb.Helper()
	return dial(tb, startBus(tb, namespace))
}

// queue is the JSON of one queue with the properties given as JSON.
func queue(name, properties string) string {
	return fmt.Sprintf(`"Queues": [{"Name": %q, "Properties": {%s}}]`, name, properties)
}

func sender(tb testing.TB, client *azservicebus.Client, entity string) *azservicebus.Sender {
	tb.Helper()
	return must.Get(client.NewSender(entity, nil))(tb)
}

// receiver returns a receiver of "queue", "topic/subscription", or either with "/$dead" or "/$transfer" behind.
func receiver(tb testing.TB, client *azservicebus.Client, entity string) *azservicebus.Receiver {
	tb.Helper()
	return receiverMode(tb, client, entity, azservicebus.ReceiveModePeekLock)
}

func receiverMode(tb testing.TB, client *azservicebus.Client, entity string, mode azservicebus.ReceiveMode) *azservicebus.Receiver {
	tb.Helper()
	options := &azservicebus.ReceiverOptions{ReceiveMode: mode}
	entity, dead := strings.CutSuffix(entity, "/$dead")
	if dead {
		options.SubQueue = azservicebus.SubQueueDeadLetter
	}
	entity, transfer := strings.CutSuffix(entity, "/$transfer")
	if transfer {
		options.SubQueue = azservicebus.SubQueueTransfer
	}
	var r *azservicebus.Receiver
	var err error
	if topic, subscription, ok := strings.Cut(entity, "/"); ok {
		r, err = client.NewReceiverForSubscription(topic, subscription, options)
	} else {
		r, err = client.NewReceiverForQueue(entity, options)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// send sends one message.
func send(tb testing.TB, client *azservicebus.Client, entity string, message *azservicebus.Message) {
	tb.Helper()
	must.Do(tb, sender(tb, client, entity).SendMessage(within(tb), message, nil))
}

// text is a message with a body.
func text(body string) *azservicebus.Message { return &azservicebus.Message{Body: []byte(body)} }

// receive waits for exactly n messages.
func receive(tb testing.TB, r receives, n int) []*azservicebus.ReceivedMessage {
	tb.Helper()
	var messages []*azservicebus.ReceivedMessage
	ctx := within(tb)
	for len(messages) < n {
		more, err := r.ReceiveMessages(ctx, n-len(messages), nil)
		if err != nil {
			tb.Fatalf("%d of %d messages: %v", len(messages), n, err)
		}
		messages = append(messages, more...)
	}
	return messages
}

// receives is both kinds of receiver.
type receives interface {
	ReceiveMessages(ctx context.Context, most int, options *azservicebus.ReceiveMessagesOptions) ([]*azservicebus.ReceivedMessage, error)
}

// one waits for one message and checks its body.
func one(tb testing.TB, r receives, body string) *azservicebus.ReceivedMessage {
	tb.Helper()
	message := receive(tb, r, 1)[0]
	if string(message.Body) != body {
		tb.Fatalf("got %q, want %q", message.Body, body)
	}
	return message
}

// none checks that nothing is to be received.
func none(tb testing.TB, r receives) {
	tb.Helper()
	messages, err := r.ReceiveMessages(briefly(tb, 150*time.Millisecond), 1, nil)
	if !errors.Is(err, context.DeadlineExceeded) {
		tb.Fatalf("got %d messages, %v; want none", len(messages), err)
	}
}

// wantCode checks the code of an error of the SDK.
func wantCode(tb testing.TB, err error, code azservicebus.Code) {
	tb.Helper()
	if failure, ok := errors.AsType[*azservicebus.Error](err); !ok || failure.Code != code {
		tb.Fatalf("got %v, want code %s", err, code)
	}
}
