package scheduler

import (
	"github.com/carillon-sched/carillon/scheduler/document"
)

// JobShape returns what a job document may be, of all action types, with an
// envelope "properties" around the members of the job. It is learned from what
// reads jobs, which takes the same members without an envelope, beside those
// that stand in it here.
func JobShape(actions ActionReader) *document.Shape {
	reading := Reading{Actions: actions}
	return document.ShapeOf(func(o *document.Object) { reading.document(o) })
}

// CollectionShape returns what the document of a collection may be. It is
// learned from what reads collections.
func CollectionShape() *document.Shape {
	return document.ShapeOf(func(o *document.Object) { new(Collection).read(o) })
}
