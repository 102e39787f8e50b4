package scheduler

import "time"

// PublishedSpec is a job spec that someone published for the scheduler to take
// in, as it came.
type PublishedSpec struct {
	Verb      string // put, patch, delete, run, enable, disable, or whatever was sent
	Name      string // <collection>.<job> when it is well formed
	Body      []byte
	Sequence  uint64    // its place among all published specs
	Published time.Time // when it was stored
	Lease     Lease
}
