package scheduler

import (
	"slices"
	"time"
)

// Progress holds the counters and the schedule position of a job.
type Progress struct {
	Number     int       `json:"number,omitempty"`     // occurrences begun, planned and manual
	Runs       int       `json:"runs,omitempty"`       // planned occurrences begun: recurrence.count limits them
	Executions int       `json:"executions,omitempty"` // ended attempts of the main action
	Failures   int       `json:"failures,omitempty"`   // failed attempts of the main action
	Errors     int       `json:"errors,omitempty"`     // ended attempts of errorActions
	ErrorFails int       `json:"errorFails,omitempty"` // failed attempts of errorActions
	Faults     int       `json:"faults,omitempty"`     // occurrences that failed after all retries
	Last       time.Time `json:"last,omitzero"`        // start of the last attempt
	Seen       time.Time `json:"seen,omitzero"`        // last nominal time that was run or skipped
	Base       time.Time `json:"base,omitzero"`        // start of the last execution that moved the schedule: [spec.Plan.Base]
	Ran        time.Time `json:"ran,omitzero"`         // nominal time of the last occurrence that ran
	Prior      time.Time `json:"prior,omitzero"`       // nominal time of the occurrence that ran before Ran

	// GaveUp: the next run was too expensive to compute, so the job ended although its schedule may have further times.
	GaveUp bool `json:"gaveUp,omitempty"`

	// Merged holds the most recently merged detached runs, by the ids of their nominal times, so that none is counted
	// twice after a crash.
	Merged []int64 `json:"merged,omitempty"`
}

// afresh returns the progress for a new schedule: the counters stay, and the run count restarts.
func (p *Progress) afresh() Progress {
	next := *p
	next.Runs, next.Seen, next.Base, next.GaveUp = 0, time.Time{}, time.Time{}, false
	return next
}

// equal reports whether p and q are equal.
func (p *Progress) equal(q *Progress) bool {
	return p.Number == q.Number && p.Runs == q.Runs && p.Executions == q.Executions && p.Failures == q.Failures && p.Faults == q.Faults &&
		p.Errors == q.Errors && p.ErrorFails == q.ErrorFails && p.GaveUp == q.GaveUp && slices.Equal(p.Merged, q.Merged) &&
		p.Last.Equal(q.Last) && p.Seen.Equal(q.Seen) && p.Base.Equal(q.Base) && p.Ran.Equal(q.Ran) && p.Prior.Equal(q.Prior)
}

// Any reports whether the job has run at all, planned or manually.
func (p *Progress) Any() bool { return p.Number > 0 || p.Executions > 0 }

// ran records that the occurrence at nominal runs.
func (p *Progress) ran(nominal time.Time) {
	if !p.Ran.Equal(nominal) {
		p.Prior, p.Ran = p.Ran, nominal
	}
}

// mergedKept is the number of merged detached runs to remember: more than end within the seconds that a redelivery
// takes.
const mergedKept = 32

// Merge adds the counters of the detached run at nominal. It returns false if they were already merged.
func (p *Progress) Merge(q Progress, nominal time.Time) bool {
	id := instantID(nominal)
	if slices.Contains(p.Merged, id) {
		return false
	}
	p.Merged = append(slices.Clone(p.Merged[max(0, len(p.Merged)-mergedKept+1):]), id)
	p.Executions += q.Executions
	p.Failures += q.Failures
	p.Errors += q.Errors
	p.ErrorFails += q.ErrorFails
	p.Faults += q.Faults
	if q.Last.After(p.Last) {
		p.Last = q.Last
	}
	return true
}

// keep raises the counters of p to at least the counters of q. A baton that is redelivered after a crash lacks the runs
// that were merged after it.
func (p *Progress) keep(q *Progress) {
	p.Number, p.Executions = max(p.Number, q.Number), max(p.Executions, q.Executions)
	p.Failures, p.Faults = max(p.Failures, q.Failures), max(p.Faults, q.Faults)
	p.Errors, p.ErrorFails = max(p.Errors, q.Errors), max(p.ErrorFails, q.ErrorFails)
	if q.Last.After(p.Last) {
		p.Last = q.Last
	}
	for _, id := range q.Merged {
		if !slices.Contains(p.Merged, id) {
			p.Merged = append(slices.Clone(p.Merged[max(0, len(p.Merged)-mergedKept+1):]), id)
		}
	}
}

// later returns the later of two times.
func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
