package tracing

import (
	"context"
	"errors"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/carillon-sched/carillon/scheduler"
)

// scope is the instrumentation scope of the spans.
const scope = "github.com/carillon-sched/carillon"

// Attributes without a name in the semantic conventions.
const (
	keyCollection = attribute.Key("carillon.collection")
	keyJob        = attribute.Key("carillon.job")        // collection/job
	keyOccurrence = attribute.Key("carillon.occurrence") // its ID
	keyAttempt    = attribute.Key("carillon.attempt")    // from 1
	keyOutcome    = attribute.Key("carillon.outcome")
	keyLateness   = attribute.Key("carillon.lateness") // seconds from the due time to the start
	keyAction     = attribute.Key("carillon.action.type")
	keyBy         = attribute.Key("carillon.run")     // schedule or hand
	keyAt         = attribute.Key("carillon.arm.at")  // when JetStream fires the baton
	keyResult     = attribute.Key("carillon.result")  // of a published spec
	keyEndpoint   = attribute.Key("carillon.request") // of the NATS API
)

// Tracer starts spans. A nil Tracer traces nothing.
type Tracer struct{ otel trace.Tracer }

// New returns a tracer that sends its spans to a provider.
func New(p trace.TracerProvider) *Tracer {
	return &Tracer{p.Tracer(scope, trace.WithSchemaURL(semconv.SchemaURL))}
}

// Span is a started span. The zero Span does nothing.
type Span struct{ otel trace.Span }

// End ends the span. It records the kind of a non-nil error, not its text.
func (s Span) End(err error) {
	if s.otel == nil {
		return
	}
	if err != nil {
		s.fail(kindOf(err))
	}
	s.otel.End()
}

// fail marks the span as failed, with a status code or an error kind.
func (s Span) fail(kind string) {
	s.otel.SetStatus(codes.Error, "")
	s.otel.SetAttributes(semconv.ErrorTypeKey.String(kind))
}

// kindOf classifies an error without its text, which may contain user data.
func kindOf(err error) string {
	for _, known := range [...]struct {
		err  error
		kind string
	}{
		{scheduler.ErrInvalid, "invalid"},
		{scheduler.ErrNotFound, "not_found"},
		{scheduler.ErrConflict, "conflict"},
		{scheduler.ErrUnavailable, "unavailable"},
		{context.DeadlineExceeded, "timeout"},
		{context.Canceled, "canceled"},
	} {
		if errors.Is(err, known.err) {
			return known.kind
		}
	}
	return semconv.ErrorTypeOther.Value.AsString()
}

// incoming returns ctx with the remote span that a request continues.
func incoming(ctx context.Context, from scheduler.TraceContext) context.Context {
	if c := remote(from); c.IsValid() {
		return trace.ContextWithRemoteSpanContext(ctx, c)
	}
	return ctx
}

// Request starts the span of an HTTP request.
func (t *Tracer) Request(ctx context.Context, method string, header map[string][]string) (context.Context, Span) {
	if t == nil {
		return ctx, Span{}
	}
	ctx, span := t.otel.Start(incoming(ctx, Incoming(header)), "HTTP", trace.WithSpanKind(trace.SpanKindServer))
	if span.IsRecording() {
		span.SetAttributes(methodOf(method))
	}
	return ctx, Span{span}
}

// methodOf returns the attribute of an HTTP method. Unknown ones count as other: callers can send arbitrary text.
func methodOf(method string) attribute.KeyValue {
	switch method {
	case "GET", "HEAD", "PUT", "POST", "PATCH", "DELETE", "OPTIONS":
		return semconv.HTTPRequestMethodKey.String(method)
	}
	return semconv.HTTPRequestMethodOther
}

// Answered ends the span of an HTTP request. The operation is the method and route.
func (s Span) Answered(operation, route string, status int) {
	if s.otel == nil {
		return
	}
	s.otel.SetName(operation)
	if s.otel.IsRecording() {
		s.otel.SetAttributes(semconv.HTTPResponseStatusCode(status))
		if route != "" {
			s.otel.SetAttributes(semconv.HTTPRoute(route))
		}
		if status >= 500 {
			s.fail(strconv.Itoa(status))
		}
	}
	s.otel.End()
}

// Call starts the span of a request to an endpoint of the NATS API.
func (t *Tracer) Call(ctx context.Context, endpoint string, header map[string][]string) (context.Context, Span) {
	if t == nil {
		return ctx, Span{}
	}
	ctx, span := t.otel.Start(incoming(ctx, Incoming(header)), "request "+endpoint, trace.WithSpanKind(trace.SpanKindServer))
	if span.IsRecording() {
		span.SetAttributes(systemNATS, keyEndpoint.String(endpoint))
	}
	return ctx, Span{span}
}

// Replied ends the span of a call with the equivalent HTTP status.
func (s Span) Replied(status int) {
	if s.otel == nil {
		return
	}
	if status >= 500 && s.otel.IsRecording() {
		s.fail(strconv.Itoa(status))
	}
	s.otel.End()
}

var systemNATS = semconv.MessagingSystemKey.String("nats")

// Spec starts the span of a published spec.
func (t *Tracer) Spec(ctx context.Context, verb string, from scheduler.TraceContext) (context.Context, Span) {
	if t == nil {
		return ctx, Span{}
	}
	ctx, span := t.otel.Start(incoming(ctx, from), "process spec."+verb, trace.WithSpanKind(trace.SpanKindConsumer))
	if span.IsRecording() {
		span.SetAttributes(systemNATS, semconv.MessagingOperationTypeProcess, semconv.MessagingOperationName("process"),
			semconv.MessagingDestinationTemplate("carillon.spec."+verb+".{collection}.{job}"))
	}
	return ctx, Span{span}
}

// Verdict ends the span of an accepted or rejected spec.
func (s Span) Verdict(result string, rejected bool) {
	if s.otel == nil {
		return
	}
	if s.otel.IsRecording() {
		s.otel.SetAttributes(keyResult.String(result))
		if rejected {
			s.fail(result)
		}
	}
	s.otel.End()
}

// Arm starts the span of arming a baton for at, or of firing it if at is zero. It starts no span unless ctx has one.
func Arm(ctx context.Context, k scheduler.Key, at time.Time) (context.Context, Span) {
	request := trace.SpanFromContext(ctx)
	if !request.IsRecording() {
		return ctx, Span{}
	}
	name := "arm"
	if at.IsZero() {
		name = "fire"
	}
	tracer := request.TracerProvider().Tracer(scope, trace.WithSchemaURL(semconv.SchemaURL))
	ctx, span := tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindProducer))
	span.SetAttributes(systemNATS, semconv.MessagingOperationTypeSend, semconv.MessagingOperationName(name),
		keyCollection.String(k.Collection), keyJob.String(k.String()))
	if !at.IsZero() {
		span.SetAttributes(keyAt.String(at.UTC().Format(time.RFC3339Nano)))
	}
	return ctx, Span{span}
}

// Edit returns the traceparent of an edit in ctx, which later occurrences of its job link to, or "".
func Edit(ctx context.Context) string {
	if !trace.SpanContextFromContext(ctx).IsSampled() {
		return ""
	}
	return Of(ctx).Parent
}

// ByHand returns the trace of a manual run that the request in ctx starts, or nil.
func ByHand(ctx context.Context) *scheduler.BatonTrace {
	if c := Of(ctx); c.Parent != "" {
		return &scheduler.BatonTrace{TraceContext: c}
	}
	return nil
}
