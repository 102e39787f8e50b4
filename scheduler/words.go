package scheduler

import (
	"slices"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// words returns the members that a job may have, of all action types.
func (r *Reading) words() *document.Vocabulary {
	words := &document.Vocabulary{}
	explorer := Reading{Actions: r.Actions, Key: r.Key, Now: r.Now}
	for _, kind := range r.Actions.Types() {
		action := document.ObjectValue(document.Member{Name: "type", Value: document.StringValue(kind)})
		job := document.ObjectValue(document.Member{Name: "action", Value: action})
		words.Explore(job, func(o *document.Object) { explorer.properties(o) })
	}
	return words
}

// likelyType returns the type that an action probably has whose own is missing or wrong, so that what else is wrong with
// the action can be told at the same time: one that has a member of the action, the nearest to what was written. It is ""
// if nothing points to one.
func (r *Reading) likelyType(o *document.Object) string {
	var kinds []string
	for _, kind := range r.Actions.Types() {
		words := &document.Vocabulary{}
		words.Explore(document.ObjectValue(), func(o *document.Object) { r.Actions.ReadAction(kind, o) })
		if slices.ContainsFunc(words.Objects(""), o.Holds) {
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
