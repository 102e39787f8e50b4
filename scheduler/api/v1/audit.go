package v1

import "github.com/carillon-sched/carillon/scheduler"

// AuditReport is the result of a consistency check.
type AuditReport struct {
	Jobs     int       `json:"jobs"`    // definitions seen
	Waiting  int       `json:"waiting"` // batons waiting for their time
	Running  int       `json:"running"` // batons with a worker
	Findings []Finding `json:"findings"`
	Fixed    int       `json:"fixed"`

	// Ended counts the jobs whose history records their end and whose definitions do not yet. A background task updates
	// the definitions; these jobs need no repair.
	Ended int `json:"ended"`

	// NeverRan lists jobs that ended without a run, because their schedules had no time left. At most 1,000. They need
	// no repair.
	NeverRan []string `json:"neverRan,omitempty"`

	// Undecryptable lists the keys that this process lacks, as far as a sample of the jobs shows.
	Undecryptable []Undecryptable `json:"unopened,omitempty"`

	// Duration of the check.
	Duration scheduler.Seconds `json:"duration"`
}

// Finding is a problem found by a consistency check.
type Finding struct {
	Job     scheduler.Key `json:"-"`
	Name    string        `json:"job"`     // collection/job
	Problem string        `json:"problem"` // the problem, in English
	Fixed   bool          `json:"fixed"`
	Damaged bool          `json:"damaged,omitempty"` // the stored definition is unreadable; only a put repairs it

	// Lost: the job's definition is lost, or may be. Restore it from a copy; its batons wait for it.
	Lost bool `json:"lost,omitempty"`
}

// Lost returns the names of the jobs and collections whose definitions are lost, or may be.
func (r *AuditReport) Lost() []string {
	var names []string
	for _, f := range r.Findings {
		if f.Lost {
			names = append(names, f.Name)
		}
	}
	return names
}
