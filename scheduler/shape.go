package scheduler

import (
	"github.com/carillon-sched/carillon/scheduler/document"
)

// JobShape returns the shape of a job document for all action types, with the envelope "properties". It is derived from
// the parser of jobs, which also accepts the fields without the envelope, next to the envelope's fields.
func JobShape(actions ActionReader) *document.Shape {
	reading := Reading{Actions: actions}
	return document.ShapeOf(func(o *document.Object) { reading.document(o) })
}

// CollectionShape returns the shape of a collection document. It is derived from the parser of collections, except for
// the errorAction of the defaults, which takes the fields of the action in the shape of a job.
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
