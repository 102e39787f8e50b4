package control

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/audit"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/explain"
)

// OperationKeeper manages operations on many jobs and executes them.
type OperationKeeper struct {
	shared *shared
	edits  Editor
	runs   Runner
	reads  Reader

	operator *operator
}

// operation is the stored form of an operation. Its worker is the process that executes it. If the worker has not
// renewed its lease for leaseAge, another process continues after the cursor.
type operation struct {
	v1.Operation

	Caller auth.Principal `json:"caller"` // whose access rights apply
	Claim  string         `json:"claim,omitempty"`

	Cursor  string    `json:"cursor,omitempty"` // in the source: all earlier items are done and counted, and some later ones
	Worker  string    `json:"worker,omitempty"`
	Renewed time.Time `json:"renewed,omitzero"`
}

// leaseAge is the time after which another process replaces a silent worker.
const leaseAge = 10 * time.Second

func (o OperationKeeper) bucket() scheduler.Bucket { return o.shared.Store.Operations() }

// CreateOperation starts an operation on many jobs with the access rights of its caller. A dry run is not stored. Its
// Failures list the occurrences that it would resubmit, without a message.
//
// collection is the collection of all its jobs. If it is "", the body may name a collection.
func (o OperationKeeper) CreateOperation(ctx context.Context, collection string, body []byte) (*v1.Operation, error) {
	op, dryRun, err := readOperation(ctx, collection, body, o.shared.Store.Now().UTC())
	if err == nil {
		err = o.prepare(ctx, op, dryRun)
	}
	if err != nil || dryRun {
		return show(op), err
	}
	op.ID, op.State = rand.Text(), v1.Running
	err = o.shared.audited(ctx, o.entry(op, "create"), func(*audit.Entry) error {
		_, err := o.save(ctx, op, 0)
		return err
	})
	return &op.Operation, err
}

// ProposeOperation stores an operation that waits for [OperationKeeper.StartOperation]. An operation without jobs is
// not stored and has no ID.
func (o OperationKeeper) ProposeOperation(ctx context.Context, asked v1.Operation) (*v1.Operation, error) {
	op := &operation{Operation: asked}
	op.Created = o.shared.Store.Now().UTC()
	err := op.check(op.Created)
	if err == nil {
		err = o.prepare(ctx, op, false)
	}
	if err != nil || op.Expected == 0 {
		return show(op), err
	}
	op.ID = rand.Text()
	_, err = o.save(ctx, op, 0)
	return &op.Operation, err
}

// prepare sets the caller of an operation, and counts its jobs or occurrences.
func (o OperationKeeper) prepare(ctx context.Context, op *operation, list bool) error {
	if err := o.mayBegin(ctx, op); err != nil {
		return err
	}
	op.Caller, op.State = *auth.From(ctx), v1.Proposed
	op.By = v1.OperationCaller{Name: audit.Clip(op.Caller.Name), Via: op.Caller.Via}
	op.Claim, _ = ctx.Value(claimKey{}).(string)
	return o.count(ctx, op, list)
}

// mayBegin checks the caller's access right to the operation. The right to each job is checked when it is processed.
func (OperationKeeper) mayBegin(ctx context.Context, op *operation) error {
	if op.Collection != "" {
		return auth.Check(ctx, auth.Operate, op.Collection)
	}
	return auth.Check(ctx, auth.OperateAny, "")
}

// entry returns the audit log entry for a change of an operation.
func (OperationKeeper) entry(op *operation, verb string) *audit.Entry {
	return &audit.Entry{Kind: audit.Operation, Op: verb, Name: op.ID, Result: op.Verb}
}

// StartOperation starts a proposed operation.
func (o OperationKeeper) StartOperation(ctx context.Context, id string) (*v1.Operation, error) {
	return o.setState(ctx, id, v1.Running)
}

// CancelOperation stops an operation. Jobs that it has not reached remain unchanged.
func (o OperationKeeper) CancelOperation(ctx context.Context, id string) (*v1.Operation, error) {
	return o.setState(ctx, id, v1.Canceled)
}

// setState changes the state of an operation, unless it already has that state or has ended.
func (o OperationKeeper) setState(ctx context.Context, id string, to v1.OperationState) (*v1.Operation, error) {
	for range casTries {
		op, rev, err := o.load(ctx, id, auth.Operate)
		if err != nil || op.State == to || op.HasEnded() {
			return show(op), err
		}
		verb := "cancel"
		if to == v1.Running {
			verb = "create"
		}
		if op.State = to; op.HasEnded() {
			op.Ended = o.shared.Store.Now().UTC()
		}
		err = o.shared.audited(ctx, o.entry(op, verb), func(*audit.Entry) error {
			_, err := o.save(ctx, op, rev)
			return err
		})
		if !errors.Is(err, scheduler.ErrConflict) {
			return show(op), err
		}
	}
	return nil, contended("operation " + id)
}

func show(op *operation) *v1.Operation {
	if op == nil {
		return nil
	}
	return &op.Operation
}

// Operation returns an operation, or ErrNotFound if it does not exist or the caller may not see it.
func (o OperationKeeper) Operation(ctx context.Context, id string) (*v1.Operation, error) {
	op, _, err := o.load(ctx, id, auth.Read)
	return show(op), err
}

// Operations returns the operations that the caller may see, newest first, without their failures.
func (o OperationKeeper) Operations(ctx context.Context) ([]*v1.Operation, error) {
	all := []*v1.Operation{}
	err := o.bucket().Each(ctx, func(st scheduler.Stored) error {
		op := &operation{}
		if isID(st.Key.Job) && json.Unmarshal(st.Data, op) == nil && op.State != v1.Proposed && op.visible(ctx, auth.Read) {
			op.Failures = nil
			all = append(all, &op.Operation)
		}
		return nil
	})
	slices.SortFunc(all, func(a, b *v1.Operation) int { return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(a.ID, b.ID)) })
	return all, err
}

// visible reports whether the caller may see or cancel the operation: its own, or with the access right to its jobs.
func (op *operation) visible(ctx context.Context, right auth.Right) bool {
	p := auth.From(ctx)
	if p == nil {
		return false
	}
	own := p.Via == op.Caller.Via && p.Name == op.Caller.Name && p.ID == op.Caller.ID
	if p.Name+p.ID == "" {
		own = own && p.Address == op.Caller.Address && p.Address != ""
	}
	return own || op.State != v1.Proposed && auth.May(p, right, op.Collection)
}

// load reads an operation that the caller has an access right to.
func (o OperationKeeper) load(ctx context.Context, id string, right auth.Right) (op *operation, rev uint64, err error) {
	if isID(id) {
		op, rev, err = o.read(ctx, id)
	}
	switch {
	case op == nil, errors.Is(err, scheduler.ErrNotFound), err == nil && !op.visible(ctx, right):
		return nil, 0, fmt.Errorf("operation %q: %w; operations are kept for 7 days", id, scheduler.ErrNotFound)
	case err != nil:
		return nil, 0, fmt.Errorf("operation %s: %w", id, err)
	}
	return op, rev, nil
}

// isID reports whether a text can be the ID of an operation, as generated by [rand.Text].
func isID(id string) bool {
	return id != "" && strings.Trim(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

func (o OperationKeeper) read(ctx context.Context, id string) (*operation, uint64, error) {
	op := &operation{}
	st, err := o.bucket().Load(ctx, id)
	if err == nil {
		err = json.Unmarshal(st.Data, op)
	}
	return op, st.Revision, err
}

// save writes an operation over a revision.
func (o OperationKeeper) save(ctx context.Context, op *operation, replaces uint64) (uint64, error) {
	data, err := json.Marshal(op)
	if err != nil {
		return 0, err
	}
	return o.bucket().Save(ctx, op.ID, data, replaces)
}

// maxRate is the maximum rate of an operation, in jobs per second.
const maxRate = 10_000

// readOperation parses the document of an operation, and whether it is a dry run.
func readOperation(ctx context.Context, collection string, body []byte, now time.Time) (op *operation, dryRun bool, err error) {
	op = &operation{Operation: v1.Operation{Created: now}}
	req, err := readRequest(ctx, body, func(o *document.Object, req *v1.OperationRequest) {
		if v, _ := o.Value("verb"); v.Kind() == document.KindString {
			op.Verb, _ = o.Enum("verb", v1.OperationVerbs...)
		}
		if req.Collection == "" {
			req.Collection = collection
		} else if collection != "" && req.Collection != collection {
			o.Problem("collection", "is %q, but the request is about %s", req.Collection, collection)
		}
		op.FailedSince = readInstant(o, "failedSince", req.FailedSince, now)
		op.FailedUntil = readInstant(o, "failedUntil", req.FailedUntil, now)
		if text, ok := o.Number("ratePerSecond"); ok {
			var err error
			if op.Rate, err = strconv.ParseFloat(text, 64); err != nil || op.Rate <= 0 || op.Rate > maxRate {
				o.Problem("ratePerSecond", "must be above 0 and at most %d, got %s", maxRate, text)
			}
		}
	})
	if err != nil {
		return nil, false, err
	}
	op.Jobs, op.Collection, op.JobSearch = req.Jobs, req.Collection, req.JobSearch
	op.Until, op.StopRetries, op.Label = req.Until, req.StopRetries, req.Label
	if !req.All && op.Jobs == nil && op.Collection == "" && op.JobSearch == (v1.JobSearch{}) && op.FailedSince.IsZero() {
		return nil, false, scheduler.Invalid("", "names no jobs; name jobs, a collection or a search, or set all to true")
	}
	err = op.check(now)
	return op, req.DryRun, err
}

// readInstant parses an instant of a request; see [v1.ReadInstant].
func readInstant(o *document.Object, name, text string, now time.Time) time.Time {
	t, err := v1.ReadInstant(name, text, now)
	if err != nil {
		o.Problem(name, "%s", scheduler.ProblemsIn(err)[0].Message)
	}
	return t
}

// check validates a requested operation and sets its defaults.
func (op *operation) check(now time.Time) error {
	wrong := document.Problems{}
	problem := func(path, format string, args ...any) {
		wrong = append(wrong, document.Problem{Path: path, Message: fmt.Sprintf(format, args...)})
	}
	op.checkVerb(problem, now)
	op.checkJobs(problem)
	if len(wrong) > 0 {
		return scheduler.AsInvalid(wrong)
	}
	query, err := op.Query(now)
	if err == nil {
		op.JobSearch = op.Fixed(&query)
	}
	return err
}

// checkVerb checks that an operation has exactly the fields that its verb allows. A period of failures ends now at the
// latest.
func (op *operation) checkVerb(problem func(path, format string, args ...any), now time.Time) {
	needs := func(verb, path string, given bool) {
		is := op.Verb == verb || verb == v1.VerbLabel && op.Verb == v1.VerbUnlabel
		switch {
		case is && !given:
			problem(path, "is required by %s", op.Verb)
		case !is && given:
			problem(path, "goes with %s, not with %s", verb, op.Verb)
		}
	}
	needs(v1.VerbPause, "until", op.Until != "")
	needs(v1.VerbLabel, "label", op.Label != "")
	needs(v1.VerbResubmit, "failedSince", !op.FailedSince.IsZero())
	if op.Verb != v1.VerbDisable && op.StopRetries {
		problem("stopRetries", "goes with disable, not with %s", op.Verb)
	}
	if op.Until != "" {
		if _, err := explain.ParseFuture(op.Until, time.UTC, now); err != nil { // each job's time zone decides
			problem("until", "%s", err.Error())
		}
	}
	if op.Verb == v1.VerbResubmit {
		if op.FailedUntil.IsZero() || op.FailedUntil.After(now) {
			op.FailedUntil = now
		}
		if !op.FailedSince.Before(op.FailedUntil) {
			problem("failedSince", "must be before failedUntil, and in the past")
		}
		if op.NextAfter != "" || op.NextBefore != "" || op.Outcome != "" {
			problem("failedSince", "goes with neither nextAfter, nextBefore nor lastOutcome")
		}
	}
}

// checkJobs validates the jobs that an operation names.
func (op *operation) checkJobs(problem func(path, format string, args ...any)) {
	search := op.JobSearch
	search.Filter = ""
	if op.Verb == v1.VerbResubmit {
		search.Target = "" // it selects occurrences
	}
	if op.Jobs != nil && search != (v1.JobSearch{}) {
		problem("jobs", "goes with no search but $filter")
	}
	for i, name := range op.Jobs {
		k, ok := keyOf(name)
		if !ok || k.Validate() != nil {
			problem(fmt.Sprintf("jobs[%d]", i), "%q is not a collection/job", name)
		} else if op.Collection != "" && k.Collection != op.Collection {
			problem(fmt.Sprintf("jobs[%d]", i), "%q is not in collection %s", name, op.Collection)
		}
	}
}

// keyOf parses collection/job.
func keyOf(name string) (scheduler.Key, bool) {
	collection, job, ok := strings.Cut(name, "/")
	return scheduler.Key{Collection: collection, Job: job}, ok
}
