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

// likelyType returns the type that an action probably has whose own is missing or wrong, so that what else is wrong with
// the action can be told at the same time: one that requires a member of the action, the nearest to what was written. It is ""
// if nothing points to one.
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
