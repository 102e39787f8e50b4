package pulse

import (
	"math/bits"
	"time"
)

// Histogram counts durations from 16 µs to 19 hours. Each power of two has eight buckets, which limits the error of a
// quantile to one sixteenth.
type Histogram [buckets]uint32

const (
	finest  = 16 * time.Microsecond // width of the first buckets
	eighths = 8 // buckets per power of two
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
