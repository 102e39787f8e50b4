package tracing

import (
	"context"
	"strings"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/carillon-sched/carillon/scheduler"
)

// The headers of W3C's Trace Context, as HTTP and NATS spell them.
const (
	parentHeader = "traceparent"
	stateHeader  = "tracestate"

	parentCanonical = "Traceparent"
	stateCanonical  = "Tracestate"
)

// The longest that is taken in. A later version of the format may have a longer
// traceparent than this one's 55 bytes; of a tracestate, W3C has everybody pass on
// 512, and lets a longer one be dropped.
const (
	maxParent = 128
	maxState  = 512
)

// Incoming returns the trace context of the headers of a request or message. It is
// zero when there is none, or more than one.
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

// Of returns the context of the span of ctx, for the next one; zero for none.
func Of(ctx context.Context) scheduler.TraceContext {
	return contextOf(trace.SpanContextFromContext(ctx))
}

// ID is the id of the trace of ctx; "" for none.
func ID(ctx context.Context) string {
	if c := trace.SpanContextFromContext(ctx); c.IsValid() {
		return c.TraceID().String()
	}
	return ""
}

// contextOf writes a span context; zero for one that is not valid.
func contextOf(c trace.SpanContext) scheduler.TraceContext {
	if !c.IsValid() {
		return scheduler.TraceContext{}
	}
	flags := c.TraceFlags() & (trace.FlagsSampled | trace.FlagsRandom)
	return scheduler.TraceContext{
		Parent: "00-" + c.TraceID().String() + "-" + c.SpanID().String() + "-" + flags.String(), State: c.TraceState().String(),
	}
}

// remote reads a context that came from elsewhere. It is not valid when that is not.
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

// carrier is a context that a propagator reads.
type carrier scheduler.TraceContext

// Get implements [propagation.TextMapCarrier].
func (c *carrier) Get(key string) string {
	if key == parentHeader {
		return c.Parent
	}
	return c.State
}

// Set implements [propagation.TextMapCarrier], for a propagator that only reads.
func (*carrier) Set(string, string) {}

// Keys implements [propagation.TextMapCarrier].
func (*carrier) Keys() []string { return []string{parentHeader, stateHeader} }
