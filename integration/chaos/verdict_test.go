package chaos

import (
	"context"
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
