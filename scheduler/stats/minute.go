package stats

import (
	"math/bits"
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
	if r.Outcome == scheduler.OutcomeFaulted && !r.FaultedAt.IsZero() {
		return r.FaultedAt
	}
	return r.Ended
}

// Histogram counts durations from 16 µs to 19 hours. Each power of two has eight buckets, which limits the error of a
// quantile to one sixteenth.
type Histogram [buckets]uint32

const (
	finest  = 16 * time.Microsecond // width of the first buckets
	eighths = 8                     // buckets per power of two
	buckets = 240
)

// Observe counts a duration. A negative one counts as 0.
func (h *Histogram) Observe(d time.Duration) { h[bucketOf(d)]++ }

// Add adds the counts of another histogram.
func (h *Histogram) Add(other *Histogram) {
	for i, n := range other {
		h[i] += n
	}
}

// Count returns the number of observations.
func (h *Histogram) Count() (n uint64) {
	for _, of := range h {
		n += uint64(of)
	}
	return n
}

// Quantile returns the duration that a fraction of the observations, such as 0.99, does not exceed. It returns false
// without observations.
func (h *Histogram) Quantile(part float64) (time.Duration, bool) {
	total := h.Count()
	if total == 0 {
		return 0, false
	}
	rank := max(1, uint64(part*float64(total)+0.999999))
	for i, n := range h {
		if uint64(n) >= rank {
			return middle(i), true
		}
		rank -= uint64(n)
	}
	return middle(buckets - 1), true
}

// bucketOf returns the bucket of a duration.
func bucketOf(d time.Duration) int {
	v := uint64(max(d, 0) / finest)
	if v < eighths {
		return int(v)
	}
	power := bits.Len64(v) - 4 // 0 for 8 to 15 units
	return min(eighths*power+int(v>>power), buckets-1)
}

// bounds returns the range of a bucket: from <= d < to.
func bounds(i int) (from, to time.Duration) {
	if i < eighths {
		return time.Duration(i) * finest, time.Duration(i+1) * finest
	}
	power, part := i/eighths-1, eighths+i%eighths
	return time.Duration(part<<power) * finest, time.Duration((part+1)<<power) * finest
}

func middle(i int) time.Duration {
	from, to := bounds(i)
	return (from + to) / 2
}
