package chaos

import (
	"container/heap"
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// duty is an occurrence that must have happened.
type duty struct {
	job    string // collection/job
	key    string
	window window
}

// due is an occurrence of a job at an instant, which may start until then.
func due(job string, at, until time.Time) duty {
	return duty{job, job + "@" + at.UTC().Format(time.RFC3339Nano), window{at, until}}
}

// verdict is what came of all duties.
type verdict struct {
	runs       int // calls
	duplicates int
	worst      time.Duration // latest first run of an occurrence, from its instant
	spare      time.Duration // least time that was left of a window at a first run
}

// judge is the Chronos check. It matches the windows of each job with its runs, once by time alone, which does not trust
// any id, and once by occurrence. What is not needed is a duplicate, unless it is a retry.
func judge(t *testing.T, duties []duty, calls []call) verdict {
	t.Helper()
	byJob, byKey := map[string][]window{}, map[string][]window{}
	for _, d := range duties {
		byJob[d.job] = append(byJob[d.job], d.window)
		byKey[d.key] = append(byKey[d.key], d.window)
	}
	jobRuns, keyRuns := map[string][]time.Time{}, map[string][]time.Time{}
	v := verdict{runs: len(calls), spare: time.Hour}
	tries := map[attemptID]bool{}
	for _, c := range calls {
		jobRuns[c.job] = append(jobRuns[c.job], c.at)
		keyRuns[c.id.key] = append(keyRuns[c.id.key], c.at)
		if tries[c.id] {
			v.duplicates++
		}
		tries[c.id] = true
		if c.at.Before(c.nominal) {
			t.Errorf("%s was called %s before it was due", c.id, c.nominal.Sub(c.at))
		}
	}
	missing := 0
	for name, windows := range byJob {
		missed, _ := match(windows, jobRuns[name])
		missing += len(missed)
		for _, i := range missed {
			t.Logf("%s: window %s to %s has no run of its own", name, clock(windows[i].from), clock(windows[i].until))
		}
	}
	for key, windows := range byKey {
		missed, _ := match(windows, keyRuns[key])
		if len(missed) > 0 {
			missing++
			t.Logf("%s: not run until %s, but at %v", key, clock(windows[0].until), clocks(keyRuns[key]))
		}
		if runs := keyRuns[key]; len(runs) > 0 {
			first := slices.MinFunc(runs, time.Time.Compare)
			v.worst = max(v.worst, first.Sub(windows[0].from))
			v.spare = min(v.spare, windows[0].until.Sub(first))
		}
	}
	if missing > 0 {
		t.Errorf("%d windows without a run", missing)
	}
	return v
}

func clock(at time.Time) string { return at.UTC().Format("15:04:05.000") }

func clocks(times []time.Time) []string {
	texts := make([]string, len(times))
	for i, at := range times {
		texts[i] = clock(at)
	}
	return texts
}

// repeats checks every repeated call: it comes from another process, and a process leaves at most one call for each job
// to be repeated, or, of a job that may overlap itself, one for each occurrence. It returns how many each process left.
func repeats(t *testing.T, calls []call, overlaps func(job string) bool) map[int64]int {
	t.Helper()
	byAttempt := map[attemptID][]call{}
	for _, c := range calls {
		byAttempt[c.id] = append(byAttempt[c.id], c)
	}
	type trace struct {
		life int64
		name string
	}
	left := map[trace]int{}
	total := map[int64]int{}
	for id, same := range byAttempt {
		slices.SortFunc(same, func(a, b call) int { return a.at.Compare(b.at) })
		for i, c := range same[1:] {
			before := same[i]
			if c.life == before.life {
				t.Errorf("%s was called twice by process %d, at %s and %s", id, c.life, clock(before.at), clock(c.at))
			}
			name := c.job
			if overlaps(c.job) {
				name = id.key
			}
			left[trace{before.life, name}]++
			total[before.life]++
		}
	}
	for tr, n := range left {
		if n > 1 {
			t.Errorf("%s: %d calls of process %d were repeated: it ran only one at a time", tr.name, n, tr.life)
		}
	}
	return total
}

// recordsOf is how many records an attempt may have that was called so many times.
type recordsOf func(called int) int

// Of one server, an attempt has one. In a cluster those who made the calls may all live on, apart from each other, and
// each records what it has done.
func one(int) int            { return 1 }
func oneEach(called int) int { return max(1, called) }

// recorded reports whether every call until end has a record.
func (l *ledger) recorded(called map[string]time.Time, end time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	ids := map[string]bool{}
	for _, records := range l.records {
		for _, r := range records {
			ids[r.ID] = true
		}
	}
	for id, at := range called {
		if !ids[id] && !at.After(end) {
			return false
		}
	}
	return true
}

// attempts checks the history against the calls: every call has a record before long, every attempt at most so many, and what
// ran was not skipped. What was recorded of attempts around the last call or after it is left out: jobs may go on. It returns how
// many attempts each job had.
func (l *ledger) attempts(ctx context.Context, t *testing.T, calls []call, most recordsOf) map[string]int {
	t.Helper()
	called, times := map[string]time.Time{}, map[string]int{}
	end := time.Time{}
	for _, c := range calls {
		called[c.id.String()] = c.at
		times[c.id.String()]++
		end = later(end, c.at)
	}
	end = end.Add(-time.Second)
	within(ctx, patience, func() bool { return l.recorded(called, end) })
	recorded := map[string]int{}
	counts := map[string]int{}
	l.mu.Lock()
	defer l.mu.Unlock()
	for name, records := range l.records {
		for _, r := range records {
			switch r.Outcome {
			case scheduler.OutcomeCompleted, scheduler.OutcomeFailed:
				recorded[r.ID]++
				counts[name]++
				if called[r.ID].IsZero() && r.Status != 0 && !r.Started.After(end) {
					t.Errorf("%s is recorded as %s, but the target was not called", r.ID, r.Outcome)
				}
			default:
				t.Errorf("%s: %s %s from %s to %s (%d): everything was to be made up for",
					name, r.Outcome, r.Reason, clock(r.From), clock(r.To), r.Count)
			}
		}
	}
	for id, at := range called {
		if recorded[id] == 0 && !at.After(end) {
			t.Errorf("%s was called, but has no record", id)
		}
	}
	for id, n := range recorded {
		if n > most(times[id]) {
			t.Errorf("%s has %d records, and was called %d times", id, n, times[id])
		}
	}
	return counts
}

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
