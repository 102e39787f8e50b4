package natsapi

import (
	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/audit"
	"github.com/carillon-sched/carillon/scheduler/tracing"
)

// item is a spec that this process holds.
type item struct {
	scheduler.PublishedSpec

	size   int // of the original body; a body that is too long is not kept
	how    order
	wrong  error // errors of its headers
	slots  int64 // held while in progress
	marked bool  // has a mark of this process, see Source.MarkSpec

	id      string // the Nats-Msg-Id, unique per subject
	claimed bool   // by this spec

	answer bool   // it is the answer to another request
	claim  string // the unverified name of its publisher

	trace scheduler.TraceContext // of the publisher
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
	it.answer, it.claim, it.Header = isAnswer(header, it.Body, it.takesBody()), audit.Clip(header.Get(ClaimHeader)), nil
	return it
}
