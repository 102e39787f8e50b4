package scheduler_test

import (
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// herdSeconds is the number of seconds that are counted concurrently.
const herdSeconds = 4096

// TestHerdsAreSpread checks that in a large herd, later batons are fired earlier, so that the rate stays within the
// limit; a small herd is not moved.
func TestHerdsAreSpread(t *testing.T) {
	const step = 250 * time.Millisecond
	const daily, perMinute, secondly = `, "recurrence": {"frequency": "Day"}`, `, "recurrence": {"frequency": "Minute"}`,
		`, "recurrence": {"frequency": "Second", "interval": 59}`
	for _, row := range []struct {
		name  string
		every string
		herd  int
		most  int           // fired in a quarter of a second
		first time.Duration // before half a second before it is due: no earlier
		least time.Duration // but as early as this
	}{
		{"a few, once", "", 1000, 200, 2 * time.Second, 1900 * time.Millisecond},
		{"as many as two seconds take", "", 20_000, 2700, 2 * time.Second, 1990 * time.Millisecond},
		{"a herd", "", 60_000, 2700, 6 * time.Second, 5900 * time.Millisecond},
		{"a herd of days", daily, 60_000, 2700, 6 * time.Second, 5900 * time.Millisecond},
		{"a herd of minutes", perMinute, 60_000, 2800, 6 * time.Second, 5900 * time.Millisecond},
		{"a few of minutes", perMinute, 300, 300, 2 * time.Second / 60, 10 * time.Millisecond},
		{"below a minute", secondly, 60_000, 60_000, 1, 0},
		{"more than can be held for long", "", 200_000, 5500, 10 * time.Second, 9990 * time.Millisecond},
	} {
		j, due := job(t, once+row.every), at("09:00:00")
		var herds scheduler.BurstCounter
		fired, first := map[int]int{}, time.Duration(0)
		for i := range row.herd {
			j.Key.Job = "job" + time.Duration(i).String()
			armed := j.ArmAt(due, due.Add(-time.Hour), herds.Join(due, due.Add(-time.Hour)))
			early := due.Add(-500 * time.Millisecond).Sub(armed)
			if early < 0 || early > row.first {
				t.Fatalf("%s: number %d is fired %s earlier", row.name, i, early)
			}
			first = max(first, early)
			fired[int(early/step)]++
		}
		for at, n := range fired {
			if n > row.most {
				t.Errorf("%s: %d are fired %s earlier", row.name, n, time.Duration(at)*step)
			}
		}
		if first < row.least {
			t.Errorf("%s: none is fired more than %s earlier", row.name, first)
		}
	}
}

// TestHerdsOfAStoreThatWaits checks that a herd is fired at a tenth of the rate if every write is synced to disk.
func TestHerdsOfAStoreThatWaits(t *testing.T) {
	j, due := job(t, once), at("09:00:00")
	herds, earlier := scheduler.BurstCounter{Waits: true}, map[time.Duration]int{}
	for range 10_000 {
		before := herds.Join(due, due.Add(-time.Hour))
		earlier[due.Add(-500*time.Millisecond).Sub(j.ArmAt(due, due.Add(-time.Hour), before)).Truncate(time.Second)]++
	}
	for second := 2 * time.Second; second < 10*time.Second; second += time.Second {
		if n := earlier[second]; n != 1000 {
			t.Errorf("%d are fired %s earlier, want 1000", n, second)
		}
	}
}

// TestHerds counts the batons of one second only.
func TestHerds(t *testing.T) {
	now := at("09:00:00")
	soon, later := at("10:00:00"), at("10:00:00").Add(herdSeconds*time.Second) // they share a place
	var h scheduler.BurstCounter
	join := func(due, now time.Time, want int) {
		t.Helper()
		if got := h.Join(due, now); got != want {
			t.Errorf("%d before it, want %d", got, want)
		}
	}
	join(soon, now, 0)
	join(soon.Add(999*time.Millisecond), now, 1)
	join(soon.Add(time.Second), now, 0)
	join(soon, now, 2)
	join(later, now, 0) // not counted
	join(later, now, 0)
	join(soon, now, 1)
	join(later, now, 0)
	join(later, now, 0)
	join(later, now, 0) // it has the place now
	join(later, now, 1)
	join(soon, now, 0)
	join(later, now, 1)
	join(soon.Add(2*herdSeconds*time.Second), later.Add(time.Second), 0) // passed
	join(soon.Add(2*herdSeconds*time.Second), later.Add(time.Second), 1)
	third := later.Add(3 * time.Second)
	for range 1<<20 + 1 {
		h.Join(third, later)
	}
	join(third, later, 1<<20) // more makes no difference
	join(third, later, 1<<20)
}
