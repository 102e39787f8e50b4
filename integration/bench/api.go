package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/carillon-sched/carillon/scheduler"
)

// The parts of the scenario api.
const (
	partQuiet = "without calls"
	partCalls = "with calls"
	apiEdited = 1000            // jobs that are put, by turns
	apiPause  = 2 * time.Second // between the two windows
	apiAtOnce = 512             // calls that wait for their answers; those beyond wait for a place, which counts
	apiLists  = 10              // one call in so many is of a list
)

// underFire calls the API while jobs fall due at an even rate, after a window in which nobody does.
func underFire(ctx context.Context, b *bench) (parts []part, err error) {
	_, err = b.alone(ctx, func(st *stage, sys *system) (figures, error) {
		worker, ok := sys.carillon.(*remote)
		if !ok {
			return nil, errors.New("the scheduler is not a process of its own")
		}
		c, _, err := st.putSteady(ctx, sys)
		if err != nil {
			return nil, err
		}
		quiet, err := st.observe(ctx, c, c.first.Add(st.warmup))
		if err != nil {
			return nil, err
		}
		from := time.Now().Add(apiPause)
		load := &apiLoad{stage: st, to: worker.serving, firing: c}
		var g errgroup.Group
		g.Go(func() error { return load.run(ctx, from, from.Add(st.window)) })
		busy, err := st.observe(ctx, c, from)
		err = errors.Join(err, g.Wait())
		parts = []part{{partQuiet, quiet}, {partCalls, append(load.figures(), busy...)}}
		return nil, err
	})
	return parts, err
}

// apiLoad calls the API at an even rate, whether earlier calls were answered or not: by turns it gets a job that fires, and
// puts one that does not; now and then it lists those that fire soon.
type apiLoad struct {
	stage  *stage
	to     *serving
	firing calendar

	mu                sync.Mutex
	gets, puts, lists spread
	failed            int
}

// run calls from an instant on until another one.
func (l *apiLoad) run(ctx context.Context, from, to time.Time) error {
	var calls errgroup.Group
	calls.SetLimit(apiAtOnce)
	every := time.Second / time.Duration(l.stage.calls)
	edited := calendar{collection: "default", prefix: "edited-", first: to.UTC().Add(holdFirst), grain: time.Millisecond}
	for i := 0; ; i++ {
		at := from.Add(time.Duration(i) * every)
		if !at.Before(to) {
			return calls.Wait()
		}
		if err := sleep(ctx, at); err != nil {
			return errors.Join(err, calls.Wait())
		}
		calls.Go(func() error {
			switch {
			case i%apiLists == apiLists-1:
				l.call(ctx, &l.lists, at, http.MethodGet, "/jobs?nextBefore="+(l.stage.interval/2).String(), nil)
			case i%2 == 0:
				l.call(ctx, &l.gets, at, http.MethodGet, apiPath(l.firing.job(i/2%l.firing.jobs)), nil)
			default:
				edited, n := edited, i/2%apiEdited
				edited.members = func(int) string { return fmt.Sprintf(`"description":"call %d",`, i) }
				l.call(ctx, &l.puts, at, http.MethodPut, apiPath(edited.job(n)), edited.document(n, l.stage.sink.url))
			}
			return nil
		})
	}
}

func apiPath(k scheduler.Key) string { return "/jobCollections/" + k.Collection + "/jobs/" + k.Job }

// call makes one call, and notes how long after its instant it was answered.
func (l *apiLoad) call(ctx context.Context, took *spread, at time.Time, method, path string, body []byte) {
	_, err := l.to.answer(ctx, method, l.to.http+path, body)
	answered := time.Since(at)
	l.mu.Lock()
	defer l.mu.Unlock()
	*took = append(*took, answered)
	if err != nil {
		l.failed++
		if l.failed == 1 {
			l.stage.progress.log().Error("a call failed", "err", err)
		}
	}
}

// figures are what the calls took.
func (l *apiLoad) figures() figures {
	fs := figures{{"calls", float64(len(l.gets) + len(l.puts) + len(l.lists))}, {"calls_failed", float64(l.failed)}}
	for _, of := range []struct {
		name string
		took spread
	}{{"get_", l.gets}, {"put_", l.puts}, {"list_", l.lists}} {
		fs = append(fs, of.took.figures(of.name)...)
	}
	return fs
}
