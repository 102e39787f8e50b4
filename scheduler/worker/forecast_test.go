package worker_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/forecast"
	"github.com/carillon-sched/carillon/scheduler/service"
)

// foreseen are the schedules of which jobs are drawn at random.
var foreseen = []string{
	`"recurrence": {"frequency": "Hour"}`,
	`"recurrence": {"frequency": "Minute", "interval": %d}, "startTime": "1999-12-31T00:00:00Z"`,
	`"recurrence": {"frequency": "Day", "schedule": {"hours": [3, 15], "minutes": [0, 3%d]}}`,
	`"timeZone": "Europe/Berlin", "recurrence": {"cron": "%d 5 * * *"}`,
	`"recurrence": {"cron": "H H/%d * * *", "dialect": "dsari"}`,
	`"jitter": "PT10M", "recurrence": {"cron": "0 */%d * * *"}`,
	`"startTime": "2000-01-01T07:0%d:00Z"`,
	`"recurrence": {"frequency": "Hour", "interval": %d, "count": 5}`,
	`"state": "disabled", "recurrence": {"frequency": "Hour", "interval": %d}`,
}

// TestForecastFollowsWhatIsWritten shows that a forecast which reads only what was written since the last one says what one
// does that reads all jobs whole: of random jobs, while they are put, changed, disabled and deleted, and end.
func TestForecastFollowsWhatIsWritten(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		random := rand.New(rand.NewPCG(1, 2))
		names := func() string { return fmt.Sprintf("job-%d", random.IntN(60)) }
		put := func() {
			schedule := foreseen[random.IntN(len(foreseen))]
			if n := 1 + random.IntN(9); schedule != foreseen[0] {
				schedule = fmt.Sprintf(schedule, n)
			}
			w.put(names(), fmt.Sprintf(`{"action": {"type": "http", "request": {"method": "GET", "uri": "http://host-%d.example/"}}, %s}`,
				random.IntN(5), schedule))
		}
		changes := []func(){
			put, put,
			func() { _ = w.service.Delete(t.Context(), key(names()), 0) }, // which may not be there
			func() { _, _ = w.service.Disable(t.Context(), key(names())) },
			func() { _, _ = w.service.Enable(t.Context(), key(names())) },
		}
		for range 60 {
			put()
		}
		for range 6 {
			for range 8 {
				changes[random.IntN(len(changes))]()
			}
			time.Sleep(17 * time.Minute) // so that some end, and what is kept is too old now and then
			q := service.ForecastQuery{Hours: 24}
			w.sameForecast(q)
			changes[random.IntN(len(changes))]()
			w.sameForecast(q)
			w.sameForecast(q)
		}
		w.turnCollection(scheduler.Disabled)
		w.sameForecast(service.ForecastQuery{Hours: 24})
	})
}

// sameForecast compares a forecast of the service with that of another one, which has kept nothing and, as it is asked for
// a collection, reads all jobs whole.
func (w *world) sameForecast(q service.ForecastQuery) {
	w.t.Helper()
	ask := func(s *service.Service, q service.ForecastQuery) *forecast.Report {
		r, err := s.Forecast(w.t.Context(), q)
		w.must(nil, err)
		return r
	}
	got := ask(w.service, q)
	q.Collection = scheduler.DefaultCollection
	fresh := service.New(service.Config{Store: w.store, Actions: w.actions(), Secrets: w.vault})
	if diff := cmp.Diff(ask(fresh, q), got); diff != "" {
		w.t.Fatal(diff)
	}
}
