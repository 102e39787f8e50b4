package scheduler

import (
	"slices"
	"strings"
	"time"
)

// JobQuery says which jobs are looked for. The zero JobQuery looks for all.
type JobQuery struct {
	// Collections are where they are looked for, sorted; nil: everywhere.
	Collections []string

	// Sees says of each collection whether whoever asks may see it; nil: all.
	Sees func(collection string) bool

	Prefix string   // their names begin with it
	State  State    // "": in any
	Labels Selector // nil: with whatever labels
	Action string   // their action's type, in any letter case; "": of any

	// From and Before bound when they run next: at From or later, and before
	// Before. Zero: no bound. With one of them, only those that run again are
	// found. The time is that of [Baton.MayRun], also of the attempt under way.
	From, Before time.Time
}

// ByName reports whether nothing but the name decides.
func (q *JobQuery) ByName() bool {
	return q.State == "" && q.Labels == nil && q.Action == "" && !q.ByTime()
}

// ByTime reports whether it makes a difference when a job runs next.
func (q *JobQuery) ByTime() bool { return !q.From.IsZero() || !q.Before.IsZero() }

// Within reports whether jobs of a collection are looked for.
func (q *JobQuery) Within(collection string) bool {
	if q.Sees != nil && !q.Sees(collection) {
		return false
	}
	if q.Collections == nil {
		return true
	}
	_, found := slices.BinarySearch(q.Collections, collection)
	return found
}

// Wants reports whether j, as it is now, is looked for, whatever its name is. next
// is when it runs next, zero for not at all.
func (q *JobQuery) Wants(j *Job, next time.Time) bool {
	return (q.State == "" || j.State == q.State) &&
		(q.Action == "" || strings.EqualFold(j.Def.Action.Type, q.Action)) &&
		q.Labels.Matches(j.Def.Labels) && q.Runs(next)
}

// Runs reports whether jobs are looked for that run next at a time, which is zero
// for not at all.
func (q *JobQuery) Runs(next time.Time) bool {
	if !q.ByTime() {
		return true
	}
	return !next.IsZero() && !next.Before(q.From) && (q.Before.IsZero() || next.Before(q.Before))
}
