package scheduler

import (
	"fmt"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// ActionSpec is an action with its retry policy and its errorActions.
type ActionSpec struct {
	Type  string // canonical, such as "Http"
	Run   Action
	Retry RetryPolicy

	// OnError are run one after the other when the action has failed for good,
	// whatever becomes of the ones before. Each may have errorActions of its own,
	// which come right after it, and only if it has failed.
	OnError []ActionSpec

	at string // where it stands in the job: "action.errorAction[1]"
}

// MaxErrorActions is how many errorActions a job may have, those of errorActions
// included.
const MaxErrorActions = 5

// Position is a place in a job's actions: the main action, or the n-th of its
// errorActions, from 0 on. They are counted in the order in which they stand in
// the document, which is the one in which they run.
type Position struct {
	Phase       Phase
	ErrorAction int
}

// all returns an action and all its errorActions, in the order in which they
// stand in the document.
func (s *ActionSpec) all() []*ActionSpec {
	list := []*ActionSpec{s}
	for i := range s.OnError {
		list = append(list, s.OnError[i].all()...)
	}
	return list
}

// In returns the action at a position. A definition that has not as many, because
// the one that the position is of is no longer kept, has its last one there.
func (s *ActionSpec) In(p Position) *ActionSpec {
	if p.Phase == MainPhase {
		return s
	}
	list := s.all()
	return list[min(1+p.ErrorAction, len(list)-1)]
}

// After returns the position that follows p, where the action has failed for good
// or not; false when there is none.
func (s *ActionSpec) After(p Position, failed bool) (Position, bool) {
	if p.Phase == MainPhase {
		return Position{Phase: ErrorPhase}, failed && len(s.OnError) > 0
	}
	list, next := s.all()[1:], p.ErrorAction+1
	if p.ErrorAction < len(list) && !failed {
		next += len(list[p.ErrorAction].all()) - 1 // its own are left out
	}
	return Position{ErrorPhase, next}, next < len(list)
}

// action reads an action or errorAction; inherited is the retry policy of one
// that has none.
func (r *Reading) action(o *document.Object, inherited RetryPolicy, at string) ActionSpec {
	s := ActionSpec{at: at}
	kind, ok := o.Enum("type", r.Actions.Types()...)
	if !ok {
		o.Require("type")
		kind = r.likelyType(o)
	}
	if kind == "" {
		defer o.IgnoreRest() // what else belongs there depends on the type
	} else if run := r.Actions.ReadAction(kind, o); ok {
		s.Type, s.Run = kind, run
	}
	s.Retry = r.retryPolicy(o, inherited, at)
	s.OnError = r.errorActions(o, s.Retry, at)
	return s
}

// errorAction is the member of an action that has its errorActions.
const errorAction = "errorAction"

// errorActions reads what is done when an action has failed: an action, or
// several in order.
func (r *Reading) errorActions(o *document.Object, inherited RetryPolicy, at string) []ActionSpec {
	v, ok := o.Value(errorAction)
	if !ok {
		return nil
	}
	at += "." + errorAction
	switch v.Kind() { //nolint:exhaustive // all others are wrong
	case document.KindObject:
		return r.oneErrorAction(o, inherited, at)
	case document.KindArray:
		return r.listOfErrorActions(o, len(v.Items()), inherited, at)
	}
	o.Problem(errorAction, "must be an object, or an array of objects, not %s", v.Kind())
	return nil
}

func (r *Reading) oneErrorAction(o *document.Object, inherited RetryPolicy, at string) []ActionSpec {
	eo, ok := o.Object(errorAction)
	if !ok || r.tooMany(o, 1) {
		return nil
	}
	defer eo.Done()
	return []ActionSpec{r.action(eo, inherited, at)}
}

func (r *Reading) listOfErrorActions(o *document.Object, n int, inherited RetryPolicy, at string) []ActionSpec {
	if r.tooMany(o, n) {
		return nil
	}
	list, ok := o.Objects(errorAction)
	if ok && len(list) == 0 {
		o.Problem(errorAction, "must not be empty: leave it out, or name what is to be done")
	}
	var all []ActionSpec
	for i, eo := range list {
		all = append(all, r.action(eo, inherited, fmt.Sprintf("%s[%d]", at, i)))
		eo.Done()
	}
	return all
}

// tooMany reports whether n more errorActions are more than a job may have.
func (r *Reading) tooMany(o *document.Object, n int) bool {
	r.errorActionsRead += n
	if r.errorActionsRead <= MaxErrorActions {
		return false
	}
	o.Problem(errorAction, "the job has more than %d errorActions in all", MaxErrorActions)
	return true
}
