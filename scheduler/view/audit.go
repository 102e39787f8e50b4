package view

import "github.com/carillon-sched/carillon/scheduler"

// AuditReport is what an audit found.
type AuditReport struct {
	Jobs     int       `json:"jobs"`    // definitions seen
	Waiting  int       `json:"waiting"` // batons waiting for their time
	Running  int       `json:"running"` // batons with a worker
	Findings []Finding `json:"findings"`
	Fixed    int       `json:"fixed"`

	// Ended are the jobs that have ended, by their histories, and whose definitions do
	// not say so yet. That is written when there is leisure; nothing is broken about them.
	Ended int `json:"ended"`

	// NeverRan are jobs, a thousand at most, that are over and have never run:
	// their schedules had no time left. Nothing is broken about them.
	NeverRan []string `json:"neverRan,omitempty"`

	// Undecryptable tells of secrets that this process has not the keys for, as far
	// as a sample of the jobs shows.
	Undecryptable []Undecryptable `json:"unopened,omitempty"`

	// Duration of the audit.
	Duration scheduler.Seconds `json:"duration"`
}

// Finding is one thing an audit found wrong.
type Finding struct {
	Job     scheduler.Key `json:"-"`
	Name    string        `json:"job"`     // collection/job
	Problem string        `json:"problem"` // what is wrong, for people
	Fixed   bool          `json:"fixed"`
	Damaged bool          `json:"damaged,omitempty"` // what is stored cannot be read; only a put mends it

	// Lost: the job's definition was lost, or may have been, and only who has a copy
	// can mend that. Its batons wait for it.
	Lost bool `json:"lost,omitempty"`
}

// Lost returns the names of the jobs and collections whose definitions are lost, or
// may be.
func (r *AuditReport) Lost() []string {
	var names []string
	for _, f := range r.Findings {
		if f.Lost {
			names = append(names, f.Name)
		}
	}
	return names
}
