package scheduler

import (
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// Summary holds the fields of a stored job that searches need.
type Summary struct {
	State       State // as stored; [Damaged] if it cannot be decoded
	Incarnation string
	Updated     time.Time // last edit
	PausedUntil time.Time // zero: not paused
	Labels      []Label
	Action      string // type of the action
	Address     string // see [Definition.Address]
	Progress    Progress
}

// Label is a label of a job.
type Label struct{ Name, Value string }

// Summarize decodes the summary of a stored job.
func Summarize(st Stored) Summary {
	if checkForm(st.Data) != nil {
		return Summary{State: Damaged}
	}
	head, properties, err := SplitStored(st.Data)
	if err != nil {
		return Summary{State: Damaged}
	}
	var m storedMeta
	if err := m.decode(head); err != nil {
		return Summary{State: Damaged}
	}
	v, err := document.Parse(properties)
	if err != nil {
		return Summary{State: Damaged}
	}
	s := Summary{
		State: m.State, Incarnation: (&Job{UID: m.UID}).Incarnation(), Updated: m.Updated, PausedUntil: m.PausedUntil, Progress: m.Progress,
	}
	action, _ := v.Member("action")
	kind, _ := action.Member("type")
	s.Action, s.Address = kind.Text(), addressOf(action)
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
	if told := toldOutcome(p, b); told != "" {
		return told
	}
	if last == nil {
		return ""
	}
	return last.Outcome
}

// toldOutcome is the part of [LastOutcome] that needs no history.
func toldOutcome(p *Progress, b *Baton) Outcome {
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
