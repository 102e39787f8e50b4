package natsapi

import "github.com/carillon-sched/carillon/scheduler"

// item is a spec in the hands of this process.
type item struct {
	scheduler.PublishedSpec

	size   int   // of the body as it came; one that is too long is not kept
	how    order // once it was checked
	slots  int64 // it has while it is under way
	marked bool  // as under way
}

func newItem(s scheduler.PublishedSpec) *item {
	it := &item{PublishedSpec: s, size: len(s.Body)}
	if it.size > scheduler.MaxJobSize {
		it.Body = nil
	}
	return it
}
