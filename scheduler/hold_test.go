package scheduler_test

import (
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// TestHeldTakes checks that batons that are not almost due get seven eighths of a worker's memory, and the others all
// of it.
func TestHeldTakes(t *testing.T) {
	j := job(t, minutely)
	b := baton(j, "09:01:00")
	for _, row := range []struct {
		name    string
		before  time.Duration
		waiting int
		want    bool
	}{
		{"nothing waits", 10 * time.Second, 0, true},
		{"less than seven eighths", 10 * time.Second, 874, true},
		{"seven eighths", 10 * time.Second, 875, false},
		{"seven eighths, and it is due soon", 751 * time.Millisecond, 875, false},
		{"seven eighths, and it is almost due", 750 * time.Millisecond, 875, true},
		{"all, and it is almost due", 750 * time.Millisecond, 1000, true},
		{"all, and it is late", -time.Hour, 1000, true},
	} {
		h := scheduler.Held{Budget: 1000, Waiting: row.waiting}
		if got := h.Takes(&b, b.Wake().Add(-row.before)); got != row.want {
			t.Errorf("%s: taken %t", row.name, got)
		}
	}
}

// TestHeldCrowded checks that batons before their due time do not count.
func TestHeldCrowded(t *testing.T) {
	for _, row := range []struct {
		waiting, size int
		want          bool
	}{{0, 0, false}, {0, 124, false}, {0, 125, true}, {700, 824, false}, {700, 825, true}} {
		if got := (scheduler.Held{Budget: 1000, Waiting: row.waiting}).Overloaded(row.size); got != row.want {
			t.Errorf("%+v: %t", row, got)
		}
	}
}

// TestComesAgain checks that refused batons return when they are due, one after the other.
func TestComesAgain(t *testing.T) {
	j := job(t, minutely)
	b := baton(j, "09:01:00")
	for before, want := range map[int]time.Duration{
		0: -250 * time.Millisecond, 1: -250*time.Millisecond + 100*time.Microsecond, 10_000: 750 * time.Millisecond,
	} {
		if got := b.ComesAgain(before).Sub(b.Due); got != want {
			t.Errorf("%d before it: %s after it is due, want %s", before, got, want)
		}
	}
}

// TestHeldBytes checks that a definition counts with its document and the cost of its schedule, and a search of the
// history while it runs.
func TestHeldBytes(t *testing.T) {
	small, large := job(t, minutely), job(t, minutely)
	large.Size = small.Size + 8000
	alone, looking := scheduler.HeldBytes(nil, false), scheduler.HeldBytes(nil, true)
	if with := scheduler.HeldBytes(small, false); with <= alone || scheduler.HeldBytes(large, false) != with+8000 || looking <= with {
		t.Errorf("alone %d, looking %d, with a definition %d, with a large one %d", alone, looking, with, scheduler.HeldBytes(large, false))
	}
}

// TestOutdated checks that a schedule edit ends the wait of a held baton. Other edits do not, nor do any for a begun
// occurrence or a disabled job, which are handled when the baton is due.
func TestOutdated(t *testing.T) {
	j := job(t, minutely)
	fresh, begun, manual := baton(j, "09:01:00"), baton(j, "09:01:00", ran(1)), baton(j, "09:01:00", byHand("09:02:00"))
	begun.Try = 1
	moved := edited(t, j, "09:00:00", once+`, "recurrence": {"frequency": "Hour"}`)
	other := edited(t, j, "09:00:00", minutely+`, "description": "x"`)
	namesake := *j
	namesake.UID = "another"
	for name, row := range map[string]struct {
		b    scheduler.Baton
		j    *scheduler.Job
		want bool
	}{
		"nothing is changed":                     {fresh, j, false},
		"its description is":                     {fresh, other, false},
		"its schedule is":                        {fresh, moved, true},
		"its schedule is, and it began":          {begun, moved, false},
		"its schedule is, and it is not of that": {manual, moved, false},
		"it is disabled":                         {fresh, j.WithState(scheduler.Disabled, at("09:00:00"), 0), false},
		"another job has the name":               {fresh, &namesake, false},
	} {
		if got := row.b.Outdated(row.j); got != row.want {
			t.Errorf("%s: outdated %t", name, got)
		}
	}
}

// TestHeldPacks checks that a few batons keep their decoded definitions.
func TestHeldPacks(t *testing.T) {
	for waiting, want := range map[int]bool{0: false, 31: false, 32: true, 900: true} {
		if got := (scheduler.Held{Budget: 1000, Waiting: waiting}).Packs(); got != want {
			t.Errorf("%d bytes of 1000: %t", waiting, got)
		}
	}
}

// TestPacks checks that a definition is packed only if it requires nothing before the attempt, and armed the baton.
func TestPacks(t *testing.T) {
	j, overlapping, text := job(t, minutely), job(t, minutely+`, "overlap": "allow"`), job(t, once+`, "recurrence": {"cron": "* * * * *"}`)
	asks := job(t, minutely+`, "onlyIf": {"job": "a", "since": "PT1H"}`)
	fresh := func(change func(b *scheduler.Baton)) scheduler.Baton {
		b := baton(j, "09:01:00")
		change(&b)
		return b
	}
	namesake := *j
	namesake.UID = "another"
	for name, row := range map[string]struct {
		b    scheduler.Baton
		j    *scheduler.Job
		want bool
	}{
		"planned":                        {baton(j, "09:01:00"), j, true},
		"begun":                          {fresh(func(b *scheduler.Baton) { b.Try = 1 }), j, false},
		"by hand":                        {baton(j, "09:01:00", byHand("09:02:00")), j, false},
		"deferred":                       {fresh(func(b *scheduler.Baton) { b.DeferredUntil = at("09:01:30") }), j, false},
		"woken by the clock's change":    {fresh(func(b *scheduler.Baton) { b.Gap = at("09:00:30") }), j, false},
		"armed with another revision":    {fresh(func(b *scheduler.Baton) { b.Revision++ }), j, false},
		"of another schedule":            {fresh(func(b *scheduler.Baton) { b.Schedule++ }), j, false},
		"of a disabled job":              {baton(j, "09:01:00"), j.WithState(scheduler.Disabled, at("09:00:00"), 0), false},
		"of a deleted job":               {baton(j, "09:01:00"), &namesake, false},
		"of a job that may overlap":      {baton(overlapping, "09:01:00"), overlapping, false},
		"of a job with a condition":      {baton(asks, "09:01:00"), asks, false},
		"of a schedule that takes a bit": {baton(text, "09:01:00"), text, false},
	} {
		if got := row.b.Packs(row.j); got != row.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
