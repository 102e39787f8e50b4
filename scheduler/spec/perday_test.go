package spec_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// perDayPlan compiles the members of a job that say when it runs.
func perDayPlan(tb testing.TB, properties string, created time.Time) *spec.Plan {
	tb.Helper()
	return must.Get(planOf([]byte(properties), created))(tb)
}

// TestPerDay compares the days of schedules with their runs, walked.
func TestPerDay(t *testing.T) {
	created := time.Date(2026, 3, 5, 10, 20, 30, 0, time.UTC)
	for _, properties := range []string{
		`{}`,
		`{"startTime": "2026-03-09T23:30:00Z"}`,
		`{"recurrence": {"frequency": "hour", "interval": 5}}`,
		`{"recurrence": {"frequency": "hour", "interval": 5, "count": 7}}`,
		`{"recurrence": {"frequency": "hour", "interval": 1, "endTime": "2026-03-08T12:00:00Z"}}`,
		`{"recurrence": {"cron": "0 9 * * MON-FRI"}, "timeZone": "Europe/Berlin"}`,
		`{"recurrence": {"cron": "30 2 * * *"}, "timeZone": "America/New_York", "dst": {"gap": "skip"}}`,
		`{"recurrence": {"cron": "*/20 * * * *", "count": 1000}, "timeZone": "America/New_York"}`,
		`{"recurrence": {"cron": "0 0 30 2 *"}}`,
		`{"recurrence": {"cron": "H H * * *", "dialect": "dsari"}, "timeZone": "Pacific/Apia"}`,
		`{"recurrence": {"rrule": "DTSTART:20260301T000000Z RRULE:FREQ=HOURLY;INTERVAL=7 EXRULE:FREQ=DAILY;INTERVAL=2"}}`,
		`{"recurrence": {"cron": "0 9 * * * * Europe/Berlin; 0 9 * * * * Asia/Tokyo"}}`,
	} {
		p := perDayPlan(t, properties, created)
		from := created.Add(-48 * time.Hour)
		got, complete := p.PerDay(from, 40)
		if !complete || len(got) != 40 {
			t.Errorf("%s: %d days, complete %t", properties, len(got), complete)
		}
		want := make([]int, 40)
		day := from.In(p.Zone())
		v := p.Preview(time.Time{}, 40*24*3)
		for _, run := range v.Times {
			for i := range want {
				begin := time.Date(day.Year(), day.Month(), day.Day()+i, 0, 0, 0, 0, p.Zone())
				end := time.Date(day.Year(), day.Month(), day.Day()+i+1, 0, 0, 0, 0, p.Zone())
				if !run.Before(begin) && run.Before(end) {
					want[i]++
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s:\n got %v\nwant %v", properties, got, want)
		}
	}
}

// TestPerDayBeyond has days before and after all runs of a count.
func TestPerDayBeyond(t *testing.T) {
	created := time.Date(2026, 3, 5, 0, 0, 0, 0, time.UTC)
	p := perDayPlan(t, `{"recurrence": {"frequency": "second", "count": 90000}}`, created)
	got, complete := p.PerDay(created.Add(24*time.Hour), 3)
	if want := []int{3600, 0, 0}; !complete || !slices.Equal(got, want) {
		t.Errorf("got %v %t, want %v", got, complete, want)
	}
	got, complete = p.PerDay(created.Add(96*time.Hour), 2)
	if want := []int{0, 0}; !complete || !slices.Equal(got, want) {
		t.Errorf("got %v %t, want %v", got, complete, want)
	}
}

// TestPerDayIsBounded asks for what takes too long: fewer days come, and soon.
func TestPerDayIsBounded(t *testing.T) {
	many := `{"recurrence": {"cron": "` + strings.Repeat("* * * * * * Europe/Berlin; * * * * * * Asia/Tokyo; ", 20) + `* * * * *"}}`
	p := perDayPlan(t, many, time.Date(2026, 3, 5, 0, 0, 0, 0, time.UTC))
	if got, complete := p.PerDay(time.Date(2026, 3, 5, 0, 0, 0, 0, time.UTC), 371); complete || len(got) == 371 {
		t.Errorf("%d days, complete %t", len(got), complete)
	}
}

func BenchmarkPerDay(b *testing.B) {
	created := time.Date(2026, 3, 5, 0, 0, 0, 0, time.UTC)
	for _, properties := range []string{
		`{"recurrence": {"frequency": "second"}}`,
		`{"recurrence": {"frequency": "hour"}}`,
		`{"recurrence": {"cron": "* * * * *"}, "timeZone": "America/New_York"}`,
		`{"recurrence": {"rrule": "DTSTART:20260301T000000Z RRULE:FREQ=SECONDLY"}}`,
		`{"recurrence": {"cron": "0 9 L * *"}, "timeZone": "America/New_York"}`,
		`{"recurrence": {"cron": "` + strings.Repeat("* * * * * * Europe/Berlin; * * * * * * Asia/Tokyo; ", 20) + `* * * * *"}}`,
	} {
		p := perDayPlan(b, properties, created)
		b.Run(properties[15:min(60, len(properties))], func(b *testing.B) {
			for b.Loop() {
				p.PerDay(created, 371)
			}
		})
	}
}
