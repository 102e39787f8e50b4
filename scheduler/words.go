package scheduler

import (
	"slices"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// words returns the shape of a job without an envelope, for all action types.
func (r *Reading) words() *document.Shape {
	describing := Reading{Actions: r.Actions, Key: r.Key, Now: r.Now}
	return document.ShapeOf(func(o *document.Object) { describing.properties(o) })
}

// likelyType returns the probable type of an action whose own type is missing or wrong, so that the action's other
// problems can be reported at the same time: a type that requires a field of the action, the nearest to the written
// type. "" if nothing suggests a type.
func (r *Reading) likelyType(o *document.Object) string {
	var kinds []string
	for _, kind := range r.Actions.Types() {
		words := document.ShapeOf(func(o *document.Object) { r.Actions.ReadAction(kind, o) })
		if slices.ContainsFunc(words.Members.Known, func(s *document.Shape) bool { return s.Required && o.Holds(s.Name) }) {
			kinds = append(kinds, kind)
		}
	}
	written, _ := o.Value("type")
	if len(kinds) == 0 {
		return document.Nearest(written.Text(), r.Actions.Types())
	}
	if near := document.Nearest(written.Text(), kinds); near != "" {
		return near
	}
	return kinds[0]
}
