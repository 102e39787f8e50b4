package pulse

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// The bounds of what is told of failures.
const (
	FailuresMost = 10 // the last ones
	whyMost      = 240
)

// Failure is a run that failed for good, after all retries.
type Failure struct {
	Job        string    `json:"job"`           // collection/job
	Occurrence string    `json:"occurrence"`    // its id
	At         time.Time `json:"at"`            // when it was given up
	Why        string    `json:"why,omitempty"` // in a line: the status and the beginning of the answer, or why there was none
}

// failures are the last ones of a process, in the order in which they were stored. Of a record they keep no more than a
// [Failure] is made of.
type failures struct {
	last    []scheduler.Record
	changed bool // since they were last taken
}

func (f *failures) add(r *scheduler.Record) {
	if len(f.last) == FailuresMost {
		f.last = slices.Delete(f.last, 0, 1)
	}
	f.last = append(f.last, scheduler.Record{
		Job: r.Job, Occurrence: r.Occurrence, Ended: when(r), Status: r.Status, Message: r.Message, Response: r.Response,
	})
	f.changed = true
}

func (f *failures) told() []Failure {
	all := make([]Failure, len(f.last))
	for i := range f.last {
		r := &f.last[i]
		all[i] = Failure{Job: r.Job.String(), Occurrence: r.Occurrence, At: r.Ended.UTC(), Why: short(view.Answer(r))}
	}
	return all
}

// short returns the beginning of a text that is too long.
func short(text string) string {
	if len(text) <= whyMost {
		return text
	}
	end := whyMost
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}

// Failures returns the last runs of the process that failed for good, [FailuresMost] at most.
func (r *Recorder) Failures() []Failure {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failures.told()
}

// ChangedFailures calls f with what [Recorder.Failures] returns, written as [ReadFailures] reads it, when there are others
// than at the last call. When f returns false, it is called again the next time.
func (r *Recorder) ChangedFailures(f func(data []byte) bool) {
	r.mu.Lock()
	changed := r.failures.changed
	r.failures.changed = false
	all := r.failures.told()
	r.mu.Unlock()
	if !changed {
		return
	}
	data, err := json.Marshal(all)
	if err != nil || !f(data) {
		r.mu.Lock()
		r.failures.changed = true
		r.mu.Unlock()
	}
}

// ReadFailures reads what [Recorder.ChangedFailures] writes.
func ReadFailures(data []byte) (all []Failure, err error) {
	err = json.Unmarshal(data, &all)
	return all, err
}

// AddFailures adds the last runs of a process that failed for good, unless that was longer ago than a day.
func (b *Board) AddFailures(all []Failure) {
	for _, f := range all {
		if ago := b.Now.Sub(f.At); ago < 24*time.Hour {
			b.Failures = append(b.Failures, f)
		}
	}
}

// boundFailures leaves the last failures of all, each once: a record that is stored again is told again.
func (b *Board) boundFailures() {
	slices.SortFunc(b.Failures, func(x, y Failure) int {
		return cmp.Or(y.At.Compare(x.At), cmp.Compare(x.Job, y.Job), cmp.Compare(x.Occurrence, y.Occurrence), cmp.Compare(x.Why, y.Why))
	})
	b.Failures = slices.CompactFunc(b.Failures, func(x, y Failure) bool { return x.Job == y.Job && x.Occurrence == y.Occurrence })
	b.Failures = b.Failures[:min(len(b.Failures), FailuresMost)]
}
