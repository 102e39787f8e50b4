package stats

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
)

// The limits of reported failures.
const (
	FailuresMost = 10 // the latest failures
	whyMost      = 240
)

// Failure is a run that failed after all retries.
type Failure struct {
	Job        string    `json:"job"`           // collection/job
	Occurrence string    `json:"occurrence"`    // its ID
	At         time.Time `json:"at"`            // time of the final failure
	Why        string    `json:"why,omitempty"` // one line: the status and the beginning of the response, or the error
}

// failures holds the latest failures of a process. It formats them on request only.
type failures struct {
	last    [FailuresMost]failure // ring buffer; the next index is n modulo the length
	n       int                   // number of failures so far
	changed bool                  // since the last ChangedFailures
}

// failure holds the data of a [Failure].
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

// told returns the failures, oldest first.
func (f *failures) told() []Failure {
	all := make([]Failure, 0, len(f.last))
	for i := max(0, f.n-len(f.last)); i < f.n; i++ {
		one := &f.last[i%len(f.last)]
		why := v1.Answer(&scheduler.Record{Status: one.status, Summary: one.summary, Response: one.response})
		all = append(all, Failure{Job: one.job.String(), Occurrence: one.occurrence, At: one.at.UTC(), Why: short(why)})
	}
	return all
}

// short truncates a long text.
func short(text string) string {
	cut := scheduler.CutText(text, whyMost)
	if len(cut) < len(text) {
		cut += "…"
	}
	return cut
}

// Failures returns the latest failed runs of the process, at most [FailuresMost].
func (r *Recorder) Failures() []Failure {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failures.told()
}

// ChangedFailures calls f with the encoded failures if they have changed since the last call. If f returns false, the
// next call repeats them.
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

// ReadFailures decodes the output of [Recorder.ChangedFailures].
func ReadFailures(data []byte) (all []Failure, err error) {
	err = json.Unmarshal(data, &all)
	return all, err
}

// AddFailures adds the failed runs of a process that are at most a day old.
func (b *Board) AddFailures(all []Failure) {
	for _, f := range all {
		if ago := b.Now.Sub(f.At); ago < 24*time.Hour {
			b.Failures = append(b.Failures, f)
		}
	}
}

// boundFailures keeps the latest failures and removes duplicates: a record that is stored again is reported again.
func (b *Board) boundFailures() {
	slices.SortFunc(b.Failures, func(x, y Failure) int {
		return cmp.Or(y.At.Compare(x.At), cmp.Compare(x.Job, y.Job), cmp.Compare(x.Occurrence, y.Occurrence), cmp.Compare(x.Why, y.Why))
	})
	b.Failures = slices.CompactFunc(b.Failures, func(x, y Failure) bool { return x.Job == y.Job && x.Occurrence == y.Occurrence })
	b.Failures = b.Failures[:min(len(b.Failures), FailuresMost)]
}
