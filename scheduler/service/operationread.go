package service

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/intake"
	"github.com/carillon-sched/carillon/scheduler/view"
	"github.com/carillon-sched/carillon/scheduler/why"
)

// maxRate is the highest rate of an operation, in jobs per second.
const maxRate = 10_000

// readOperation reads the document of an operation that is asked for, and whether it is a dry run.
func readOperation(ctx context.Context, collection string, body []byte, now time.Time) (op *operation, dryRun bool, err error) {
	v, err := intake.Parse(ctx, body)
	if err != nil {
		return nil, false, err
	}
	r := document.NewReader()
	o := r.Object(v, "")
	op = &operation{Operation: view.Operation{Created: now}}
	if o.Require("verb") {
		op.Verb, _ = o.Enum("verb", view.OperationVerbs...)
	}
	op.Jobs, _ = o.Strings("jobs")
	for name, to := range map[string]*string{
		"collection": &op.Collection, "$filter": &op.Filter, "labelSelector": &op.Labels, "prefix": &op.Prefix,
		"actionType": &op.Action, "nextAfter": &op.NextAfter, "nextBefore": &op.NextBefore, "text": &op.Text,
		"lastOutcome": &op.Outcome, "until": &op.Until, "label": &op.Label, "target": &op.Target,
	} {
		*to, _ = o.String(name)
	}
	if op.Collection == "" {
		op.Collection = collection
	} else if collection != "" && op.Collection != collection {
		o.Problem("collection", "is %q, but the request is about %s", op.Collection, collection)
	}
	for name, to := range map[string]*time.Time{"failedSince": &op.FailedSince, "failedUntil": &op.FailedUntil} {
		text, _ := o.String(name)
		if *to, err = view.ReadInstant(name, text, now); err != nil {
			o.Problem(name, "%s", scheduler.ProblemsIn(err)[0].Message)
		}
	}
	if text, ok := o.Number("ratePerSecond"); ok {
		if op.Rate, err = strconv.ParseFloat(text, 64); err != nil || op.Rate <= 0 || op.Rate > maxRate {
			o.Problem("ratePerSecond", "must be above 0 and at most %d, got %s", maxRate, text)
		}
	}
	op.StopRetries, _ = o.Bool("stopRetries")
	all, _ := o.Bool("all")
	dryRun, _ = o.Bool("dryRun")
	o.Done()
	if err := r.Err(); err != nil {
		return nil, false, scheduler.AsInvalid(err)
	}
	if !all && op.Jobs == nil && op.Collection == "" && op.JobSearch == (view.JobSearch{}) && op.FailedSince.IsZero() {
		return nil, false, scheduler.Invalid("", "names no jobs; name jobs, a collection or a search, or set all to true")
	}
	err = op.check(now)
	return op, dryRun, err
}

// check checks an operation that is asked for, and completes it.
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

// checkVerb checks that an operation has the members that its verb requires, and no others. A period of failures ends now at
// the latest.
func (op *operation) checkVerb(problem func(path, format string, args ...any), now time.Time) {
	needs := func(verb, path string, given bool) {
		is := op.Verb == verb || verb == view.VerbLabel && op.Verb == view.VerbUnlabel
		switch {
		case is && !given:
			problem(path, "is required by %s", op.Verb)
		case !is && given:
			problem(path, "goes with %s, not with %s", verb, op.Verb)
		}
	}
	needs(view.VerbPause, "until", op.Until != "")
	needs(view.VerbLabel, "label", op.Label != "")
	needs(view.VerbResubmit, "failedSince", !op.FailedSince.IsZero())
	if op.Verb != view.VerbDisable && op.StopRetries {
		problem("stopRetries", "goes with disable, not with %s", op.Verb)
	}
	if op.Verb != view.VerbResubmit && op.Target != "" {
		problem("target", "goes with resubmit, not with %s", op.Verb)
	}
	if op.Until != "" {
		if _, err := why.ParseFuture(op.Until, time.UTC, now); err != nil { // the clock of each job decides
			problem("until", "%s", err.Error())
		}
	}
	if op.Verb == view.VerbResubmit {
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

// checkJobs checks the jobs that an operation names.
func (op *operation) checkJobs(problem func(path, format string, args ...any)) {
	if op.Jobs != nil && op.JobSearch != (view.JobSearch{}) {
		problem("jobs", "goes with no search")
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

// keyOf reads collection/job.
func keyOf(name string) (scheduler.Key, bool) {
	collection, job, ok := strings.Cut(name, "/")
	return scheduler.Key{Collection: collection, Job: job}, ok
}
