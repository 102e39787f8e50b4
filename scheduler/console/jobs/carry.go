package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/access"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/words"
	"github.com/carillon-sched/carillon/scheduler/service"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// atOnce is how many jobs of an operation are worked on at a time.
const atOnce = 4

// carry does to all jobs of an operation what was asked for, until that is done or ctx is.
func (r room) carry(ctx context.Context, c *frame.Call, o *operation) {
	ctx = service.WithCaller(ctx, "many jobs of "+o.owner)
	keys := make(chan scheduler.Key)
	var workers sync.WaitGroup
	for range atOnce {
		workers.Go(func() {
			for k := range keys {
				if one, ok := r.carryOne(ctx, c, o, k); ok {
					o.note(one)
				}
			}
		})
	}
	rest, err := frame.Guarded(c, func() (string, error) { return r.feed(ctx, o, keys) })
	close(keys)
	workers.Wait()
	switch {
	case ctx.Err() != nil && o.progress().Stopped:
		rest = words.Say("jobs.rest.stopped")
	case ctx.Err() != nil:
		rest = words.Say("jobs.rest.rights")
	case err != nil:
		rest = view.DescribeError(err).Message
	}
	o.end(rest)
}

// feed gives the jobs of an operation to those who work on them, and says why it left some alone.
func (r room) feed(ctx context.Context, o *operation, to chan<- scheduler.Key) (rest string, err error) {
	give := func(k scheduler.Key) bool {
		select {
		case to <- k:
			return true
		case <-ctx.Done():
			return false
		}
	}
	for _, k := range o.Keys {
		if !give(k) {
			return "", nil
		}
	}
	if o.Query == nil {
		return "", nil
	}
	q := *o.Query
	q.Sees = access.Sees(ctx)
	given := 0
	for page := (&view.Page{}); page != nil; {
		var jobs []*view.Job
		err := patiently(ctx, func() (err error) {
			var next *view.Page
			if jobs, next, err = r.service.Search(ctx, q, *page); err == nil {
				page = next
			}
			return err
		})
		if err != nil {
			return "", err
		}
		for _, v := range jobs {
			if given == o.Count {
				return words.Say("jobs.rest.more"), nil
			}
			if !give(v.Job.Key) {
				return "", nil
			}
			given++
		}
	}
	return "", nil
}

// carryOne does it to one job. ok is false when nothing became of it, because ctx is done.
func (r room) carryOne(ctx context.Context, c *frame.Call, o *operation, k scheduler.Key) (one result, ok bool) {
	one = result{Key: k, Verdict: refused}
	if err := access.Check(ctx, access.Operate, k.Collection); err != nil {
		one.Why = err.Error()
		return one, ctx.Err() == nil
	}
	var as view.Result
	asked := r.service.Now()
	err := patiently(ctx, func() (err error) {
		as, err = frame.Guarded(c, func() (view.Result, error) { return r.change(ctx, o, k, asked) })
		return err
	})
	switch {
	case err == nil && as == view.Unchanged:
		one.Verdict = unchanged
	case err == nil:
		one.Verdict = done
	case errors.Is(err, scheduler.ErrNotFound):
		one.Verdict, one.Why = gone, words.Say("jobs.gone")
	case ctx.Err() != nil:
		return one, false
	default:
		e := view.DescribeError(err)
		one.Why = e.Message
		for _, d := range e.Details {
			one.Why += "; " + d.Path + ": " + d.Message
		}
	}
	return one, true
}

// change changes a job. asked is the same when it is tried again, so that a run by hand is the same one.
func (r room) change(ctx context.Context, o *operation, k scheduler.Key, asked time.Time) (as view.Result, err error) {
	switch o.Do {
	case enable:
		return resultOf(r.service.Enable(ctx, k))
	case disable:
		return resultOf(r.service.Disable(ctx, k))
	case run:
		_, err = r.service.TriggerAt(ctx, k, asked)
	case pause:
		return resultOf(r.service.PauseAt(ctx, k, o.Until, o.confirmed()))
	case remove:
		err = r.service.Delete(ctx, k, 0)
	case label, unlabel:
		value := &o.Label.Value
		if o.Do == unlabel {
			value = nil
		}
		body, err := json.Marshal(map[string]any{"properties": map[string]any{"labels": map[string]*string{o.Label.Name: value}}})
		if err != nil {
			return "", err
		}
		return resultOf(r.service.Patch(ctx, service.Edit{Key: k, Body: body}))
	}
	return "", err
}

// resultOf is the effect that an edit had.
func resultOf(v *view.Job, err error) (view.Result, error) {
	if err != nil {
		return "", err
	}
	return v.Result, nil
}

// The patience with a store that does not answer, or has too much to do.
const (
	tries      = 6
	firstPause = 100 * time.Millisecond
)

// patiently tries something again while the scheduler has no time for it.
func patiently(ctx context.Context, try func() error) error {
	pause := firstPause
	for n := 1; ; n++ {
		err := try()
		if !errors.Is(err, scheduler.ErrUnavailable) || n == tries {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return err
		}
		pause *= 2
	}
}
