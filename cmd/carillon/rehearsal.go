package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/check"
	"github.com/carillon-sched/carillon/cmd/carillon/jobfile"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/client"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// rehearsal is a dry run of apply. It remembers which collections would be
// there by then: no scheduler can check their jobs yet.
type rehearsal struct {
	api     *client.Client
	options putting
	made    sync.Map // documents of collections that would be created, by name
	edited  sync.Map // names of existing collections that would change
}

func newRehearsal(api *client.Client, o putting) *rehearsal {
	return &rehearsal{api: api, options: o}
}

// put tells what would become of a job, or a collection.
func (r *rehearsal) put(ctx context.Context, j jobfile.Job) (a jobfile.Answer, err error) {
	if j.IsCollection() {
		a, err = putCollectionOver(ctx, r.api, j, r.options.PutOptions)
		switch a.Result {
		case view.Created:
			r.made.Store(j.Key.Collection, j.Body)
		case view.Updated:
			r.edited.Store(j.Key.Collection, true)
		case view.Unchanged:
		}
		return a, err
	}
	if made, ok := r.made.Load(j.Key.Collection); ok {
		return r.foresee(j, made.([]byte)) //nolint:forcetypeassert // nothing else is stored
	}
	before, err := r.api.Get(ctx, j.Key)
	if err != nil && !errors.Is(err, scheduler.ErrNotFound) {
		return a, err
	}
	if err == nil {
		a.Before = shown(before)
	}
	got, err := putJob(ctx, r.api, j, r.options)
	if err != nil {
		return jobfile.Answer{}, err
	}
	a.Result, a.Over, a.Warnings = got.Result, got.Status.Over, got.Warnings
	a.DryRun, a.After = got.DryRun, shown(got)
	if _, edited := r.edited.Load(j.Key.Collection); edited && a.DryRun != nil {
		a.DryRun.Notes = append(a.DryRun.Notes, currentDefaults)
	}
	return a, nil
}

// currentDefaults is a note on a job if apply would update its collection too.
const currentDefaults = "the update of its collection is not considered: quotas and inherited settings are the current ones"

// unchecked is said of a job whose collection is not there yet.
const unchecked = "its collection is not there yet: limits of the scheduler and names of secrets are checked once it is"

// foresee checks a job of a collection that would be created by its document, as far as that can be done without a
// scheduler: what may be allowed is.
func (r *rehearsal) foresee(j jobfile.Job, collection []byte) (a jobfile.Answer, err error) {
	checker := check.New(check.Config{MinRetryInterval: time.Millisecond, AnyKey: true})
	defer checker.Close()
	if _, err := checker.Document(scheduler.Key{Collection: j.Key.Collection}, collection, false); err != nil {
		return a, err
	}
	v, err := checker.Job(j.Key, j.Body, r.options.Strict)
	if err != nil {
		return a, err
	}
	would := &client.Job{}
	if err := would.UnmarshalJSON(view.JSON(v)); err != nil {
		return a, err
	}
	a = jobfile.Answer{Result: v.Result, Warnings: v.Warnings, After: shown(would), DryRun: v.DryRun}
	if a.DryRun == nil {
		a.DryRun = &view.DryRun{NextRuns: []time.Time{}}
	}
	a.DryRun.Notes = append(a.DryRun.Notes, unchecked)
	return a, nil
}

// shown returns the properties of a job and its inherited settings, without its status.
func shown(j *client.Job) []byte {
	v, err := document.Parse(j.Properties)
	if err != nil {
		return j.Properties
	}
	v = v.Without("status")
	if inherited, err := document.Parse(j.Inherited); err == nil {
		v = v.With(inherited, "inherited")
	}
	return v.JSON()
}

// without returns a document without some members.
func without(doc []byte, members ...string) []byte {
	v, err := document.Parse(doc)
	if err != nil {
		return doc
	}
	return v.Without(members...).JSON()
}
