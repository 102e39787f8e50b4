// Package check reads jobs and collections as a scheduler does, without one.
//
// A checker cannot know collections that it has not read, the scheduler's shared secrets, and the addresses and subjects
// that jobs may reach.
package check

import (
	"sync"
	"time"

	"github.com/carillon-sched/carillon/actions"
	"github.com/carillon-sched/carillon/actions/builtin"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// Echo replaces the URL of a scheduler's /echo offline.
const Echo = "http://127.0.0.1:8080/echo"

// Checker reads documents. Close it in the end.
type Checker struct {
	actions *actions.Registry
	limits  scheduler.Limits
	known   sync.Map // the collections that were read, by name
}

// Config says for what scheduler documents are checked.
type Config struct {
	MinRetryInterval time.Duration // 0: the default of `carillon serve`
	AnyKey           bool          // Service Bus jobs need no key, as in `carillon dev`
}

// New returns a checker. It does no I/O.
func New(c Config) *Checker {
	return &Checker{
		actions: builtin.New(builtin.Config{AnyKey: c.AnyKey}), limits: scheduler.Limits{MinRetryInterval: c.MinRetryInterval},
	}
}

// Close ends the checker.
func (c *Checker) Close() { c.actions.Close() }

// Document reads the document of a job called k or, if k names none, of a collection. The error matches
// [scheduler.ErrInvalid] and holds every problem with its path. Jobs are checked against a collection of theirs that was
// read before: its limits and defaults apply. warnings are about a job that is in order, and may not do
// what its author expects; strict makes problems of them.
func (c *Checker) Document(k scheduler.Key, body []byte, strict bool) (warnings []spec.Warning, err error) {
	if k.Job == "" {
		v, err := scheduler.ParseDocument(body)
		if err != nil {
			return nil, err
		}
		known, err := scheduler.ReadCollection(k.Collection, v)
		if err == nil {
			known.Defaults, err = known.ReadDefaults(c.actions, c.limits)
		}
		if err == nil {
			c.known.Store(k.Collection, known)
		}
		return nil, err
	}
	v, err := c.Job(k, body, strict)
	if err != nil {
		return nil, err
	}
	return v.Warnings, nil
}

// Job reads the document of a job as [Checker.Document] does, and returns the job as a scheduler that has none of the
// name would show it after a dry run.
func (c *Checker) Job(k scheduler.Key, body []byte, strict bool) (*v1.Job, error) {
	doc, err := scheduler.ParseDocument(body)
	if err != nil {
		return nil, err
	}
	now := time.Now().UTC()
	in := scheduler.NewCollection(k.Collection)
	limits := c.limits
	if known, ok := c.known.Load(k.Collection); ok {
		in = known.(*scheduler.Collection) //nolint:forcetypeassert // nothing else is stored
		limits = in.Limits(limits)
	}
	r := &scheduler.DefinitionDecoder{Limits: limits, Actions: c.actions, Key: k, UID: k.String(), Now: now}
	def, err := r.Document(doc).Definition()
	if err == nil {
		err = in.Admits(def, r)
	}
	if err != nil {
		return nil, err
	}
	j, err := scheduler.NewJob(k, r.UID, def, now, 0)
	if err != nil {
		return nil, err
	}
	warnings := def.Warnings(j.Plan)
	if strict && len(warnings) > 0 {
		return nil, scheduler.RefuseWarnings(warnings)
	}
	j = j.Inheriting(in.Defaults)
	first := j.Begin(scheduler.Progress{}, now)
	v := v1.NewJob(j, scheduler.Progress{}, now)
	v.Result, v.Warnings, v.DryRun = v1.Created, warnings, v1.NewDryRun(j, first.Next)
	return v, nil
}
