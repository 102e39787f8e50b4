package control

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/audit"
	"github.com/carillon-sched/carillon/scheduler/fairqueue"
	"github.com/carillon-sched/carillon/scheduler/flow"
	"github.com/carillon-sched/carillon/scheduler/secrets"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// TestRunner runs test runs.
type TestRunner struct {
	shared *shared
	edits  Editor
	trials *fairqueue.Queue // one per caller, and a few in total
}

// The limits of test runs: running ones per process, and running and waiting ones per caller.
const (
	trialsAtOnce    = 16
	trialsOfACaller = 4
)

func newTrials() *fairqueue.Queue {
	return fairqueue.New(fairqueue.Config{
		Slots: trialsAtOnce, Running: 1, PerCaller: trialsOfACaller - 1, Waiting: math.MaxInt,
	})
}

// TestRun runs one attempt of a job's action now and returns its result. A document defines the job, which is not stored;
// without a document, TestRun uses the stored job. No history record is written, and no retry or errorAction follows; the
// audit log has an entry. Try waits at most a minute, regardless of the job's timeout.
//
// The body {"data": {…}} tests the stored job with the data of a run, see [Runner.RunBy].
//
// Secrets that the document omits are taken from the stored job with the same name, if the document sends them to the
// same place; see [scheduler.CheckKept]. The response never contains a secret that was sent, even if the target repeats
// it.
//
// Errors: ErrInvalid with every problem of the document; ErrNotFound without the collection or, without a document, the
// job; ErrConflict if the collection's plan does not allow the job, or if the target is busy or its circuit breaker is
// open. A failed attempt is a result, not an error.
func (t TestRunner) TestRun(ctx context.Context, k scheduler.Key, body []byte) (*v1.Trial, error) {
	if err := k.Validate(); err != nil {
		return nil, err
	}
	release, err := takeTurn(ctx, t.trials)
	if errors.Is(err, fairqueue.ErrFull) {
		return nil, fmt.Errorf("%w: too many of your test runs are in progress or waiting; wait for their responses",
			scheduler.ErrUnavailable)
	}
	if err != nil {
		return nil, err
	}
	defer release()
	if t.shared.Try == nil {
		return nil, fmt.Errorf("job %s: %w: this process makes no attempts", k, scheduler.ErrConflict)
	}
	v := &v1.Trial{Job: k.String(), Stored: len(bytes.TrimSpace(body)) == 0}
	var data json.RawMessage
	if doc, err := flow.Parse(ctx, body); err == nil && len(doc.Members()) == 1 && strings.EqualFold(doc.Members()[0].Name, "data") {
		v.Stored = true
		if data, err = scheduler.ReadRun(doc); err != nil {
			return nil, err
		}
	}
	def, err := t.read(ctx, k, body, v)
	if err == nil && data != nil {
		err = def.CheckRun(data)
	}
	if err != nil {
		return nil, err
	}
	v.Type, v.Target = def.Action.Type, def.Action.Run.Target()
	entry := &audit.Entry{Kind: audit.Job, Op: "try", Collection: k.Collection, Job: k.Job, Name: audit.Clip(v.Target)}
	err = t.shared.audited(ctx, entry, func(e *audit.Entry) error {
		if err := t.attempt(ctx, k, def, data, v); err != nil {
			return err
		}
		e.Result = string(v.Outcome)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return v, nil
}

// read returns the definition to test.
func (t TestRunner) read(ctx context.Context, k scheduler.Key, body []byte, v *v1.Trial) (*scheduler.Definition, error) {
	cur, _, err := t.shared.find(ctx, k)
	if v.Stored {
		if cur, err = there(cur, k, err); err != nil {
			return nil, err
		}
		return cur.Def, nil
	}
	if _, damaged := errors.AsType[*scheduler.DamagedError](err); err != nil && !damaged {
		return nil, err
	}
	release, err := takeTurn(ctx, t.shared.computing)
	if err != nil {
		return nil, err
	}
	defer release()
	c, doc, err := t.edits.open(ctx, Edit{Key: k, Body: body})
	if err != nil {
		return nil, err
	}
	r := t.edits.decoder(c, k)
	draft, kept := r.TestRun(cur, doc)
	if err := t.shared.Secrets.Check(ctx, draft.Object, draft.Written); err != nil {
		return nil, err
	}
	def, err := draft.Definition()
	if err == nil && len(kept) > 0 {
		err = scheduler.CheckKept(cur.Def, def, kept)
	}
	if err == nil {
		err = c.Admits(def, r)
	}
	if err != nil {
		return nil, err
	}
	v.Kept = kept
	if plan, err := scheduler.NewJob(k, r.UID, def, r.Now, 0); err == nil { // with an invalid schedule, only the action is tested
		v.Warnings = def.Warnings(plan.Plan)
	}
	v.Warnings = aboutActions(v.Warnings)
	return def, nil
}

// aboutActions returns the warnings about the action.
func aboutActions(warnings []spec.Warning) (about []spec.Warning) {
	for _, w := range warnings {
		if strings.HasPrefix(strings.TrimPrefix(w.Path, "properties."), "action") {
			about = append(about, w)
		}
	}
	return about
}

// attempt makes the attempt and stores its result in v.
func (t TestRunner) attempt(ctx context.Context, k scheduler.Key, def *scheduler.Definition, data json.RawMessage, v *v1.Trial) error {
	now := t.shared.Store.Now().UTC()
	redactor := &secrets.Redactor{}
	a := scheduler.TestRunOf(k, def, strings.ToLower(rand.Text()[:trialMark]), now)
	a.Data, a.Redact, a.Veiled = data, redactor.Add, redactor.Veiled
	a.Shared = func(name string) (string, error) { return t.shared.Secrets.Shared(ctx, name) }
	a.Heard = func(name, value string) {
		if len(v.Headers) < maxTrialHeaders {
			v.Headers = append(v.Headers, v1.TrialHeader{Name: name, Value: value})
		}
	}
	res, err := t.shared.Try(ctx, def.Action.Run, a)
	if err != nil {
		return err
	}
	res = redactor.Clean(res)
	for i := range v.Headers {
		text := redactor.Clean(scheduler.Result{Message: v.Headers[i].Value}).Message
		v.Headers[i].Value = audit.Clip(text)
	}
	v.Key, v.Started, v.Duration = a.Key, now, scheduler.Seconds(res.Duration)
	v.Status, v.Message, v.Summary = res.Status, res.Message, cmp.Or(res.Summary, res.Message)
	v.Body, v.RetryAfter = res.Response, scheduler.Seconds(res.RetryAfter)
	v.Outcome = scheduler.OutcomeCompleted
	if res.Failed {
		v.Outcome, v.Hint = scheduler.OutcomeFailed, res.Hint(a.Timeout)
	}
	return nil
}

const (
	trialMark       = 10 // letters that distinguish a test run from others
	maxTrialHeaders = 32
)
