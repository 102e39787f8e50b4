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
