package scheduler

import (
	"slices"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// JobQuery selects jobs. The zero JobQuery selects all.
type JobQuery struct {
	// Collections to search, sorted; nil: all.
	Collections []string

	// Sees reports whether the caller may see a collection; nil: all.
	Sees func(collection string) bool

	// PausedAt selects enabled jobs that are paused at that time. Zero: no filter.
	PausedAt time.Time

	Prefix string   // of the name
	State  State    // "": any
	Labels Selector // nil: any

	// Inherited returns the labels that a collection passes to its jobs; nil: none.
	Inherited func(collection string) map[string]string

	Action string // type of the action, in any letter case; "": any
	Target string // of the action (see [Action]), or its host without the port, in any letter case; "": any

	// Text is a substring, in any letter case, of the name, of a label in the form name=value, or of the action's
	// address ([Definition.Address]). With a slash, it also matches collection/name. "": any.
	Text string

	// Outcome is the last outcome of the job, see [LastOutcome]. "": any.
	Outcome Outcome

	// Order is the sort order; Descending reverses it. Jobs without a value come last in both directions, and equal
	// jobs are in order of collection and name.
	Order      JobOrder
	Descending bool

	// WithOutcome requests the last outcome of each result.
	WithOutcome bool

	// From (inclusive) and Before (exclusive) limit the time of the next run, as in [Baton.MayRun], including an
	// attempt in progress. Zero: no limit. With a limit, jobs without a next run are not selected.
	From, Before time.Time
}

// JobOrder is a sort order of jobs.
type JobOrder string

// The sort orders.
const (
	OrderByName JobOrder = ""     // by collection and name
	OrderByNext JobOrder = "next" // by the time of the next run
	OrderByLast JobOrder = "last" // by the start of the last attempt, to the second
)

// ByName reports whether the query filters by name only.
func (q *JobQuery) ByName() bool {
	return q.State == "" && q.PausedAt.IsZero() && q.Labels == nil && q.Action+q.Target+q.Text == "" && q.Outcome == "" && !q.ByTime()
}

// ByTime reports whether the query depends on the next run of a job.
func (q *JobQuery) ByTime() bool { return !q.From.IsZero() || !q.Before.IsZero() }

// Within reports whether the query includes jobs of a collection.
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

// Wants reports whether the query selects j in its current state, regardless of its name. next is its next run, zero
// for none.
func (q *JobQuery) Wants(j *Job, next time.Time) bool {
	return (q.State == "" || j.State == q.State) && (q.PausedAt.IsZero() || j.State == Enabled && j.PausedAt(q.PausedAt)) &&
		(q.Action == "" || strings.EqualFold(j.Def.Action.Type, q.Action)) &&
		(q.Target == "" || j.Def.Action.Run != nil && IsTarget(j.Def.Action.Run.Target(), q.Target)) &&
		q.Labels.Matches(j.Def.Labels) && q.Runs(next) && (q.Text == "" || q.tells(j))
}

// tells reports whether j contains the text of the query.
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

// FoldText removes differences of letter case from a text.
func FoldText(text string) string { return strings.ToLower(text) }

// Runs reports whether the query selects jobs by a next run at a time, which is zero for none.
func (q *JobQuery) Runs(next time.Time) bool {
	if !q.ByTime() {
		return true
	}
	return !next.IsZero() && !next.Before(q.From) && (q.Before.IsZero() || next.Before(q.Before))
}

// Summary holds the fields of a stored job that searches need.
type Summary struct {
	State       State // as stored; [Damaged] if it cannot be decoded
	Incarnation string
	Updated     time.Time // last edit
	PausedUntil time.Time // zero: not paused
	Labels      []Label
	Action      string // type of the action
	Address     string // see [Definition.Address]
	Target      string // of the action, see [Action]; "" if it cannot be read
	Progress    Progress
	Triggered   bool // it has links to events or other jobs
}

// Label is a label of a job.
type Label struct{ Name, Value string }

// Summarize decodes the summary of a stored job.
func Summarize(st Stored, actions ActionReader) Summary {
	if checkForm(st.Data) != nil {
		return Summary{State: Damaged}
	}
	head, properties, err := SplitStored(st.Data)
	if err != nil {
		return Summary{State: Damaged}
	}
	var m storedMeta
	if err := m.decode(head, ""); err != nil {
		return Summary{State: Damaged}
	}
	v, err := document.Parse(properties)
	if err != nil {
		return Summary{State: Damaged}
	}
	s := Summary{
		State: m.State, Incarnation: (&Job{UID: m.UID}).Incarnation(), Updated: m.Updated, PausedUntil: m.PausedUntil, Progress: m.Progress,
	}
	for _, field := range []string{"trigger", "onlyIf", "onSuccess", "onFailure"} {
		links, _ := v.Member(field)
		s.Triggered = s.Triggered || links.Kind() == document.KindObject || links.Kind() == document.KindArray
	}
	action, _ := v.Member("action")
	kind, _ := action.Member("type")
	if document.MayHoldSealed(properties) {
		action = action.Unseal("", func(string, string) (string, error) { return "", errSealed })
	}
	s.Action, s.Address = kind.Text(), addressOf(action)
	s.Target = targetOf(action, s.Action, actions)
	labels, _ := v.Member("labels")
	for _, l := range labels.Members() {
		s.Labels = append(s.Labels, Label{l.Name, l.Value.Text()})
	}
	return s
}

// NeverRan is the last outcome of a job that has not run yet.
const NeverRan Outcome = "never"

// LastOutcomes are the last outcomes that queries can select.
var LastOutcomes = []Outcome{OutcomeCompleted, OutcomeFailed, OutcomeFaulted, OutcomeSkipped, OutcomePostponed, NeverRan}

// LastOutcome returns the last outcome of a job: failed during retries or before its errorAction has run, and faulted
// after that. It uses the progress of the job and its baton (nil for none) where they are sufficient, else last, the
// last record of the history (nil for none). "" if unknown.
func LastOutcome(p *Progress, b *Baton, last *Record) Outcome {
	if told := recordedOutcome(p, b); told != "" {
		return told
	}
	if last == nil {
		return ""
	}
	return last.Outcome
}

// recordedOutcome is the part of [LastOutcome] that needs no history.
func recordedOutcome(p *Progress, b *Baton) Outcome {
	switch {
	case b != nil && b.DeferralRecorded:
		return OutcomePostponed
	case b != nil && b.Attempt > 0 || b != nil && b.Phase == ErrorPhase && b.ErrorAction == 0:
		return OutcomeFailed
	case b != nil && b.Begun():
		return ""
	case b != nil && b.PostponementRecorded:
		return OutcomePostponed
	case p.GaveUp:
		return OutcomeSkipped
	case p.Seen.After(p.Ran):
		return "" // skipped or postponed; see the history
	case !p.Any():
		return NeverRan
	case p.Executions > 0 && p.Failures == 0:
		return OutcomeCompleted
	}
	return ""
}
