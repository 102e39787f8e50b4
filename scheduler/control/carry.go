package control

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/audit"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/flow"
)

// Every process looks for running operations without a worker. The first one to write its name into the operation
// becomes the worker: it processes page after page, and the jobs of a page concurrently. After each page it stores the
// counts and the cursor, so that another process can continue there. Repeating a job's change is safe.

// The intervals and limits of operations.
const (
	operationTick   = 3 * time.Second        // between searches for operations without a worker, and between lease renewals
	operationPage   = 512                    // jobs between two writes
	operationAtOnce = 64                     // jobs that a process changes concurrently
	operationWaits  = 4096                   // occurrences that wait for their jobs
	busyPause       = 200 * time.Millisecond // between attempts while every job is busy
)

// operator executes operations in this process.
type operator struct {
	keep  OperationKeeper
	name  string
	slots chan struct{} // for concurrent changes of jobs

	mu     sync.Mutex
	ready  map[string]*operation         // running operations, according to the watch
	active map[string]context.CancelFunc // operations that this process executes
	wake   chan struct{}
	ended  sync.WaitGroup
}

func newOperator() *operator {
	return &operator{
		name: rand.Text(), slots: make(chan struct{}, operationAtOnce),
		ready: map[string]*operation{}, active: map[string]context.CancelFunc{}, wake: make(chan struct{}, 1),
	}
}

// run executes operations until ctx is done.
func (o OperationKeeper) run(ctx context.Context) {
	w := o.operator
	w.keep = o
	w.ended.Go(func() {
		for ctx.Err() == nil {
			if err := o.bucket().Watch(ctx, func() { o.shared.marks.watched.Store(true) }, w.changed); err != nil {
				o.shared.lost("operations")(err)
			}
			o.shared.marks.watched.Store(false)
			flow.Pause(ctx, time.Second)
		}
	})
	tick := time.NewTicker(operationTick)
	defer tick.Stop()
	for ctx.Err() == nil {
		for _, id := range w.waiting() {
			w.begin(ctx, id)
		}
		select {
		case <-tick.C:
		case <-w.wake:
		case <-ctx.Done():
		}
	}
	w.ended.Wait()
}

// changed handles a change of an operation, or of the mark of a failure group.
func (w *operator) changed(id string, _ uint64, data []byte) {
	if group, ok := strings.CutPrefix(id, markPrefix); ok {
		w.keep.shared.marks.put(group, data)
		return
	}
	op := &operation{}
	_ = json.Unmarshal(data, op) // a deleted operation has no state
	op.Jobs, op.Failures = nil, nil
	w.mu.Lock()
	defer w.mu.Unlock()
	if op.State == v1.Running {
		w.ready[id] = op
		flow.Signal(w.wake)
		return
	}
	delete(w.ready, id)
	if stop := w.active[id]; stop != nil {
		stop()
	}
}

// waiting returns the running operations that this process does not execute.
func (w *operator) waiting() (ids []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id := range w.ready {
		if w.active[id] == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// begin executes an operation if it has no other worker.
func (w *operator) begin(ctx context.Context, id string) {
	op, rev, err := w.keep.read(ctx, id)
	now := w.keep.shared.Store.Now()
	if err != nil || op.State != v1.Running || op.Worker != "" && op.Worker != w.name && now.Sub(op.Renewed) < leaseAge {
		return
	}
	c := &carrier{operator: w, op: op, rev: rev}
	if !c.save(ctx) {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	w.mu.Lock()
	w.active[id] = cancel
	w.mu.Unlock()
	w.ended.Go(func() {
		defer cancel()
		if err := c.carry(ctx); err != nil && ctx.Err() == nil {
			w.keep.shared.Logger.Warn("an operation is interrupted, and continues later", "operation", id, "err", err)
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.active, id)
	})
}

// carrier executes one operation.
type carrier struct {
	*operator

	op    *operation
	rev   uint64
	next  time.Time // when the rate allows the next job
	again reruns

	pace sync.Mutex // guards next
}

// save stores the operation and renews the lease. It returns false if another process has the operation or the store
// does not answer. A canceled operation stays canceled, and save stores its counts.
func (c *carrier) save(ctx context.Context) bool {
	ctx = context.WithoutCancel(ctx) // also during shutdown
	for range casTries {
		c.op.Worker, c.op.Renewed = c.name, c.keep.shared.Store.Now().UTC()
		if c.op.HasEnded() {
			c.op.Worker = ""
		}
		rev, err := c.keep.save(ctx, c.op, c.rev)
		if err == nil {
			c.rev = rev
			return true
		}
		if !errors.Is(err, scheduler.ErrConflict) {
			return false
		}
		stored, rev, err := c.keep.read(ctx, c.op.ID)
		if err != nil || stored.State != v1.Canceled || stored.Worker != c.name {
			return false
		}
		c.op.State, c.op.Ended, c.rev = stored.State, stored.Ended, rev
	}
	return false
}

// errLeaseLost reports that this process must leave the operation to another one.
var errLeaseLost = errors.New("the operation has another worker, or the store does not answer")

// carry processes page after page. An occurrence waits while its job is running; other jobs continue meanwhile.
func (c *carrier) carry(ctx context.Context) error {
	p := c.op.Caller
	ctx = WithClaim(auth.With(WithCaller(ctx, "operation "+c.op.ID), &p), c.op.Claim)
	var queues []*queue
	cursor := c.op.Cursor
	for next := c.prefetch(ctx, cursor); c.op.State == v1.Running; {
		if next != nil && waiting(queues) < operationWaits {
			page := <-next
			if page.err != nil {
				c.release(ctx)
				return page.err
			}
			queues, cursor, next = enqueue(queues, page.items), page.cursor, nil
			if cursor != "" {
				next = c.prefetch(ctx, cursor)
			}
		} else {
			flow.Pause(ctx, busyPause)
		}
		results, err := c.carryPage(ctx, queues)
		if err != nil {
			return err
		}
		queues = slices.DeleteFunc(queues, func(q *queue) bool { return len(q.items) == 0 })
		for i := range results {
			c.op.take(results[i])
		}
		if ctx.Err() != nil || c.op.State != v1.Running {
			c.release(ctx)
			return nil //nolint:nilerr // another process continues
		}
		if c.op.Cursor = before(queues, cursor); next == nil && len(queues) == 0 {
			c.op.State, c.op.Ended = v1.Completed, c.keep.shared.Store.Now().UTC()
		}
		if !c.save(ctx) {
			return errLeaseLost
		}
	}
	return nil
}

// found is a page of an operation.
type found struct {
	items  []item
	cursor string // of the next page
	err    error
}

// prefetch reads the page at a cursor while the process works on the previous one.
func (c *carrier) prefetch(ctx context.Context, cursor string) <-chan found {
	at, page := *c.op, make(chan found, 1)
	at.Cursor = cursor
	c.ended.Go(func() {
		var f found
		f.err = patiently(ctx, func() (err error) {
			f.items, f.cursor, err = c.keep.page(ctx, &at, &c.again, c.pageSize())
			return err
		})
		page <- f
	})
	return page
}

// release lets another process continue immediately. It stores the counts of a canceled operation.
func (c *carrier) release(ctx context.Context) {
	stored, rev, err := c.keep.read(context.WithoutCancel(ctx), c.op.ID)
	if err == nil && (stored.Worker == c.name || stored.Worker == "") {
		if stored.State == v1.Canceled {
			stored.Done, stored.Begun, stored.Counts, stored.Failures = c.op.Done, c.op.Begun, c.op.Counts, c.op.Failures
		}
		stored.Worker = ""
		_, _ = c.keep.save(context.WithoutCancel(ctx), stored, rev) // otherwise the lease expires
	}
}

// pageSize is the number of jobs between two writes. With a rate, it is the number per second.
func (c *carrier) pageSize() int {
	if c.op.Rate > 0 {
		return max(1, min(operationPage, int(c.op.Rate)))
	}
	return operationPage
}

// carryPage works on each queue until it is empty or its job is busy, and renews the lease meanwhile.
func (c *carrier) carryPage(ctx context.Context, queues []*queue) ([]result, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var mu sync.Mutex
	var results []result
	var g errgroup.Group
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, q := range queues {
			select {
			case c.slots <- struct{}{}:
			case <-ctx.Done():
				continue
			}
			g.Go(func() error {
				defer func() { <-c.slots }()
				for len(q.items) > 0 {
					r, ok := c.carryOne(ctx, q)
					if !ok {
						return nil
					}
					q.items, q.busy, q.paced = q.items[1:], time.Time{}, false
					mu.Lock()
					results = append(results, r)
					mu.Unlock()
				}
				return nil
			})
		}
		_ = g.Wait() // errors are in the results
	}()
	renew := time.NewTicker(operationTick)
	defer renew.Stop()
	var err error
	for {
		select {
		case <-done:
			return results, err
		case <-renew.C:
			if ctx.Err() == nil && !c.save(ctx) && c.op.State != v1.Canceled {
				err = errLeaseLost
				stop()
			}
		}
	}
}

// result is the result of an operation for one job or occurrence.
type result struct {
	item

	kind, message string
	begun         int // active occurrences
}

// take counts a result.
func (op *operation) take(r result) {
	op.Done++
	op.Begun += r.begun
	if op.Counts == nil {
		op.Counts = map[string]int{}
	}
	op.Counts[r.kind]++
	if r.message == "" || len(op.Failures) >= v1.MaxFailures {
		return
	}
	failure := v1.OperationResult{Job: r.key.String(), Message: audit.Clip(r.message)}
	if !r.nominal.IsZero() {
		failure.Occurrence = scheduler.OccurrenceID(r.key, r.nominal)
	}
	op.Failures = append(op.Failures, failure)
}

// carryOne processes the first item of a queue. ok is false if it was stopped or must wait for its job.
func (c *carrier) carryOne(ctx context.Context, q *queue) (r result, ok bool) {
	if q.paced = q.paced || c.await(ctx); !q.paced {
		return r, false
	}
	it := q.items[0]
	r = result{item: it, kind: v1.ResultFailed}
	if err := auth.Check(ctx, auth.Operate, it.key.Collection); err != nil {
		r.message = err.Error()
		return r, true
	}
	var as v1.Result
	changing, done := lingering(ctx)
	defer done()
	err := patiently(ctx, func() (err error) {
		as, r.begun, err = c.keep.change(changing, c.op, it)
		return err
	})
	switch {
	case err == nil && as == v1.Unchanged:
		r.kind = v1.ResultUnchanged
	case err == nil:
		r.kind = v1.ResultChanged
	case errors.Is(err, scheduler.ErrNotFound):
		r.kind = v1.ResultMissing
	case ctx.Err() != nil:
		return r, false
	case c.op.Verb == v1.VerbResubmit && isBusy(err) && q.waits(c.keep.shared.Store.Now()):
		return r, false
	default:
		e := v1.DescribeError(err)
		r.message = e.Message
		for _, d := range e.Details {
			r.message += "; " + d.Path + ": " + d.Message
		}
	}
	return r, true
}

// lingering returns a context that is canceled two seconds after ctx, so that a started change completes and is
// counted.
func lingering(ctx context.Context) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(2*time.Second, cancel) })
	return longer, func() { stop(); cancel() }
}

// await waits until the rate allows another job. It returns false if it was stopped.
func (c *carrier) await(ctx context.Context) bool {
	if c.op.Rate <= 0 {
		return ctx.Err() == nil
	}
	c.pace.Lock()
	if now := time.Now(); c.next.Before(now) {
		c.next = now
	}
	at := c.next
	c.next = at.Add(time.Duration(float64(time.Second) / c.op.Rate))
	c.pace.Unlock()
	return flow.Pause(ctx, time.Until(at))
}

// stopReason is the reason of a cancellation because the job is disabled.
const stopReason = "disabled with stopRetries"

// change applies an operation to one job. begun is the number of active occurrences of a disabled job.
func (o OperationKeeper) change(ctx context.Context, op *operation, it item) (as v1.Result, begun int, err error) {
	edits := o.edits
	edits.known = it.job
	j, err := edits.load(ctx, it.key, 0)
	switch {
	case err != nil && op.Verb != v1.VerbDelete:
		return "", 0, err
	case err == nil && j.Created.After(op.Created), err == nil && it.uid != "" && it.uid != j.Incarnation():
		return "", 0, fmt.Errorf("job %s: %w", it.key, scheduler.ErrNotFound) // another job has the name
	}
	var v *v1.Job
	switch op.Verb {
	case v1.VerbEnable:
		v, err = edits.Enable(ctx, it.key)
	case v1.VerbDisable:
		v, err = edits.Disable(ctx, it.key)
		if err == nil && (op.StopRetries || !it.idle) {
			begun, err = o.stop(asking(ctx, "cancel"), it.key, op.StopRetries)
		}
	case v1.VerbPause:
		v, err = edits.PauseAt(ctx, it.key, op.Until, op.Created)
	case v1.VerbRun:
		_, err = o.runs.trigger(ctx, it.key, op.Created, nil)
	case v1.VerbDelete:
		err = o.edits.Delete(ctx, it.key, 0)
	case v1.VerbLabel, v1.VerbUnlabel:
		v, err = o.edits.Patch(ctx, Edit{Key: it.key, Body: op.labelPatch()})
	case v1.VerbResubmit:
		as, err = o.runs.resubmitFailed(ctx, it, op.Created)
		return as, 0, err
	}
	if v == nil {
		return v1.Updated, 0, err
	}
	return v.Result, begun, err
}

// stop cancels the active occurrences of a disabled job, or only counts them.
func (o OperationKeeper) stop(ctx context.Context, k scheduler.Key, retries bool) (begun int, err error) {
	active, err := o.edits.cancel(ctx, k, &v1.CancelRequest{Reason: stopReason, DryRun: !retries})
	if err != nil {
		return 0, err
	}
	return len(active.Occurrences), nil
}

// The retries while the store does not answer or is overloaded.
const (
	patienceTries = 8
	patiencePause = 100 * time.Millisecond
)

// patiently retries try while the scheduler is unavailable.
func patiently(ctx context.Context, try func() error) error {
	pause := patiencePause
	for n := 1; ; n++ {
		err := try()
		if !errors.Is(err, scheduler.ErrUnavailable) || n == patienceTries || !flow.Pause(ctx, pause) {
			return err
		}
		pause *= 2
	}
}
