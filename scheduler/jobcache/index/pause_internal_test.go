package index

import (
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// TestPausedAreFound finds and counts jobs while they are paused, and not when the pause is over, was ended, or is of another job.
func TestPausedAreFound(t *testing.T) {
	x := New(Config{})
	now := time.Now()
	revision := uint64(0)
	put := func(name string, state scheduler.State, until time.Time) {
		revision++
		k := scheduler.Key{Collection: "c", Job: name}
		x.note(k, revision)
		x.put(k, revision, &scheduler.Summary{State: state, PausedUntil: until, Updated: now.Add(-time.Hour)})
	}
	found := func(what string, at time.Time, want string) {
		t.Helper()
		q := &scheduler.JobQuery{State: scheduler.Enabled, PausedAt: at}
		r := x.Rank(q, nil, false, 10, false)
		var names []string
		for _, h := range r.Hits {
			names = append(names, h.Key.Job)
		}
		hits, _, _ := x.Find(q, scheduler.Key{}, 0, 10)
		if got := strings.Join(names, " "); got != want || len(hits) != len(names) || r.Count != len(names) || r.Unread != 0 {
			t.Errorf("%s: found %q, %d of them, %d unread, and %v; want %q", what, got, r.Count, r.Unread, hits, want)
		}
		if n := x.Paused(func(collection string) bool { return collection == "c" }); at.Equal(now) && n != len(names) {
			t.Errorf("%s: %d are counted, want %q", what, n, want)
		}
	}
	put("hour", scheduler.Enabled, now.Add(time.Hour))
	put("minute", scheduler.Enabled, now.Add(time.Minute))
	put("past", scheduler.Enabled, now.Add(-time.Minute))
	put("never", scheduler.Enabled, time.Time{})
	put("off", scheduler.Disabled, now.Add(time.Hour))
	found("now", now, "hour minute")
	found("later", now.Add(30*time.Minute), "hour")
	found("much later", now.Add(2*time.Hour), "")
	put("minute", scheduler.Enabled, time.Time{})
	put("never", scheduler.Enabled, now.Add(time.Hour))
	found("after two were changed", now, "hour never")
	x.remove(x.get(scheduler.Key{Collection: "c", Job: "hour"}))
	put("hour", scheduler.Enabled, time.Time{})
	found("after one was made anew", now, "never")
	if n := x.Paused(func(string) bool { return false }); n != 0 {
		t.Errorf("%d of no collection are counted", n)
	}
	k := scheduler.Key{Collection: "c", Job: "never"}
	x.note(k, revision+1)
	if hits, _, _ := x.Find(&scheduler.JobQuery{State: scheduler.Enabled, PausedAt: now}, scheduler.Key{}, 0, 10); len(hits) != 1 || !hits[0].Stale {
		t.Errorf("one that has changed is not read again: %v", hits)
	}
}
