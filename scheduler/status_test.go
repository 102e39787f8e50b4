package scheduler

import (
	"slices"
	"testing"
)

func TestParseStatus(t *testing.T) {
	for pattern, want := range map[string][2]int{
		"200": {200, 200}, "2xx": {200, 299}, "5XX": {500, 599}, "1xX": {100, 199},
		"200-204": {200, 204}, "100-599": {100, 599}, "404-404": {404, 404},
	} {
		low, high, err := parseStatus(pattern)
		if got := [2]int{low, high}; got != want || err != nil {
			t.Errorf("%s: got %v, %v; want %v", pattern, got, err, want)
		}
	}
	for _, pattern := range []string{
		"", "2", "20", "2000", "20x", "x00", "0xx", "6xx", "099", "600", "-200", "200-", "-",
		"2xx-3xx", "200-204-206", "204-200", "+20", " 200", "200 - 204", "٢٠٠",
	} {
		if low, high, err := parseStatus(pattern); err == nil {
			t.Errorf("%q: got %d-%d, want an error", pattern, low, high)
		}
	}
}

func TestStatusSet(t *testing.T) {
	var s StatusSet
	s.Add(200, 204)
	s.Add(599, 599)
	want := []int{200, 201, 202, 203, 204, 599}
	var got []int
	for status := -1; status < 2000; status++ {
		if s.Has(status) {
			got = append(got, status)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// FuzzParseStatus checks that every accepted pattern is a range of statuses within the set.
func FuzzParseStatus(f *testing.F) {
	for _, seed := range []string{"200", "2xx", "200-204", "599-100", "9xx", "x", "-", "20é"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, pattern string) {
		low, high, err := parseStatus(pattern)
		if err != nil {
			if low != 0 || high != 0 {
				t.Fatalf("%q: got %d-%d with error %v", pattern, low, high, err)
			}
			return
		}
		if low < minStatus || high > maxStatus || low > high {
			t.Fatalf("%q: got %d-%d", pattern, low, high)
		}
		var s StatusSet
		s.Add(low, high)
		if !s.Has(low) || !s.Has(high) || s.Has(low-1) || s.Has(high+1) {
			t.Fatalf("%q: set %v does not hold %d-%d", pattern, s, low, high)
		}
	})
}
