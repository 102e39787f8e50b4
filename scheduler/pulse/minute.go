package pulse

import (
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// Minute is what was done in a minute, or in several that were added.
type Minute struct {
	Completed uint64 // runs whose action succeeded
	Failed    uint64 // runs that failed for good, after all retries
	Attempts  uint64 // that have ended, those of an errorAction too
	Refused   uint64 // attempts that failed
	Skipped   uint64 // due instants that did not run
	Postponed uint64 // times that a run was put off

	Lateness Histogram // of attempts: how long after they were due they began
}

// Runs is how many runs have come to their end.
func (m *Minute) Runs() uint64 { return m.Completed + m.Failed }

// Add adds what was done in another minute.
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

// counts are the numbers in the order in which they are written.
func (m *Minute) counts() [6]*uint64 {
	return [6]*uint64{&m.Completed, &m.Failed, &m.Attempts, &m.Refused, &m.Skipped, &m.Postponed}
}

// empty reports whether nothing was done.
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
	case scheduler.NeverRan: // of no record
	}
}

func (m *Minute) attempt(r *scheduler.Record) {
	m.Attempts++
	m.Lateness.Observe(r.Lateness())
}

// when is the time for which a record counts.
func when(r *scheduler.Record) time.Time {
	if r.Outcome == scheduler.OutcomeFaulted && !r.GivenUp.IsZero() {
		return r.GivenUp
	}
	return r.Ended
}
