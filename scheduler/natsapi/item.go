package natsapi

import (
	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/tracing"
	"github.com/carillon-sched/carillon/scheduler/trail"
)

// item is a spec in the hands of this process.
type item struct {
	scheduler.PublishedSpec

	size   int // of the body as it came; one that is too long is not kept
	how    order
	wrong  error // with its headers
	slots  int64 // it has while it is under way
	marked bool  // as under way

	id      string // the Nats-Msg-Id, which no other spec of the subject has
	claimed bool   // by this spec

	answer bool   // it is an answer to a request of somebody
	claim  string // who its publisher says that it is

	trace scheduler.TraceContext // that it continues
}

// subject returns the subject of the spec without the prefix.
func (it *item) subject() string { return it.Verb + "." + it.Name }

func newItem(s scheduler.PublishedSpec) *item {
	it := &item{PublishedSpec: s, size: len(s.Body)}
	if it.size > scheduler.MaxJobSize {
		it.Body = nil
	}
	header := nats.Header(s.Header)
	it.how, it.wrong = readOrder(header)
	it.id = header.Get(nats.MsgIdHdr)
	it.trace = tracing.Incoming(header)
	it.answer, it.claim, it.Header = isAnswer(header, it.Body, it.takesBody()), trail.Clip(header.Get(ClaimHeader)), nil
	return it
}
