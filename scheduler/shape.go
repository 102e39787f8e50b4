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
// learned from what reads collections, except for the errorAction of its
// defaults: it has the members of the action in the shape of a job.
func CollectionShape(actions ActionReader, job *document.Shape) *document.Shape {
	shape := document.ShapeOf(func(o *document.Object) {
		new(Collection).read(o)
		properties, _ := o.Object(envelope)
		if defaults, ok := properties.Object("defaults"); ok {
			new(Defaults).read(defaults, &Reading{Actions: actions})
		}
	})
	action := job.Members.Member(envelope).Members.Member("action")
	shape.Members.Member(envelope).Members.Member("defaults").Members.Member(errorAction).Members = action.Members
	return shape
}
