package chaos

import (
	"container/heap"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// window is a span of time in which a run is due, both ends included.
type window struct{ from, until time.Time }

// match pairs windows with runs, each with at most one of the other, and leaves as few windows as possible without one.
// It returns the places of windows without a run, and of runs without a window, in order.
//
// It takes the runs in the order of time and gives each to the open window that closes first, which is optimal for
// intervals (Glover 1967): any other choice can be exchanged for it.
func match(windows []window, runs []time.Time) (missed, extra []int) {
	byFrom := order(len(windows), func(a, b int) int { return windows[a].from.Compare(windows[b].from) })
	open := &closingFirst{windows: windows}
	for _, run := range order(len(runs), func(a, b int) int { return runs[a].Compare(runs[b]) }) {
		at := runs[run]
		for len(byFrom) > 0 && !windows[byFrom[0]].from.After(at) {
			heap.Push(open, byFrom[0])
			byFrom = byFrom[1:]
		}
		for open.Len() > 0 && windows[open.places[0]].until.Before(at) {
			missed = append(missed, heap.Pop(open).(int))
		}
		if open.Len() == 0 {
			extra = append(extra, run)
			continue
		}
		heap.Pop(open)
	}
	missed = append(append(missed, open.places...), byFrom...)
	slices.Sort(missed)
	slices.Sort(extra)
	return missed, extra
}

func order(n int, compare func(a, b int) int) []int {
	places := make([]int, n)
	for i := range places {
		places[i] = i
	}
	slices.SortStableFunc(places, compare)
	return places
}

// closingFirst is a heap of places of windows.
type closingFirst struct {
	windows []window
	places  []int
}

func (h *closingFirst) Len() int { return len(h.places) }
func (h *closingFirst) Less(i, j int) bool {
	return h.windows[h.places[i]].until.Before(h.windows[h.places[j]].until)
}
func (h *closingFirst) Swap(i, j int) { h.places[i], h.places[j] = h.places[j], h.places[i] }
func (h *closingFirst) Push(x any)    { h.places = append(h.places, x.(int)) }
func (h *closingFirst) Pop() any {
	last := h.places[len(h.places)-1]
	h.places = h.places[:len(h.places)-1]
	return last
}

func TestMatch(t *testing.T) {
	epoch := time.Unix(0, 0)
	second := func(n int) time.Time { return epoch.Add(time.Duration(n) * time.Second) }
	span := func(from, until int) window { return window{second(from), second(until)} }
	tests := []struct {
		name          string
		windows       []window
		runs          []int
		missed, extra []int
	}{
		{"nothing", nil, nil, nil, nil},
		{"each its own", []window{span(0, 5), span(10, 15)}, []int{0, 15}, nil, nil},
		{"early", []window{span(1, 5)}, []int{0}, []int{0}, []int{0}},
		{"late", []window{span(1, 5)}, []int{6}, []int{0}, []int{0}},
		{"twice", []window{span(1, 5)}, []int{2, 3}, nil, []int{1}},
		{"one run does not serve two", []window{span(0, 9), span(1, 9)}, []int{5}, []int{1}, nil},
		{"the one that closes first goes first", []window{span(0, 9), span(1, 3)}, []int{2, 8}, nil, nil},
		{"runs out of order", []window{span(0, 2), span(4, 6)}, []int{5, 1}, nil, nil},
		{"two windows that close together", []window{span(0, 9), span(8, 9)}, []int{8, 8}, nil, nil},
	}
	for _, test := range tests {
		runs := make([]time.Time, len(test.runs))
		for i, n := range test.runs {
			runs[i] = second(n)
		}
		missed, extra := match(test.windows, runs)
		if len(missed) != len(test.missed) || !slices.Equal(extra, test.extra) {
			t.Errorf("%s: missed %v and extra %v, want %v and %v", test.name, missed, extra, test.missed, test.extra)
		}
	}
}

// TestMatchIsBest compares match with the textbook's augmenting paths.
func TestMatchIsBest(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	epoch := time.Unix(0, 0)
	for range 5000 {
		windows := make([]window, rng.IntN(8))
		for i := range windows {
			from := epoch.Add(time.Duration(rng.IntN(12)) * time.Second)
			windows[i] = window{from, from.Add(time.Duration(rng.IntN(6)) * time.Second)}
		}
		runs := make([]time.Time, rng.IntN(8))
		for i := range runs {
			runs[i] = epoch.Add(time.Duration(rng.IntN(18)) * time.Second)
		}
		missed, extra := match(windows, runs)
		matched := augment(windows, runs)
		if len(windows)-len(missed) != matched || len(runs)-len(extra) != matched {
			t.Fatalf("windows %v, runs %v: %d missed and %d extra, but %d can be matched", windows, runs, len(missed), len(extra), matched)
		}
	}
}

// augment returns the size of a maximum matching.
func augment(windows []window, runs []time.Time) int {
	owner := make([]int, len(runs))
	for i := range owner {
		owner[i] = -1
	}
	size := 0
	for w := range windows {
		if assign(windows, runs, owner, w, map[int]bool{}) {
			size++
		}
	}
	return size
}

func assign(windows []window, runs []time.Time, owner []int, w int, tried map[int]bool) bool {
	for r, at := range runs {
		if tried[r] || at.Before(windows[w].from) || at.After(windows[w].until) {
			continue
		}
		tried[r] = true
		if owner[r] < 0 || assign(windows, runs, owner, owner[r], tried) {
			owner[r] = w
			return true
		}
	}
	return false
}
