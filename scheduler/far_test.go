package scheduler_test

import (
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// TestArmAtHorizon checks that no timer exceeds the range of the server, for any due time.
func TestArmAtHorizon(t *testing.T) {
	const years = 365 * 24 * time.Hour
	j, now := job(t, once), at("09:00:00")
	for due, want := range map[string]time.Time{
		"2027-03-02T09:00:00Z": {}, "2263-01-01T00:00:00Z": now.Add(50 * years), "9999-12-31T23:59:59Z": now.Add(50 * years),
	} {
		armed := j.ArmAt(at(due), now, 0)
		if early := at(due).Sub(armed); want.IsZero() && (early < 0 || early > 3*time.Second) {
			t.Errorf("%s: fired %s earlier", due, early)
		}
		if !want.IsZero() && !armed.Equal(want) {
			t.Errorf("%s: fired at %s, want %s", due, armed, want)
		}
	}
}

// TestDecideEarly covers batons that arrive long before their due time: they wait again unchanged.
func TestDecideEarly(t *testing.T) {
	j := job(t, minutely)
	other := edited(t, j, "08:30:00", once+`, "recurrence": {"frequency": "Hour"}`)
	mustDecide(t, []decideRow{
		{"a planned occurrence", j, false, baton(j, "09:00:00"), "07:59:59", "wait; next 09:00:00"},
		{"its collection is disabled", j, true, baton(j, "09:00:00"), "07:59:59", "wait; next 09:00:00"},
		{"a retry", j, false, baton(j, "09:00:00", begun), "07:59:59", "wait; next 09:00:00 due 09:00:10 try 2"},
		{"a detached retry", j, false, baton(j, "09:00:00", of(scheduler.Detached), begun), "07:59:59", "wait; next 09:00:00 detached due 09:00:10 try 2"},
		{"centuries early", j, false, baton(j, "9999-12-31T23:59:00Z"), "09:00:00", "wait; next 9999-12-31T23:59:00Z"},
		{"its job is disabled", in(scheduler.Disabled, j), false, baton(j, "09:00:00"), "07:59:59", "skip; no baton, disabled"},
		{"its job has no definition", nil, false, baton(j, "09:00:00"), "07:59:59", "astray"},
		{"its job has another schedule", other, false, baton(j, "09:00:00"), "07:59:59", "restart"},
	})
}

// TestDetachedNames checks that detached runs of a job have distinct names over the full range of times.
func TestDetachedNames(t *testing.T) {
	names := map[string]time.Time{}
	for year := 1970; year < 2550; year++ {
		for _, nominal := range []time.Time{
			time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(year, 1, 1, 0, 0, 0, 1, time.UTC), time.Date(year, 4, 11, 23, 47, 16, 854775807, time.UTC),
		} {
			name := scheduler.DetachedName(nominal)
			if before, there := names[name]; there {
				t.Errorf("%s and %s have the name %s", before, nominal, name)
			}
			names[name] = nominal
		}
	}
}

// TestJitterEndsWithTime checks that jitter does not move an occurrence beyond the last year that can be stored.
func TestJitterEndsWithTime(t *testing.T) {
	j := job(t, `"startTime": "9999-12-31T23:59:59Z", "jitter": "PT24H", "recurrence": {"frequency": "Day"}`)
	s := j.Begin(scheduler.Progress{}, at("09:00:00"))
	if s.Next == nil || s.Next.Due.Year() != 9999 {
		t.Fatalf("the next baton is %+v", s.Next)
	}
	if _, err := scheduler.DecodeBaton(s.Next.Encode()); err != nil {
		t.Error(err)
	}
}
