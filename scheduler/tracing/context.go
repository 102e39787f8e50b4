package tracing

import (
	"context"
	"strings"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/carillon-sched/carillon/scheduler"
)

// The W3C Trace Context headers, as spelled in HTTP and NATS.
const (
	parentHeader = "traceparent"
	stateHeader  = "tracestate"

	parentCanonical = "Traceparent"
	stateCanonical  = "Tracestate"
)

// The limits of accepted headers. A traceparent has 55 bytes; a later version of the format may be longer. The W3C
// requires systems to propagate a tracestate of up to 512 bytes, and allows them to drop a longer one.
const (
	maxParent = 128
	maxState  = 512
)

// Incoming returns the trace context from the headers of a request or message. It is zero without a context, or with
// several.
func Incoming(header map[string][]string) scheduler.TraceContext {
	parents := values(header, parentCanonical, parentHeader)
	if len(parents) != 1 || len(parents[0]) > maxParent {
		return scheduler.TraceContext{}
	}
	c := scheduler.TraceContext{Parent: parents[0]}
	states, size := values(header, stateCanonical, stateHeader), 0
	for _, s := range states {
		size += len(s) + 1
	}
	if size <= maxState+1 {
		c.State = strings.Join(states, ",")
	}
	return c
}

func values(header map[string][]string, canonical, lower string) []string {
	if v := header[canonical]; len(v) > 0 {
		return v
	}
	return header[lower]
}

// Of returns the span context of ctx for propagation. It is zero without a span.
func Of(ctx context.Context) scheduler.TraceContext {
	return contextOf(trace.SpanContextFromContext(ctx))
}

// ID returns the trace ID of ctx, or "".
func ID(ctx context.Context) string {
	if c := trace.SpanContextFromContext(ctx); c.IsValid() {
		return c.TraceID().String()
	}
	return ""
}

// contextOf encodes a span context. It returns zero for an invalid one.
func contextOf(c trace.SpanContext) scheduler.TraceContext {
	if !c.IsValid() {
		return scheduler.TraceContext{}
	}
	flags := c.TraceFlags() & (trace.FlagsSampled | trace.FlagsRandom)
	return scheduler.TraceContext{
		Parent: "00-" + c.TraceID().String() + "-" + c.SpanID().String() + "-" + flags.String(), State: c.TraceState().String(),
	}
}

// remote decodes a received context. An invalid context results in an invalid span context.
func remote(c scheduler.TraceContext) trace.SpanContext {
	if c.Parent == "" || len(c.Parent) > maxParent {
		return trace.SpanContext{}
	}
	if len(c.State) > maxState {
		c.State = ""
	}
	ctx := propagation.TraceContext{}.Extract(context.Background(), (*carrier)(&c))
	return trace.SpanContextFromContext(ctx)
}

// carrier adapts a context for a propagator.
type carrier scheduler.TraceContext

// Get implements [propagation.TextMapCarrier].
func (c *carrier) Get(key string) string {
	if key == parentHeader {
		return c.Parent
	}
	return c.State
}

// Set implements [propagation.TextMapCarrier]. It does nothing, because the propagator only reads.
func (*carrier) Set(string, string) {}

// Keys implements [propagation.TextMapCarrier].
func (*carrier) Keys() []string { return []string{parentHeader, stateHeader} }
