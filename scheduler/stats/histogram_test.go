package stats

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestBucketsFollowEachOther shows that each length of time is counted in one bucket, and that none is missing.
func TestBucketsFollowEachOther(t *testing.T) {
	last := time.Duration(0)
	for i := range buckets {
		from, to := bounds(i)
		if from != last || to <= from {
			t.Fatalf("bucket %d is from %s to %s, after %s", i, from, to, last)
		}
		if a, b := bucketOf(from), bucketOf(to-1); a != i || b != i {
			t.Errorf("bucket %d: its first length is counted in %d, its last in %d", i, a, b)
		}
		last = to
	}
	if last < 19*time.Hour {
		t.Errorf("the last bucket ends at %s", last)
	}
	for _, d := range []time.Duration{-time.Hour, 0} {
		if bucketOf(d) != 0 {
			t.Errorf("%s is counted in %d", d, bucketOf(d))
		}
	}
	if bucketOf(1000*time.Hour) != buckets-1 {
		t.Error("what is too long is not counted in the last bucket")
	}
}

// TestQuantileIsNear compares what a histogram tells with the lengths themselves.
func TestQuantileIsNear(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lengths := rapid.SliceOfN(rapid.Int64Range(0, int64(18*time.Hour)), 1, 200).Draw(t, "lengths")
		part := rapid.SampledFrom([]float64{0.01, 0.5, 0.9, 0.99, 1}).Draw(t, "part")
		h := &Histogram{}
		for _, d := range lengths {
			h.Observe(time.Duration(d))
		}
		slices.Sort(lengths)
		rank := max(1, int(part*float64(len(lengths))+0.999999))
		want := time.Duration(lengths[rank-1])
		got, ok := h.Quantile(part)
		if off := (got - want).Abs(); !ok || off > want/16+finest {
			t.Fatalf("%g of %d: got %s, want %s", part, len(lengths), got, want)
		}
	})
}

func TestQuantileOfNone(t *testing.T) {
	if d, ok := new(Histogram).Quantile(0.5); ok {
		t.Errorf("got %s", d)
	}
}
