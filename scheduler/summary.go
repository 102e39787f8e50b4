package scheduler

import (
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// Summary is what a search needs to know of a stored job.
type Summary struct {
	State       State // as it is stored, [Damaged] when it cannot be read
	Incarnation string
	Updated     time.Time // when it was last edited
	PausedUntil time.Time // zero: it is not paused
	Labels      []Label
	Action      string // its type
	Address     string // what it is sent to, see [Definition.Address]
	Progress    Progress
}

// Label is one of a job's labels.
type Label struct{ Name, Value string }

// Summarize reads what a search needs to know of a stored job.
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

// NeverRan is the last outcome of a job that has done nothing yet.
const NeverRan Outcome = "never"

// LastOutcomes are what a job's last outcome may be, for who asks for one.
var LastOutcomes = []Outcome{OutcomeCompleted, OutcomeFailed, OutcomeFaulted, OutcomeSkipped, OutcomePostponed, NeverRan}

// LastOutcome says how what a job did last ended: failed while it is retried, or while its errorAction has yet to run, and
// faulted when that was of no avail. What the progress of the job and its baton, nil for none, tell is told by them; else the
// last record of its history, nil for none, is asked. "" when nothing tells.
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
		return "" // skipped or postponed; only the history tells
	case !p.Any():
		return NeverRan
	case p.Executions > 0 && p.Failures == 0:
		return OutcomeCompleted
	}
	return ""
}
