package tracing_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/carillon-sched/carillon/integration/testkit/must"
)

const busJob = `{"startTime": "START", "action": {"type": "serviceBusQueue", "serviceBusQueueMessage": {
	"namespace": "shop", "queueName": "orders", "message": "tidy up"}}}`

// TestTree follows a run from its published spec to the consumer of a Service Bus queue. What it draws is what the
// documentation shows.
func TestTree(t *testing.T) {
	w := newHarness(t)
	publisher := "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	start := time.Now().Add(2 * time.Second).UTC().Format(time.RFC3339Nano)
	m := &nats.Msg{
		Subject: "carillon.spec.put.default.tidy", Header: nats.Header{"traceparent": {publisher}},
		Data: []byte(strings.Replace(busJob, "START", start, 1)),
	}
	must.Do(t, w.nc.PublishMsg(m))
	received := w.receive(t, "orders")
	consume(t, received)
	process := w.spans.one(t, "process orders")
	attempt := w.spans.one(t, "attempt")
	spec := w.spans.one(t, "process spec.put")
	occurrence := w.spans.one(t, "occurrence")

	if !strings.HasPrefix(spec.parent(), publisher[:35]) || !occurrence.linksTo(spec) || !process.within(attempt) {
		t.Errorf("the spans do not hang together:\n%s", tree(w.spans.all()))
	}
	if got := received.ApplicationProperties; got["traceparent"] != attempt.parent() || got["Diagnostic-Id"] != attempt.parent() {
		t.Errorf("the message has the properties %v, and not %s", got, attempt.parent())
	}
	for key, want := range map[string]string{
		"carillon.job": "default/tidy", "carillon.collection": "default", "carillon.attempt": "1", "carillon.outcome": "completed",
		"carillon.action.type": "ServiceBusQueue", "carillon.run": "schedule", "server.address": "shop.servicebus.windows.net",
		"messaging.system": "servicebus", "messaging.operation.type": "send",
	} {
		if got := attempt.value(key); got != want {
			t.Errorf("%s of the attempt is %q and not %q", key, got, want)
		}
	}
	if attempt.value("carillon.lateness") == "" || !strings.HasPrefix(attempt.value("carillon.occurrence"), "default/tidy@") {
		t.Errorf("attributes of the attempt: %v", attempt.GetAttributes())
	}
	page := must.Get(os.ReadFile("../docs/guides/traces.md"))(t)
	drawn := "```text\n" + tree(w.spans.all()) + "```\n"
	if !strings.Contains(string(page), drawn) {
		t.Errorf("docs/guides/traces.md shows another tree than\n%s\n%s", drawn, cmp.Diff(strings.Split(string(page), "\n"), strings.Split(drawn, "\n")))
	}
}

// receive returns the next message of a queue, as a client of Azure gets it.
func (w *harness) receive(t *testing.T, queue string) *azservicebus.ReceivedMessage {
	t.Helper()
	client := must.Get(azservicebus.NewClientFromConnectionString(w.bus.ConnectionString(), nil))(t)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	t.Cleanup(func() { _ = client.Close(context.WithoutCancel(ctx)) })
	receiver := must.Get(client.NewReceiverForQueue(queue, nil))(t)
	messages := must.Get(receiver.ReceiveMessages(ctx, 1, nil))(t)
	must.Do(t, receiver.CompleteMessage(ctx, messages[0], nil))
	return messages[0]
}

// consume is what a consumer does that continues the trace of a message: another program, with traces of its own.
func consume(t *testing.T, m *azservicebus.ReceivedMessage) {
	t.Helper()
	exporter := must.Get(otlptracehttp.New(t.Context()))(t)
	provider := sdk.NewTracerProvider(sdk.WithSyncer(exporter), sdk.WithResource(resource.NewSchemaless(semconv.ServiceName("shop"))))
	carrier := propagation.MapCarrier{}
	for _, name := range []string{"traceparent", "tracestate"} {
		if text, ok := m.ApplicationProperties[name].(string); ok {
			carrier[name] = text
		}
	}
	ctx := propagation.TraceContext{}.Extract(t.Context(), carrier)
	_, span := provider.Tracer("shop").Start(ctx, "process orders", trace.WithSpanKind(trace.SpanKindConsumer))
	span.End()
	must.Do(t, provider.Shutdown(t.Context()))
}
