package scheduler

import (
	"strings"

	"github.com/carillon-sched/carillon/scheduler/internal/plainjson"
)

// TraceContext is a position in a trace, in the text form of W3C Trace Context. Package tracing reads and writes it.
type TraceContext struct {
	Parent string `json:"parent,omitempty"` // traceparent; "": none
	State  string `json:"state,omitempty"`  // tracestate; "": none
}

// BatonTrace is the trace of an occurrence, carried by its baton. A manual run has one, which continues the trace of
// its request, and so does every occurrence after its first attempt.
type BatonTrace struct {
	TraceContext

	// First is the id of the first attempt's span; "" before it. From then on the parent is the span of the occurrence,
	// before that the span of the request.
	First string `json:"first,omitempty"`
}

// Context returns the trace context; zero for none.
func (t *BatonTrace) Context() TraceContext {
	if t == nil {
		return TraceContext{}
	}
	return t.TraceContext
}

// ID returns the trace id, 32 hexadecimal digits; "" for none.
func (t *BatonTrace) ID() string {
	parts := strings.Split(t.Context().Parent, "-") // version, trace, span, flags
	if len(parts) < 4 || len(parts[1]) != 32 {
		return ""
	}
	return parts[1]
}

// codeTrace codes the field trace.
func codeTrace(c *plainjson.Codec, t **BatonTrace) {
	if !c.Begin("trace", *t != nil) {
		return
	}
	made := made(t)
	c.OptText("parent", &made.Parent)
	c.OptText("state", &made.State)
	c.OptText("first", &made.First)
	c.End()
}
