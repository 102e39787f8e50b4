package pulse

import (
	"math/bits"
	"time"
)

// Histogram counts lengths of time, from 16 µs to 19 hours, in buckets of an eighth of the power of two that they begin
// at: what is told of one is wrong by a sixteenth at most. Histograms are added bucket by bucket.
type Histogram [buckets]uint32

const (
	finest  = 16 * time.Microsecond // the width of the first buckets
	eighths = 8                     // buckets in each power of two
	buckets = 240
)

// Observe counts a length of time. One below zero counts as none.
func (h *Histogram) Observe(d time.Duration) { h[bucketOf(d)]++ }

// Add adds the counts of another histogram.
func (h *Histogram) Add(other *Histogram) {
	for i, n := range other {
		h[i] += n
	}
}

// Count is how many were observed.
func (h *Histogram) Count() (n uint64) {
	for _, of := range h {
		n += uint64(of)
	}
	return n
}

// Quantile returns the length that a part of all do not exceed, such as 0.99; false when there are none.
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

// bucketOf returns where a length of time is counted.
func bucketOf(d time.Duration) int {
	v := uint64(max(d, 0) / finest)
	if v < eighths {
		return int(v)
	}
	power := bits.Len64(v) - 4 // 0 from 8 units on
	return min(eighths*power+int(v>>power), buckets-1)
}

// bounds returns the least length that is counted in a bucket, and the first that is not any more.
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
