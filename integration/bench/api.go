package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// The parts of the scenario api.
const (
	partQuiet  = "without calls"
	partCalls  = "with calls"
	apiEdited  = 1000            // jobs that are put, by turns
	apiPause   = 2 * time.Second // between the two windows
	apiAtOnce  = 512             // calls that wait for their answers; those beyond wait for a place, which counts
	apiPattern = "/jobCollections/%s/jobs/%s"
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
// puts one that does not.
type apiLoad struct {
	stage  *stage
	to     *serving
	firing calendar

	mu         sync.Mutex
	gets, puts spread
	failed     int
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
			if i%2 == 0 {
				k := l.firing.job(i / 2 % l.firing.jobs)
				l.call(ctx, &l.gets, at, http.MethodGet, fmt.Sprintf(apiPattern, k.Collection, k.Job), nil)
				return nil
			}
			n := i / 2 % apiEdited
			edited := edited
			edited.members = func(int) string { return fmt.Sprintf(`"description":"call %d",`, i) }
			k := edited.job(n)
			l.call(ctx, &l.puts, at, http.MethodPut, fmt.Sprintf(apiPattern, k.Collection, k.Job), edited.document(n, l.stage.sink.url))
			return nil
		})
	}
}

// call makes one call, and notes how long after its instant it was answered.
func (l *apiLoad) call(ctx context.Context, took *spread, at time.Time, method, path string, body []byte) {
	_, err := l.to.answer(ctx, method, l.to.http+path, body)
	answered := time.Since(at)
	l.mu.Lock()
	defer l.mu.Unlock()
	*took = append(*took, answered)
	if err != nil {
		if l.failed++; l.failed == 1 {
			l.stage.progress.log().Error("a call failed", "err", err)
		}
	}
}

// figures are what the calls took.
func (l *apiLoad) figures() figures {
	fs := figures{{"calls", float64(len(l.gets) + len(l.puts))}, {"calls_failed", float64(l.failed)}}
	return append(append(fs, l.gets.figures("get_")...), l.puts.figures("put_")...)
}
