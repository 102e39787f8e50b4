package forecast_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/scheduler/forecast"
)

// TestSlots compares hours with the minutes of the report, and names the jobs that run least often.
func TestSlots(t *testing.T) {
	f := forecast.New(noon, 4)
	f.Add(named(t, "often", january, "a:1", `"startTime": "2026-01-01T00:00:00Z", "recurrence": {"frequency": "Second", "interval": 5}`), nil)
	f.Add(named(t, "minutely", january, "a:1", `"startTime": "2026-01-01T00:00:30Z", "recurrence": {"frequency": "Minute"}`), nil)
	for i := range 40 {
		f.Add(named(t, fmt.Sprintf("herd-%02d", i), january, "a:1", `"startTime": "2026-01-01T14:00:00Z", "recurrence": {"frequency": "Day"}`), nil)
	}
	f.Add(named(t, "late", january, "a:1", `"startTime": "2026-01-01T14:45:00Z", "recurrence": {"frequency": "Day"}`), nil)
	half := noon.Add(30 * time.Minute) // as hours begin in India
	instants := []time.Time{noon.Add(-30 * time.Minute), half, half.Add(time.Hour), half.Add(2 * time.Hour), half.Add(3 * time.Hour)}
	const most = 4
	var got []string
	perMinute := f.Report().PerMinute
	slots, throughout := f.Slots(instants, most)
	for i, s := range slots {
		sum := 0
		for m, n := range perMinute {
			if minute := noon.Add(time.Duration(m) * time.Minute); !minute.Before(instants[i]) && minute.Before(instants[i+1]) {
				sum += n
			}
		}
		if s.Runs != sum || !s.From.Equal(instants[i]) || !s.To.Equal(instants[i+1]) {
			t.Errorf("%v: %d runs, want %d", s.From, s.Runs, sum)
		}
		texts := []string{strconv.Itoa(s.Jobs)}
		for _, j := range s.Some {
			texts = append(texts, fmt.Sprintf("%s %s×%d", j.First.Format("15:04"), j.Key.Job, j.Runs))
		}
		got = append(got, strings.Join(texts, " "))
	}
	want := strings.Split(`2 12:00 minutely×30 12:00 often×360
2 12:30 minutely×60 12:30 often×720
42 14:00 herd-00×1 14:00 herd-01×1 14:00 herd-02×1 14:00 herd-03×1
3 14:30 minutely×60 14:30 often×720 14:45 late×1`, "\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if throughout.Jobs != 0 {
		t.Errorf("of four slots, %v runs in most", throughout)
	}
	if none, _ := f.Slots(nil, most); len(none) != 0 {
		t.Errorf("between no instants there are %v", none)
	}
}

// TestSlotsThroughout has a day with jobs that run all the time, which are named once, and few that do not.
func TestSlotsThroughout(t *testing.T) {
	f := forecast.New(noon, 24)
	for i := range 5 {
		f.Add(named(t, fmt.Sprintf("hourly-%d", i), january, "a:1", `"startTime": "2026-01-01T00:00:00Z", "recurrence": {"frequency": "Hour"}`), nil)
	}
	f.Add(named(t, "some", january, "a:1", `"recurrence": {"cron": "30 14,20 * * *"}`), nil)
	var at []time.Time
	for h := range 25 {
		at = append(at, noon.Add(time.Duration(h)*time.Hour))
	}
	slots, throughout := f.Slots(at, 4)
	if throughout.Jobs != 5 || throughout.Runs != 120 || len(throughout.Some) != 4 || throughout.Some[0].Runs != 24 {
		t.Errorf("throughout run %+v", throughout)
	}
	for i, s := range slots {
		want, jobs := 0, 5
		if i == 2 || i == 8 {
			want, jobs = 1, 6
		}
		if len(s.Some) != want || s.Jobs != jobs || s.Runs != jobs {
			t.Errorf("%s: %+v", s.From, s)
		}
	}
	if slots, throughout := f.Slots(at, 6); throughout.Jobs != 0 || len(slots[2].Some) != 6 {
		t.Errorf("where all can be named: %+v, %+v", slots[2], throughout)
	}
}
