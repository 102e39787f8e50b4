package pulse

import (
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// Minute counts the activity of a minute, or the sum of several.
type Minute struct {
	Completed uint64 // runs that succeeded
	Failed    uint64 // runs that failed after all retries
	Attempts  uint64 // attempts that ended, including those of an errorAction
	Refused   uint64 // attempts that failed
	Skipped   uint64 // due times that did not run
	Postponed uint64 // times that runs were postponed

	Lateness Histogram // from the due time to the start of each attempt
}

// Runs returns the number of runs that have ended.
func (m *Minute) Runs() uint64 { return m.Completed + m.Failed }

// Add adds another minute.
func (m *Minute) Add(other *Minute) {
	m.tally(other)
	m.Lateness.Add(&other.Lateness)
}

// tally adds the counts of another minute.
func (m *Minute) tally(other *Minute) {
	mine, others := m.counts(), other.counts()
	for i := range mine {
		*mine[i] += *others[i]
	}
}

// counts returns the counters in their encoding order.
func (m *Minute) counts() [6]*uint64 {
	return [6]*uint64{&m.Completed, &m.Failed, &m.Attempts, &m.Refused, &m.Skipped, &m.Postponed}
}

// empty reports whether the minute has no activity.
func (m *Minute) empty() bool {
	for _, n := range m.counts() {
		if *n != 0 {
			return false
		}
	}
	return true
}

// count counts a record.
func (m *Minute) count(r *scheduler.Record) {
	switch r.Outcome {
	case scheduler.OutcomeCompleted:
		if r.Phase == scheduler.MainPhase {
			m.Completed++
		}
		m.attempt(r)
	case scheduler.OutcomeFailed:
		m.Refused++
		m.attempt(r)
	case scheduler.OutcomeFaulted:
		m.Failed++
	case scheduler.OutcomeSkipped:
		m.Skipped += uint64(max(r.Count, 1))
	case scheduler.OutcomePostponed:
		m.Postponed++
	case scheduler.NeverRan: // never recorded
	}
}

func (m *Minute) attempt(r *scheduler.Record) {
	m.Attempts++
	m.Lateness.Observe(r.Lateness())
}

// when returns the time that a record counts for.
func when(r *scheduler.Record) time.Time {
	if r.Outcome == scheduler.OutcomeFaulted && !r.GivenUp.IsZero() {
		return r.GivenUp
	}
	return r.Ended
}
