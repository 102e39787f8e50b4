package calendar_test

import (
	"testing"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/calendar"
)

func TestGap(t *testing.T) {
	from := time.Date(2026, 3, 7, 7, 30, 0, 750_000_000, time.UTC)
	for _, test := range []struct {
		gap  time.Duration
		want string
	}{
		{24 * time.Hour, "1 day"},
		{23 * time.Hour, "23 h"},
		{25 * time.Hour, "1 day 1 h"},
		{7 * 24 * time.Hour, "7 days"},
		{7*24*time.Hour - time.Hour, "6 days 23 h"},
		{1461 * 24 * time.Hour, "1461 days"},
		{90 * time.Minute, "1 h 30 min"},
		{time.Minute, "1 min"},
		{15 * time.Minute, "15 min"},
		{time.Second, "1 s"},
		{61 * time.Second, "1 min 1 s"},
		{24*time.Hour + time.Second, "1 day 1 s"},
		{1500 * time.Millisecond, "1.5 s"},
		{250 * time.Millisecond, "0.25 s"}, // over the full second
		{time.Hour + time.Nanosecond, "1 h 0.000000001 s"},
		{0, "0 s"},
	} {
		if got := calendar.Gap(from, from.Add(test.gap)); got != test.want {
			t.Errorf("%s: %q, want %q", test.gap, got, test.want)
		}
	}
}

// TestGapOfCenturies shows a gap that is too long for a time.Duration.
func TestGapOfCenturies(t *testing.T) {
	from, to := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 1, 1, 0, 0, 1, 0, time.UTC)
	if got, want := calendar.Gap(from, to), "2912078 days 1 s"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
