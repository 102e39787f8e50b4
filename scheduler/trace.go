package scheduler

import (
	"strings"

	"github.com/carillon-sched/carillon/scheduler/internal/plainjson"
)

// TraceContext is where a trace has come to, as W3C's Trace Context writes it.
// These are texts here: package tracing reads and writes them.
type TraceContext struct {
	Parent string `json:"parent,omitempty"` // traceparent; "": there is no trace
	State  string `json:"state,omitempty"`  // tracestate; "" for none
}

// BatonTrace is the trace that an occurrence belongs to, while that is told by its
// baton: of a run by hand, which continues the trace of the request, and of an
// occurrence whose first attempt has been made.
type BatonTrace struct {
	TraceContext

	// First is the id of the span of the first attempt; "" until that was made.
	// The parent is the span of the occurrence then, else that of the request.
	First string `json:"first,omitempty"`
}

// Context is the trace context; zero for none.
func (t *BatonTrace) Context() TraceContext {
	if t == nil {
		return TraceContext{}
	}
	return t.TraceContext
}

// ID is the id of the trace, 32 hexadecimal digits; "" for none.
func (t *BatonTrace) ID() string {
	parts := strings.Split(t.Context().Parent, "-") // version, trace, span, flags
	if len(parts) < 4 || len(parts[1]) != 32 {
		return ""
	}
	return parts[1]
}

// codeTrace is the member trace.
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
