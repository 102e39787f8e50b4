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

	// PausedAt: only jobs that are enabled, and paused at that time. Zero: paused or not.
	PausedAt time.Time

	Prefix string   // their names begin with it
	State  State    // "": in any
	Labels Selector // nil: with whatever labels

	// Inherited returns the labels that a collection gives to its jobs; nil: none does.
	Inherited func(collection string) map[string]string

	Action string // their action's type, in any letter case; "": of any

	// Text is contained, in any letter case, in their name, in a label written name=value, or in what their action is sent
	// to ([Definition.Address]). One with a slash is also that of collection/name. "": whatever these are.
	Text string

	// Outcome is how what they did last ended: see [LastOutcome]. "": however.
	Outcome Outcome

	// Order is that in which they come, and Descending turns it round. Those that have nothing to order them by come last
	// either way, and jobs that have the same come by collection and name.
	Order      JobOrder
	Descending bool

	// WithOutcome: how each last ended is wanted to be known of those that are found.
	WithOutcome bool

	// From and Before bound when they run next: at From or later, and before
	// Before. Zero: no bound. With one of them, only those that run again are
	// found. The time is that of [Baton.MayRun], also of the attempt under way.
	From, Before time.Time
}

// JobOrder is an order of jobs.
type JobOrder string

// The orders.
const (
	OrderByName JobOrder = ""     // by collection and name
	OrderByNext JobOrder = "next" // by when they run next
	OrderByLast JobOrder = "last" // by when their last attempt began, to the second
)

// ByName reports whether nothing but the name decides.
func (q *JobQuery) ByName() bool {
	return q.State == "" && q.PausedAt.IsZero() && q.Labels == nil && q.Action == "" && q.Text == "" && q.Outcome == "" && !q.ByTime()
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
	return (q.State == "" || j.State == q.State) && (q.PausedAt.IsZero() || j.State == Enabled && j.PausedAt(q.PausedAt)) &&
		(q.Action == "" || strings.EqualFold(j.Def.Action.Type, q.Action)) &&
		q.Labels.Matches(j.Def.Labels) && q.Runs(next) && (q.Text == "" || q.tells(j))
}

// tells reports whether the text that is looked for is in what a job is found by.
func (q *JobQuery) tells(j *Job) bool {
	text := FoldText(q.Text)
	collection, name, slash := strings.Cut(text, "/")
	if slash && strings.HasSuffix(FoldText(j.Key.Collection), collection) && strings.HasPrefix(FoldText(j.Key.Job), name) {
		return true
	}
	if strings.Contains(FoldText(j.Key.Job), text) || strings.Contains(FoldText(j.Def.Address()), text) {
		return true
	}
	for name, value := range j.Def.Labels {
		if strings.Contains(FoldText(name+"="+value), text) {
			return true
		}
	}
	return false
}

// FoldText returns a text without differences of letter case.
func FoldText(text string) string { return strings.ToLower(text) }

// Runs reports whether jobs are looked for that run next at a time, which is zero
// for not at all.
func (q *JobQuery) Runs(next time.Time) bool {
	if !q.ByTime() {
		return true
	}
	return !next.IsZero() && !next.Before(q.From) && (q.Before.IsZero() || next.Before(q.Before))
}
