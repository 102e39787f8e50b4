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

// failures are the last ones of a process. What is shown of them is written only when somebody asks.
type failures struct {
	last    [FailuresMost]failure // the next one stands at n modulo their number
	n       int                   // how many there were
	changed bool                  // since they were last taken
}

// failure is what a [Failure] is made of.
type failure struct {
	job               scheduler.Key
	occurrence        string
	at                time.Time
	status            int
	summary, response string
}

func (f *failures) add(r *scheduler.Record) {
	f.last[f.n%len(f.last)] = failure{r.Job, r.Occurrence, when(r), r.Status, r.Short(), r.Response}
	f.n++
	f.changed = true
}

// told returns them, the oldest first.
func (f *failures) told() []Failure {
	all := make([]Failure, 0, len(f.last))
	for i := max(0, f.n-len(f.last)); i < f.n; i++ {
		one := &f.last[i%len(f.last)]
		why := view.Answer(&scheduler.Record{Status: one.status, Summary: one.summary, Response: one.response})
		all = append(all, Failure{Job: one.job.String(), Occurrence: one.occurrence, At: one.at.UTC(), Why: short(why)})
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
