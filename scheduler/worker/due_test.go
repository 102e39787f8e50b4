package worker_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/scheduler/service"
)

// TestDue counts jobs that are due soon and later, one that has just run and is due again, and some that are not.
func TestDue(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		s := w.newSearcher()
		w.awaitIndex(s)
		due := func(when string, want service.Due) {
			t.Helper()
			got, known, err := s.Due(t.Context(), nil, time.Minute, time.Hour)
			if diff := cmp.Diff(want, got); diff != "" || !known || err != nil {
				t.Errorf("%s: %v %v (-want +got):\n%s", when, known, err, diff)
			}
		}
		due("no jobs", service.Due{Within: []int{0, 0}})
		at := func(d time.Duration) string {
			return `{` + action + `, "startTime": "` + time.Now().Add(d).Format(time.RFC3339Nano) + `"}`
		}
		w.put("soon", at(40*time.Second))
		w.put("later", at(40*time.Minute))
		w.put("tomorrow", at(24*time.Hour))
		w.put("minutely", everyMinute)
		w.put("off", `{`+action+`, "state": "disabled", "startTime": "`+time.Now().Add(time.Minute/2).Format(time.RFC3339Nano)+`"}`)
		time.Sleep(time.Second) // the one of every minute runs first, and is not due meanwhile
		due("at first", service.Due{Jobs: 5, Enabled: 4, Within: []int{2, 3}})
		time.Sleep(90 * time.Second) // the index is told of no run
		due("one has ended, and one has run", service.Due{Jobs: 5, Enabled: 3, Within: []int{1, 2}})
		time.Sleep(39 * time.Minute)
		due("all but the one of tomorrow and the other have ended", service.Due{Jobs: 5, Enabled: 2, Within: []int{1, 1}})
	})
}
