package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/forecast"
)

// TestSearchKnowsWhatWasPut searches right after another process has put, changed and deleted a job.
func TestSearchKnowsWhatWasPut(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		s := w.newSearcher()
		w.awaitIndex(s)
		q := scheduler.JobQuery{Prefix: "j", Labels: selector(t, "team=red"), State: scheduler.Disabled}
		for i := range 20 {
			name := fmt.Sprintf("j%02d", i)
			w.put(name, `{"state": "disabled", "labels": {"team": "red"}, `+action+`}`)
			if got := w.found(s.Service, q, v1.Page{}); got != "default/"+name {
				t.Fatalf("after %s was put: %q", name, got)
			}
			if i%2 == 0 {
				w.put(name, `{"state": "disabled", "labels": {"team": "blue"}, `+action+`}`)
			} else if err := w.service.Delete(t.Context(), key(name), 0); err != nil {
				t.Fatal(err)
			}
			if got := w.found(s.Service, q, v1.Page{}); got != "" {
				t.Fatalf("after %s was changed: %q", name, got)
			}
		}
		if scans, _ := s.store.counted(); scans > 0 {
			t.Errorf("%d searches without the index", scans)
		}
	})
}

// TestSearchByTimeFindsRunByHand runs a job by hand whose next run is far: it runs now, so that is when it runs next, and later
// when it runs as planned again.
func TestSearchByTimeFindsRunByHand(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.sink.answers(after(20*time.Second, 200))
		w.put("far", `{"startTime": "2000-06-01T00:00:00Z", `+action+`}`)
		s := w.newSearcher()
		w.awaitIndex(s)
		time.Sleep(10 * time.Minute)
		soon := func(want string) {
			t.Helper()
			if got := w.found(s.Service, scheduler.JobQuery{Before: time.Now().Add(time.Hour)}, v1.Page{}); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		}
		soon("")
		must.Get(s.Trigger(t.Context(), key("far")))(t)
		soon("default/far")
		time.Sleep(10 * time.Second)
		soon("default/far")
		time.Sleep(time.Minute)
		soon("")
	})
}

// EachJobFrom is counted, and can be held after its first definition.
func (s *watched) EachJobFrom(ctx context.Context, from uint64, f func(scheduler.Stored, bool) error) error {
	s.mu.Lock()
	s.bulk++
	amid := s.amid
	s.amid = nil
	s.mu.Unlock()
	return s.Store.EachJobFrom(ctx, from, func(st scheduler.Stored, deleted bool) error {
		if amid != nil {
			amid()
			amid = nil
		}
		return f(st, deleted)
	})
}

// inBulk counts the readings of what was changed.
func (s *watched) inBulk() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bulk
}

// labelled is a document of a job of a team.
func labelled(team string) string {
	return fmt.Sprintf(`{"startTime": "2001-02-01T00:00:00Z", "labels": {"team": %q}, %s}`, team, action)
}

// TestBulkIsReadInTurn puts, changes and deletes many jobs, also while the index reads what has changed: it reads them as they lie in
// the store, looks few of them up, and finds what a look at all jobs finds.
func TestBulkIsReadInTurn(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		const jobs = 400
		name := func(i int) string { return fmt.Sprintf("j%03d", i) }
		for i := range 40 {
			w.put(name(i), labelled("old"))
		}
		s := w.newSearcher(func(st *watched) { st.threshold = 8 })
		w.awaitIndex(s)
		time.Sleep(2 * time.Minute) // nobody searches any more: changes are read when there are no others
		s.store.counted()
		remove := func(i int) {
			if err := w.service.Delete(t.Context(), scheduler.Key{Collection: "default", Job: name(i)}, 0); err != nil {
				t.Error(err)
			}
		}
		s.store.mu.Lock()
		s.store.amid = func() { // the reading has begun, and others come and go
			for i := range 20 {
				w.put(name(i), labelled("amid"))
				remove(100 + i)
			}
			w.put(name(jobs), labelled("amid"))
			remove(200)
			w.put(name(200), labelled("again"))
		}
		s.store.mu.Unlock()
		for i := 20; i < jobs; i++ {
			w.put(name(i), labelled("new"))
		}
		for i := 300; i < 340; i++ {
			remove(i)
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if _, read := s.store.counted(); s.store.inBulk() < 2 || read > jobs/4 {
			t.Errorf("%d readings in turn, %d definitions were looked up", s.store.inBulk(), read)
		}
		for _, team := range []string{"old", "new", "amid", "again"} {
			q := scheduler.JobQuery{Labels: selector(t, "team="+team)}
			got, want := w.found(s.Service, q, v1.Page{}), w.found(w.service, q, v1.Page{})
			if got != want {
				t.Errorf("team %s:\nthe index finds  %s\na scan finds     %s", team, got, want)
			}
			if team == "amid" && strings.Count(got, "default/") != 21 {
				t.Errorf("amid are %s", got)
			}
		}
		s.store.counted()
		page, err := s.Browse(t.Context(), scheduler.JobQuery{Before: time.Date(2001, 3, 1, 0, 0, 0, 0, time.UTC)}, "", false, 50)
		if err != nil || page.Count != jobs+1-60 || page.Unread != 0 {
			t.Errorf("%+v, %v", page, err)
		}
		if _, read := s.store.counted(); read > 60 {
			t.Errorf("%d definitions were looked up for a page of 50", read)
		}
		if far := s.IndexProgress(); far.Percent != 100 || far.Behind != 0 {
			t.Errorf("in the end, %+v", far)
		}
	})
}

// TestBulkAfterRestart loses the watch while the index reads what has changed: it is built again, and knows everything.
func TestBulkAfterRestart(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		s := w.newSearcher(func(st *watched) { st.threshold = 8 })
		w.awaitIndex(s)
		time.Sleep(2 * time.Minute)
		s.store.mu.Lock()
		s.store.amid = func() {
			s.store.mu.Lock()
			lose := s.store.lose
			s.store.mu.Unlock()
			lose()
			w.putMany(10, "k%02d", labelled("new"))
		}
		s.store.mu.Unlock()
		w.putMany(50, "j%02d", labelled("new"))
		time.Sleep(time.Minute)
		w.awaitIndex(s)
		q := scheduler.JobQuery{Labels: selector(t, "team=new")}
		if got := strings.Count(w.found(s.Service, q, v1.Page{}), "default/"); got != 60 || s.store.inBulk() == 0 {
			t.Errorf("%d jobs were found of 60, %d readings in turn", got, s.store.inBulk())
		}
	})
}

// TestDue counts jobs that are due soon and later, one that has just run and is due again, and some that are not.
func TestDue(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		s := w.newSearcher()
		w.awaitIndex(s)
		due := func(when string, want control.Due) {
			t.Helper()
			got, known, err := s.Due(t.Context(), nil, time.Minute, time.Hour)
			if diff := cmp.Diff(want, got); diff != "" || !known || err != nil {
				t.Errorf("%s: %v %v (-want +got):\n%s", when, known, err, diff)
			}
		}
		due("no jobs", control.Due{Within: []int{0, 0}})
		at := func(d time.Duration) string {
			return `{` + action + `, "startTime": "` + time.Now().Add(d).Format(time.RFC3339Nano) + `"}`
		}
		w.put("soon", at(40*time.Second))
		w.put("later", at(40*time.Minute))
		w.put("tomorrow", at(24*time.Hour))
		w.put("minutely", everyMinute)
		w.put("off", `{`+action+`, "state": "disabled", "startTime": "`+time.Now().Add(time.Minute/2).Format(time.RFC3339Nano)+`"}`)
		time.Sleep(time.Second) // the one of every minute runs first, and is not due meanwhile
		due("at first", control.Due{Jobs: 5, Enabled: 4, Within: []int{2, 3}})
		time.Sleep(90 * time.Second) // the index is told of no run
		due("one has ended, and one has run", control.Due{Jobs: 5, Enabled: 3, Within: []int{1, 2}})
		time.Sleep(39 * time.Minute)
		due("all but the one of tomorrow and the other have ended", control.Due{Jobs: 5, Enabled: 2, Within: []int{1, 1}})
	})
}

// TestFollowersShareWhatTheyKnow has many follow the histories of many jobs: they are told of every record, and look each job up
// once, with one watch, however many they are; a watch that is lost ends all of them, and who comes then has another one.
func TestFollowersShareWhatTheyKnow(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		const followers, jobs, runs = 20, 10, 3
		st := &watched{Store: w.store}
		s := control.New(control.Config{Store: st, Actions: w.actions(), Secrets: w.vault})
		w.putMany(jobs, "j%d", `{"recurrence": {"frequency": "Minute", "count": 100}, `+action+`}`)
		time.Sleep(time.Second)
		var told atomic.Int64
		follow := func(ctx context.Context, k scheduler.Key) error {
			return s.Follow(ctx, control.HistoryQuery{Key: k}, control.Tail{
				Ready: func(control.Beginning) {}, Record: func(*scheduler.Record) { told.Add(1) },
			})
		}
		ends := make(chan error, followers+1)
		var all sync.WaitGroup
		for range followers {
			all.Go(func() { ends <- follow(t.Context(), scheduler.Key{}) })
		}
		time.Sleep(runs*time.Minute + time.Second)
		synctest.Wait()
		if n := told.Load(); n != followers*jobs*runs {
			t.Errorf("%d records were told, want %d", n, followers*jobs*runs)
		}
		if st.watches != 1 || st.tails != 1 || st.loads != jobs {
			t.Errorf("%d watches, %d consumers, and %d jobs were looked up, of %d", st.watches, st.tails, st.loads, jobs)
		}

		// Who begins earlier than the others has it all, once: also the first runs, when the jobs were put.
		var late []uint64
		behind, stop := context.WithCancel(t.Context())
		all.Go(func() {
			err := s.Follow(behind, control.HistoryQuery{}, control.Tail{
				After: new(uint64), Ready: func(control.Beginning) {}, Record: func(r *scheduler.Record) { late = append(late, r.Sequence) },
			})
			if err != nil {
				t.Error(err)
			}
		})
		time.Sleep(time.Minute)
		synctest.Wait()
		stop()
		synctest.Wait()
		if len(late) != jobs*(runs+2) || !slices.IsSorted(late) || len(slices.Compact(late)) != jobs*(runs+2) {
			t.Errorf("from the beginning: %d", late)
		}

		// A job that is deleted ends those alone who follow it.
		own := scheduler.Key{Collection: "default", Job: "j0"}
		all.Go(func() { ends <- follow(t.Context(), own) })
		time.Sleep(time.Second)
		w.must(w.service.Delete(t.Context(), own, 0))
		time.Sleep(time.Second)
		synctest.Wait()
		if len(ends) != 1 {
			t.Fatalf("%d have ended of one whose job was deleted", len(ends))
		} else if err := <-ends; !errors.Is(err, scheduler.ErrNotFound) {
			t.Errorf("its end: %v", err)
		}
		st.lose()
		all.Wait()
		for range followers {
			if err := <-ends; !errors.Is(err, errLost) {
				t.Errorf("a lost watch: %v", err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		all.Go(func() { ends <- follow(ctx, scheduler.Key{}) })
		before := told.Load()
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := told.Load() - before; n != jobs-1 || st.watches != 2 {
			t.Errorf("with another watch, %d records were told, and there were %d watches", n, st.watches)
		}
		cancel()
		all.Wait()
		if err := <-ends; err != nil {
			t.Errorf("who was asked to end: %v", err)
		}
	})
}

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

// TestForecastAgreesWithJobs compares forecasts with a reading of all jobs, while random jobs are put, changed, disabled,
// deleted, and end.
func TestForecastAgreesWithJobs(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		random := rand.New(rand.NewPCG(1, 2))
		names := func() string { return fmt.Sprintf("job-%d", random.IntN(40)) }
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
		for range 40 {
			put()
		}
		for range 4 {
			for range 8 {
				changes[random.IntN(len(changes))]()
			}
			time.Sleep(17 * time.Minute) // so that some end, and what is kept is too old now and then
			q := control.ForecastQuery{Hours: 24}
			w.sameForecast(q)
			changes[random.IntN(len(changes))]()
			w.sameForecast(q)
			w.sameForecast(q)
		}
		w.turnCollection(scheduler.Disabled)
		w.sameForecast(control.ForecastQuery{Hours: 24})
	})
}

// sameForecast compares a forecast of the service with that of another one, which has kept nothing and, as it is asked for
// a collection, reads all jobs whole.
func (w *harness) sameForecast(q control.ForecastQuery) {
	w.t.Helper()
	ask := func(s *control.Service, q control.ForecastQuery) *forecast.Report {
		return must.Get(s.Forecast(w.t.Context(), q))(w.t)
	}
	got := ask(w.service, q)
	q.Collection = scheduler.DefaultCollection
	fresh := control.New(control.Config{Store: w.store, Actions: w.actions(), Secrets: w.vault})
	if diff := cmp.Diff(ask(fresh, q), got); diff != "" {
		w.t.Fatal(diff)
	}
}
