package tracing

import (
	"context"
	"errors"
	"net"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/carillon-sched/carillon/scheduler"
)

// Fired describes the delivery of a baton whose attempt starts.
type Fired struct {
	Job     *scheduler.Job
	Baton   *scheduler.Baton
	Action  *scheduler.ActionSpec
	Attempt scheduler.Attempt
	At      time.Time // when the server fired the baton
	Wake    time.Time // until when the worker held it
	Now     time.Time // current time, by the store's clock like the others
}

// Attempt holds the spans of a running attempt. A nil Attempt has none.
type Attempt struct {
	delivery, attempt trace.Span
	kind              actionKind
	trace             *scheduler.BatonTrace
	began             time.Time
}

// Begin starts the spans of an attempt in ctx.
func (t *Tracer) Begin(ctx context.Context, f Fired) (context.Context, *Attempt) {
	if t == nil {
		return ctx, nil
	}
	at := f.At
	if at.IsZero() || at.After(f.Now) {
		at = f.Now
	}
	ctx, delivery := t.deliver(ctx, f.Job, f.Baton, at)
	t.hold(ctx, at, f.Wake, f.Now)
	a := &Attempt{delivery: delivery, kind: kindOfAction(f.Action.Type), began: f.Now}
	ctx, a.attempt = t.otel.Start( //nolint:spancheck // [Attempt.End] ends it
		ctx, "attempt", trace.WithSpanKind(a.kind.span), trace.WithTimestamp(f.Now),
	)
	a.trace = continued(f.Baton.Trace, delivery.SpanContext(), a.attempt.SpanContext())
	if delivery.IsRecording() {
		delivery.SetAttributes(systemNATS, semconv.MessagingOperationTypeProcess, semconv.MessagingOperationName("process"))
		delivery.SetAttributes(identity(f)...)
	}
	if a.attempt.IsRecording() {
		a.attempt.SetAttributes(identity(f)...)
		a.attempt.SetAttributes(a.kind.attributes...)
		a.attempt.SetAttributes(address(f.Action.Run.Target())...)
		a.attempt.SetAttributes(keyAction.String(f.Action.Type), keyLateness.Float64(f.Now.Sub(f.Attempt.Due).Seconds()))
	}
	return ctx, a
}

// deliver starts the span of a delivery that was fired at an instant.
func (t *Tracer) deliver(ctx context.Context, j *scheduler.Job, b *scheduler.Baton, at time.Time) (context.Context, trace.Span) {
	name, parent := "occurrence", remote(b.Trace.Context())
	options := []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindConsumer), trace.WithTimestamp(at)}
	if parent.IsValid() {
		ctx = trace.ContextWithRemoteSpanContext(ctx, parent)
	} else {
		options = append(options, trace.WithNewRoot())
		if edit := remote(scheduler.TraceContext{Parent: j.Origin.Trace}); edit.IsValid() && !b.Kind.IsManual() {
			options = append(options, trace.WithLinks(trace.Link{SpanContext: edit}))
		}
	}
	if b.Begun() {
		if name = "retry"; b.Phase == scheduler.ErrorPhase {
			name = "errorAction"
		}
		if first := firstAttempt(b.Trace, parent); first.IsValid() {
			options = append(options, trace.WithLinks(trace.Link{SpanContext: first}))
		}
	}
	return t.otel.Start(ctx, name, options...) //nolint:spancheck // [Attempt.End] ends it
}

// firstAttempt returns the context of the occurrence's first attempt, which a retry links to.
func firstAttempt(b *scheduler.BatonTrace, occurrence trace.SpanContext) trace.SpanContext {
	if b == nil || !occurrence.IsValid() {
		return trace.SpanContext{}
	}
	id, err := trace.SpanIDFromHex(b.First)
	if err != nil {
		return trace.SpanContext{}
	}
	return occurrence.WithSpanID(id)
}

// continued returns the trace for the occurrence's next delivery: the span of the first delivery and its attempt.
func continued(b *scheduler.BatonTrace, delivery, attempt trace.SpanContext) *scheduler.BatonTrace {
	if b != nil && b.First != "" && remote(b.TraceContext).IsValid() {
		return b
	}
	if !delivery.IsValid() {
		return nil
	}
	return &scheduler.BatonTrace{TraceContext: contextOf(delivery), First: attempt.SpanID().String()}
}

// hold records the span of the time during which the worker held a baton.
func (t *Tracer) hold(ctx context.Context, fired, wake, now time.Time) {
	if wake.After(now) {
		wake = now
	}
	if !wake.After(fired) || !trace.SpanFromContext(ctx).IsRecording() {
		return
	}
	_, span := t.otel.Start(ctx, "hold", trace.WithTimestamp(fired))
	span.End(trace.WithTimestamp(wake))
}

// identity returns the attributes that identify an attempt.
func identity(f Fired) []attribute.KeyValue {
	by := "schedule"
	if f.Baton.Kind.IsManual() {
		by = "hand"
	}
	return []attribute.KeyValue{
		keyCollection.String(f.Attempt.Job.Collection), keyJob.String(f.Attempt.Job.String()),
		keyOccurrence.String(f.Attempt.Occurrence), keyAttempt.Int(f.Attempt.Try), keyBy.String(by),
	}
}

// address returns the attributes of a target: host and port, or a name.
func address(target string) []attribute.KeyValue {
	host, port, err := net.SplitHostPort(target)
	if err != nil {
		return []attribute.KeyValue{semconv.ServerAddress(target)}
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		return []attribute.KeyValue{semconv.ServerAddress(host)}
	}
	return []attribute.KeyValue{semconv.ServerAddress(host), semconv.ServerPort(n)}
}

// actionKind describes how the span of an attempt represents its action.
type actionKind struct {
	span       trace.SpanKind
	attributes []attribute.KeyValue
	http       bool // the status is an HTTP status
}

// kindOfAction returns the kind of an action type: a call or a message.
func kindOfAction(name string) actionKind {
	sends := func(system attribute.KeyValue) actionKind {
		return actionKind{span: trace.SpanKindProducer, attributes: []attribute.KeyValue{
			system, semconv.MessagingOperationTypeSend, semconv.MessagingOperationName("send"),
		}}
	}
	switch lower := strings.ToLower(name); {
	case strings.HasPrefix(lower, "http"):
		return actionKind{span: trace.SpanKindClient, http: true}
	case strings.HasPrefix(lower, "servicebus"):
		return sends(semconv.MessagingSystemServiceBus)
	case lower == "storagequeue":
		return sends(semconv.MessagingSystemKey.String("azure.storage.queue"))
	case lower == "natsmessage":
		return sends(systemNATS)
	}
	return actionKind{span: trace.SpanKindClient}
}

// Context returns the context to propagate to the target. It is zero without tracing.
func (a *Attempt) Context() scheduler.TraceContext {
	if a == nil {
		return scheduler.TraceContext{}
	}
	return contextOf(a.attempt.SpanContext())
}

// Trace returns the occurrence's trace for later deliveries. It is nil without tracing.
func (a *Attempt) Trace() *scheduler.BatonTrace {
	if a == nil {
		return nil
	}
	return a.trace
}

// End ends the spans with the attempt's result. cause is the cancellation cause of the attempt's context, or nil.
func (a *Attempt) End(res scheduler.Result, cause error) {
	if a == nil {
		return
	}
	if a.attempt.IsRecording() {
		outcome := scheduler.OutcomeCompleted
		if res.Failed {
			outcome = scheduler.OutcomeFailed
		}
		if a.kind.http && res.Status != 0 {
			a.attempt.SetAttributes(semconv.HTTPResponseStatusCode(res.Status))
		}
		for _, span := range []trace.Span{a.attempt, a.delivery} {
			span.SetAttributes(keyOutcome.String(string(outcome)))
			if res.Failed {
				Span{span}.fail(failure(res, cause))
			}
		}
	}
	ended := trace.WithTimestamp(a.began.Add(res.Duration))
	a.attempt.End(ended)
	a.delivery.End(ended)
}

// failure names the kind of failure.
func failure(res scheduler.Result, cause error) string {
	switch {
	case res.Status != 0:
		return strconv.Itoa(res.Status)
	case errors.Is(cause, context.DeadlineExceeded):
		return "timeout"
	case cause != nil:
		return "canceled"
	}
	return semconv.ErrorTypeOther.Value.AsString()
}
