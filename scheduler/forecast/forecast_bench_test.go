package forecast_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/forecast"
)

// mixed are the schedules of a fleet: most on the hour, some often, some with jitter
// or a hash, and one each second.
func mixed(i int) string {
	switch i % 10 {
	case 0:
		return `"recurrence": {"frequency": "Hour"}`
	case 1:
		return `"recurrence": {"frequency": "Minute", "interval": 5}`
	case 2:
		return `"recurrence": {"cron": "0 * * * *"}`
	case 3:
		return fmt.Sprintf(`"timeZone": "Europe/Berlin", "recurrence": {"cron": "%d %d * * 1-5"}`, i%60, i%24)
	case 4:
		return `"recurrence": {"cron": "H H * * *", "dialect": "dsari"}`
	case 5:
		return `"recurrence": {"cron": "H/5 * * * *", "dialect": "dsari"}`
	case 6:
		return `"jitter": "PT10M", "recurrence": {"cron": "0 */2 * * *"}`
	case 7:
		return `"startTime": "2026-03-02T17:00:00Z"`
	case 8:
		return `"startTime": "2026-01-01T03:00:00Z", "recurrence": {"frequency": "Day", "schedule": {"hours": [3, 15], "minutes": [0, 30]}}`
	}
	return `"recurrence": {"frequency": "Second", "interval": 1}`
}

func BenchmarkForecast(b *testing.B) {
	const n = 100_000
	jobs := make([]*scheduler.Job, n)
	for i := range jobs {
		put := at("2026-02-01T00:00:00Z").Add(time.Duration(i) * 37 * time.Millisecond)
		jobs[i] = named(b, fmt.Sprintf("job-%d", i), put, fmt.Sprintf("host-%d:443", i%500), mixed(i))
		if jobs[i].Def.Timing.Recurrence != nil && jobs[i].Def.Timing.Recurrence.Rule != nil {
			jobs[i].Plan = nil // as it is read from the store
		}
	}
	b.ResetTimer()
	for b.Loop() {
		f := forecast.New(at("2026-03-02T12:00:00Z"), 24)
		for _, j := range jobs {
			f.Add(j, nil)
		}
		r := f.Report()
		b.ReportMetric(float64(r.Runs), "runs")
		b.ReportMetric(float64(len(f.Candidates(100))), "candidates")
	}
}
