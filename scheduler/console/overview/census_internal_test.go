package overview

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carillon-sched/carillon/integration/bubble"
	"github.com/carillon-sched/carillon/scheduler/service"
)

// TestCensus has counts that are quick, slow, and fail, and pages that never wait for long.
func TestCensus(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		takes, counts := time.Duration(0), 0
		var fails error
		k := &census{count: func(context.Context) (service.Due, bool, error) {
			counts++
			due, err := service.Due{Jobs: counts}, fails
			time.Sleep(takes)
			return due, err == nil, err
		}}
		ask := func(what string, jobs int, known bool, err error, took time.Duration) {
			t.Helper()
			began := time.Now()
			due, is, e := k.ask(t.Context())
			if due.Jobs != jobs || is != known || !errors.Is(e, err) || time.Since(began) != took {
				t.Errorf("%s: %d jobs, %t, %v after %s", what, due.Jobs, is, e, time.Since(began))
			}
		}
		takes = time.Hour
		ask("the first is slow", 0, false, nil, dueWait)
		rest := func(d time.Duration) { // until all that was to end by then has
			time.Sleep(d)
			synctest.Wait()
		}
		rest(time.Hour)
		takes = 0
		ask("it is there", 1, true, nil, 0)
		time.Sleep(dueKept)
		ask("a new one", 2, true, nil, 0)
		rest(dueKept)
		takes = 10 * time.Second
		ask("a slow one", 2, true, nil, dueWait)
		ask("of which there is one", 2, true, nil, dueWait)
		rest(takes)
		ask("then it is there", 3, true, nil, 0)
		time.Sleep(dueLate)
		ask("what is too old is not shown", 0, false, nil, dueWait)
		rest(takes)
		takes, fails = 0, errors.New("no store")
		time.Sleep(dueKept)
		ask("an error", 5, false, fails, 0)
		ask("it is for all who look", 5, false, fails, 0)
		synctest.Wait()
		if counts != 5 {
			t.Errorf("there were %d counts", counts)
		}
	})
}
