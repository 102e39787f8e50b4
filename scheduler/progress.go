package scheduler

import (
	"slices"
	"time"
)

// Progress is what a job has done so far.
type Progress struct {
	Number     int       `json:"number,omitempty"`     // occurrences begun, by schedule or by hand
	Runs       int       `json:"runs,omitempty"`       // occurrences begun by schedule: what recurrence.count limits
	Executions int       `json:"executions,omitempty"` // attempts of the main action that ended
	Failures   int       `json:"failures,omitempty"`   // of these, the failed ones
	Errors     int       `json:"errors,omitempty"`     // attempts of errorActions that ended
	ErrorFails int       `json:"errorFails,omitempty"` // of these, the failed ones
	Faults     int       `json:"faults,omitempty"`     // occurrences that failed for good
	Last       time.Time `json:"last,omitzero"`        // start of the last attempt
	Seen       time.Time `json:"seen,omitzero"`        // last nominal instant that was run or skipped
	Base       time.Time `json:"base,omitzero"`        // start of the last execution that moved the schedule: [spec.Plan.Base]
	Ran        time.Time `json:"ran,omitzero"`         // nominal instant of the last occurrence that ran
	Prior      time.Time `json:"prior,omitzero"`       // and of the one before

	// GaveUp: the search for the next run took too much work, so that the job is
	// over before its schedule may be.
	GaveUp bool `json:"gaveUp,omitempty"`

	// Merged are the detached runs last counted in, by the ids of their nominal
	// instants: none is counted twice after a crash.
	Merged []int64 `json:"merged,omitempty"`
}

// afresh is the progress of a job whose schedule is new: the counters stay, and
// the count begins again.
func (p *Progress) afresh() Progress {
	next := *p
	next.Runs, next.Seen, next.Base, next.GaveUp = 0, time.Time{}, time.Time{}, false
	return next
}

// equal reports whether p and q say the same.
func (p *Progress) equal(q *Progress) bool {
	return p.Number == q.Number && p.Runs == q.Runs && p.Executions == q.Executions && p.Failures == q.Failures && p.Faults == q.Faults &&
		p.Errors == q.Errors && p.ErrorFails == q.ErrorFails && p.GaveUp == q.GaveUp && slices.Equal(p.Merged, q.Merged) &&
		p.Last.Equal(q.Last) && p.Seen.Equal(q.Seen) && p.Base.Equal(q.Base) && p.Ran.Equal(q.Ran) && p.Prior.Equal(q.Prior)
}

// Any reports whether the job has run at all, by schedule or by hand.
func (p *Progress) Any() bool { return p.Number > 0 || p.Executions > 0 }

// none reports whether p is zero: nothing has run, been skipped or been given up.
func (p *Progress) none() bool {
	return p.Number == 0 && p.Runs == 0 && p.Executions == 0 && p.Failures == 0 && p.Faults == 0 && p.Errors == 0 &&
		p.ErrorFails == 0 && !p.GaveUp && p.Merged == nil && p.Last.IsZero() && p.Seen.IsZero() &&
		p.Base.IsZero() && p.Ran.IsZero() && p.Prior.IsZero()
}

// ran notes that the occurrence of an instant runs.
func (p *Progress) ran(nominal time.Time) {
	if !p.Ran.Equal(nominal) {
		p.Prior, p.Ran = p.Ran, nominal
	}
}

// mergedKept is how many detached runs are remembered as counted in: more than
// end within the seconds that a redelivery takes.
const mergedKept = 32

// Merge adds the counters of the detached run of an instant. False means that
// they had been added before.
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

// keep makes sure that p counts no less than q did before: a baton that was
// delivered again, when a process had died, does not know what was counted in
// after it.
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

// later returns the later of two instants.
func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
