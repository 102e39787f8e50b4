package rest_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// gated lets an audit look at a lane when its gate is open.
type gated struct {
	scheduler.Store

	gate    chan struct{}
	entered chan struct{}
}

func (s *gated) EachBaton(ctx context.Context, lane int, f func(scheduler.BatonKey, bool) error) error {
	s.entered <- struct{}{}
	<-s.gate
	return s.Store.EachBaton(ctx, lane, f)
}

// TestDoctorsHoldUpNoList has many look at everything, of whom one works at a time.
func TestDoctorsHoldUpNoList(t *testing.T) {
	w := newHarness(t)
	const many = 64
	slow := &gated{Store: w.store, gate: make(chan struct{}), entered: make(chan struct{}, many)}
	w.service = control.New(control.Config{Store: slow, Actions: w.actions, Secrets: w.vault})
	w.serve(nil)
	var doctors sync.WaitGroup
	for range many {
		doctors.Go(func() {
			if _, err := w.service.Doctor(t.Context(), false); err != nil {
				t.Error(err)
			}
		})
	}
	<-slow.entered
	for _, path := range []string{"/jobCollections/default/jobs", "/history"} {
		if got := w.do("GET", path, ""); got.status != http.StatusOK {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
	if n := len(slow.entered); n > 0 {
		t.Errorf("%d more doctors work at once", n)
	}
	close(slow.gate)
	doctors.Wait()
}

// telling knows when a store is telling of jobs, which it does within seconds or not at all.
type telling struct {
	scheduler.Store
	scheduler.ActionReader

	now   atomic.Int64
	reads atomic.Int64
	wrong atomic.Int64 // jobs that were read meanwhile
}

func (s *telling) LoadJobs(ctx context.Context, keys []scheduler.Key, each func(scheduler.Stored)) error {
	return s.Store.LoadJobs(ctx, keys, func(st scheduler.Stored) {
		s.now.Add(1)
		defer s.now.Add(-1)
		each(st)
	})
}

func (s *telling) ReadAction(kind string, o *document.Object) scheduler.Action {
	s.reads.Add(1)
	if s.now.Load() > 0 {
		s.wrong.Add(1)
	}
	return s.ActionReader.ReadAction(kind, o)
}

// TestJobsAreReadAfterwards looks through jobs in each way. A thousand whose schedules are costly take longer to read than
// the store waits for whoever it tells: the doctor would find nothing, and the lists would be errors, for ever.
func TestJobsAreReadAfterwards(t *testing.T) {
	w := newHarness(t)
	w.makeTemplate("http://target.example", "{{.Data.region}}")
	w.makeSchedule(ofReport, `{"name": "a", "rrule": "`+daily+`"}`)
	slow := &telling{Store: w.store, ActionReader: w.actions}
	w.service = control.New(control.Config{Store: slow, Actions: slow, Secrets: w.vault})
	w.serve(nil)
	for _, request := range []string{
		"POST /doctor", "GET " + schedules, "GET " + ofReport, "GET /jobCollections/default/jobs?$filter=state+eq+enabled", "GET /history",
	} {
		method, path, _ := strings.Cut(request, " ")
		slow.reads.Store(0)
		if got := w.do(method, path, ""); got.status != http.StatusOK {
			t.Errorf("%s: %d %s", request, got.status, got.body)
		}
		if slow.wrong.Swap(0) > 0 {
			t.Errorf("%s: reads jobs while the store tells of them", request)
		}
		if slow.reads.Load() == 0 && request != "GET /history" {
			t.Errorf("%s: reads no job", request)
		}
	}
}
