package control_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/actions"
	"github.com/carillon-sched/carillon/actions/web"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// fleet is a store with many jobs, each with an action of its own: what is left is the work of the service itself.
type fleet struct {
	taking

	keys []scheduler.Key
	jobs map[scheduler.Key]scheduler.Stored
}

func (f *fleet) EachJob(_ context.Context, _ string, each func(scheduler.Key) error) error {
	for _, k := range f.keys {
		if err := each(k); err != nil {
			return err
		}
	}
	return nil
}

func (f *fleet) LoadJobs(_ context.Context, keys []scheduler.Key, each func(scheduler.Stored)) error {
	for _, k := range keys {
		each(f.jobs[k])
	}
	return nil
}

func (f *fleet) EachStoredJob(_ context.Context, each func(scheduler.Stored) error) error {
	for _, k := range f.keys {
		if err := each(f.jobs[k]); err != nil {
			return err
		}
	}
	return nil
}

// schedules are those of a fleet: most on the hour, some often, some with jitter or a hash, and one each second.
var schedules = []string{
	`"recurrence": {"frequency": "Hour"}`,
	`"recurrence": {"frequency": "Minute", "interval": 5}`,
	`"recurrence": {"cron": "0 * * * *"}`,
	`"timeZone": "Europe/Berlin", "recurrence": {"cron": "%d %d * * 1-5"}`,
	`"recurrence": {"cron": "H H * * *", "dialect": "dsari"}`,
	`"recurrence": {"cron": "H/5 * * * *", "dialect": "dsari"}`,
	`"jitter": "PT10M", "recurrence": {"cron": "0 */2 * * *"}`,
	`"startTime": "2099-03-02T17:00:00Z"`,
	`"startTime": "2026-01-01T03:00:00Z", "recurrence": {"frequency": "Day", "schedule": {"hours": [3, 15], "minutes": [0, 30]}}`,
	`"recurrence": {"frequency": "Second", "interval": 1}`,
}

func newFleet(tb testing.TB, jobs int) *fleet {
	tb.Helper()
	f := &fleet{jobs: map[scheduler.Key]scheduler.Stored{}}
	put := time.Now().Add(-24 * time.Hour)
	for i := range jobs {
		schedule := schedules[i%len(schedules)]
		if strings.Contains(schedule, "%d") {
			schedule = fmt.Sprintf(schedule, i/7%60, i/11%24)
		}
		body := fmt.Sprintf(`{"action": {"type": "http", "request": {"method": "POST", "uri": "https://host-%d.example/%d", "body": "{\"n\": %d}"}}, %s}`,
			i%500, i, i, schedule)
		k := scheduler.Key{Collection: "default", Job: fmt.Sprintf("job-%d", i)}
		v, err := document.Parse([]byte(body))
		if err != nil {
			tb.Fatal(err)
		}
		reading := scheduler.DefinitionDecoder{Actions: readers, Key: k, UID: k.Job, Now: put}
		def, err := reading.Definition(v)
		if err != nil {
			tb.Fatal(err)
		}
		j, err := scheduler.NewJob(k, k.Job, def, put, 0)
		if err != nil {
			tb.Fatal(err)
		}
		data, err := j.Encode(nil)
		if err != nil {
			tb.Fatal(err)
		}
		f.keys = append(f.keys, k)
		f.jobs[k] = scheduler.Stored{Key: k, Revision: uint64(i + 1), Data: data}
	}
	return f
}

var readers = actions.New(web.New(web.Config{}))

// BenchmarkForecast counts the runs of a day of 100,000 jobs.
func BenchmarkForecast(b *testing.B) {
	s := control.New(control.Config{Store: newFleet(b, 100_000), Actions: readers})
	for b.Loop() {
		r, err := s.Forecast(b.Context(), control.ForecastQuery{Proposals: 100})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(r.Jobs), "jobs")
		b.ReportMetric(float64(len(r.Proposals)), "proposals")
	}
}
