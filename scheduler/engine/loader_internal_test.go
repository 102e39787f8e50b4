package engine

import (
	"context"
	"fmt"
	"hash/crc32"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carillon-sched/carillon/actions"
	"github.com/carillon-sched/carillon/actions/web"
	"github.com/carillon-sched/carillon/integration/testkit/bubble"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/jobcache"
)

// definitions are those of a store, every second one with a schedule that is a text.
type definitions struct{ scheduler.Jobs }

func (definitions) LoadJobs(_ context.Context, keys []scheduler.Key, each func(scheduler.Stored)) error {
	for i, k := range keys {
		recurrence := ""
		if i%2 == 0 {
			recurrence = `,"recurrence":{"rrule":"DTSTART:20240101T000000Z RRULE:FREQ=WEEKLY EXRULE:FREQ=HOURLY;INTERVAL=7"}`
		}
		rest := `"uid":"U","generation":1,"scheduleGeneration":1,` +
			`"created":"2026-01-01T00:00:00Z","updated":"2026-01-01T00:00:00Z","anchor":"2026-01-01T00:00:00Z","state":"enabled",` +
			`"properties":{"action":{"type":"Http","request":{"uri":"http://target.example/","method":"GET"}}` + recurrence + `}}`
		each(scheduler.Stored{
			Key: k, Revision: 1,
			Data: fmt.Appendf(nil, `{"form":"1%08x",%s`, crc32.Checksum([]byte(rest), crc32.MakeTable(crc32.Castagnoli)), rest),
		})
	}
	return nil
}

func (definitions) WatchJobs(ctx context.Context, ready func(), _ func(scheduler.Key, uint64)) error {
	ready()
	<-ctx.Done()
	return nil
}

// notPacked packs nothing.
func notPacked(*run, jobcache.Read) bool { return false }

// TestPlainJobsDoNotWaitForCostlyOnes loads jobs of both kinds together: the plain ones go on before any schedule was
// compiled, and each of the others when its own was.
func TestPlainJobsDoNotWaitForCostlyOnes(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		jobs := jobcache.NewJobs(definitions{}, actions.New(web.New(web.Config{})), nil)
		watched := make(chan struct{})
		go func() {
			jobs.Run(ctx, func(error) {})
			close(watched)
		}()
		synctest.Wait()
		var done []string
		l := newLoader(jobs, notPacked, func(r *run) {
			state := "compiled"
			if jobs.Uncompiled(r.key()) {
				state = "uncompiled"
			}
			done = append(done, r.key().Job+" "+state)
		})
		var batch []*run
		for i := range 6 {
			slot := scheduler.BatonKey{Key: scheduler.Key{Collection: "default", Job: strconv.Itoa(i)}}
			batch = append(batch, &run{delivery: scheduler.Delivery{BatonKey: slot}})
		}
		l.load(ctx, batch)
		if got, want := strings.Join(done, ", "), "1 compiled, 3 compiled, 5 compiled"; got != want {
			t.Errorf("at once: %s, want %s", got, want)
		}
		for _, r := range batch {
			if _, ready := jobs.Peek(r.key()); ready != slices.Contains(done, r.key().Job+" compiled") {
				t.Errorf("%s is compiled: %t", r.key(), ready)
			}
		}
		for next := l.uncompiled.next(); len(next) > 0; next = l.uncompiled.next() {
			l.compile(ctx, next)
		}
		if got, want := strings.Join(done[3:], ", "), "0 compiled, 2 compiled, 4 compiled"; got != want {
			t.Errorf("then: %s, want %s", got, want)
		}
		cancel()
		<-watched
	})
}

// TestLoaderEndsEmpty stops a loader amid its work: every run goes on, though nothing more is compiled.
func TestLoaderEndsEmpty(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		jobs := jobcache.NewJobs(definitions{}, actions.New(web.New(web.Config{})), nil)
		done := make(chan *run, 1000)
		l := newLoader(jobs, notPacked, func(r *run) { done <- r })
		for i := range cap(done) {
			slot := scheduler.BatonKey{Key: scheduler.Key{Collection: "default", Job: strconv.Itoa(i)}}
			l.add(&run{delivery: scheduler.Delivery{BatonKey: slot}})
		}
		cancel()
		l.work(ctx)
		if len(done) != cap(done) {
			t.Errorf("%d of %d runs went on", len(done), cap(done))
		}
	})
}

// slowDefinitions answer the first request after a minute only.
type slowDefinitions struct {
	definitions

	asked *atomic.Int64
}

func (d slowDefinitions) LoadJob(ctx context.Context, k scheduler.Key) (st scheduler.Stored, err error) {
	if d.asked.Add(1) == 1 {
		time.Sleep(time.Minute)
	}
	err = d.LoadJobs(ctx, []scheduler.Key{k}, func(found scheduler.Stored) { st = found })
	return st, err
}

// TestJobsDoNotWaitForSlowRead has the store answer one request late: jobs of other requests are loaded meanwhile.
func TestJobsDoNotWaitForSlowRead(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		jobs := jobcache.NewJobs(slowDefinitions{asked: &atomic.Int64{}}, actions.New(web.New(web.Config{})), nil)
		done := make(chan string, 10)
		l := newLoader(jobs, notPacked, func(r *run) { done <- r.key().Job })
		ended := make(chan struct{})
		go func() {
			l.work(ctx)
			close(ended)
		}()
		for i := range 3 {
			slot := scheduler.BatonKey{Key: scheduler.Key{Collection: "default", Job: strconv.Itoa(i)}}
			l.add(&run{delivery: scheduler.Delivery{BatonKey: slot}})
			synctest.Wait()
		}
		if got := []string{<-done, <-done}; !slices.Equal(got, []string{"1", "2"}) {
			t.Errorf("%v are loaded first, want those that the store answers soon", got)
		}
		if late := <-done; late != "0" {
			t.Errorf("%s is loaded last", late)
		}
		cancel()
		<-ended
	})
}
