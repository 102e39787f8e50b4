package scheduler

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// define reads and validates the definition that an edit brings. at is the path
// of its properties in the document.
func (s *Service) define(ctx context.Context, e Edit) (d *Definition, at string, err error) {
	c, v, err := s.open(ctx, e)
	if err != nil {
		return nil, "", err
	}
	r := document.NewReader()
	o := r.Object(v, "")
	properties := readEnvelope(o, v, e.Key)
	d = readProperties(properties.object, c.limits(s.limits), s.actions)
	properties.object.Done()
	if properties.wrapped {
		at = "properties"
		o.Done()
	}
	written := properties.find(v)
	if err := s.secrets.check(ctx, properties.object, written); err != nil {
		return nil, at, err
	}
	if err := r.Err(); err != nil {
		return nil, at, AsInvalid(err)
	}
	d.keep(r, written)
	return d, at, c.admits(e.Key, d)
}

// open checks the parts of an edit that come before its content: names, size,
// syntax and the collection.
func (s *Service) open(ctx context.Context, e Edit) (*Collection, document.Value, error) {
	if err := e.Key.Validate(); err != nil {
		return nil, document.Value{}, err
	}
	if err := CheckSize(len(e.Body)); err != nil {
		return nil, document.Value{}, err
	}
	v, err := document.Parse(e.Body)
	if err != nil {
		return nil, v, AsInvalid(asProblems(err))
	}
	c, err := s.collections.get(ctx, e.Key.Collection)
	if errors.Is(err, ErrNotFound) {
		err = fmt.Errorf("collection %s: %w; create it first", e.Key.Collection, ErrNotFound)
	}
	return c, v, err
}

// asProblems makes a syntax error one problem of a list.
func asProblems(err error) error {
	if p, ok := errors.AsType[document.Problem](err); ok {
		return document.Problems{p}
	}
	return err
}

// envelope is the part of a job document that holds the properties: the
// document itself, or its member "properties".
type envelope struct {
	object  *document.Object
	wrapped bool
}

// find returns the properties in the document they were read from.
func (e envelope) find(v document.Value) document.Value {
	if e.wrapped {
		p, _ := v.Member("properties")
		return p
	}
	return v.Except(envelopeNames...)
}

// envelopeNames are the members beside the properties. They name the job; all
// are read-only.
var envelopeNames = []string{"id", "type", "name", "collection"}

// readEnvelope reads the members around the properties and checks that they
// name the job k.
func readEnvelope(o *document.Object, _ document.Value, k Key) envelope {
	o.Ignore("id", "type")
	if name, ok := o.String("name"); ok && name != k.Job && name != k.String() {
		o.Problem("name", "is %q, but the job is put as %q", name, k.String())
	}
	if c, ok := o.String("collection"); ok && c != k.Collection {
		o.Problem("collection", "is %q, but the job is put into %q", c, k.Collection)
	}
	if inner, ok := o.Object("properties"); ok {
		return envelope{inner, true}
	}
	return envelope{o, false}
}

// DocumentKey returns the key that a job document names itself, with the
// default collection when it names none. ok is false when it has no name.
func DocumentKey(v document.Value) (k Key, ok bool) {
	name, found := v.Member("name")
	if !found || name.Kind() != document.KindString {
		return Key{}, false
	}
	k = Key{Collection: DefaultCollection, Job: name.Text()}
	if c, j, cut := strings.Cut(k.Job, "/"); cut {
		return Key{Collection: c, Job: j}, true
	}
	if c, found := v.Member("collection"); found && c.Kind() == document.KindString {
		k.Collection = c.Text()
	}
	return k, true
}

// readPatch reads a patch document down to its properties.
func (s *Service) readPatch(ctx context.Context, e Edit) (*Collection, document.Value, error) {
	c, v, err := s.open(ctx, e)
	if err != nil {
		return nil, v, err
	}
	if v.Kind() != document.KindObject {
		return nil, v, Invalid("", "must be an object, not "+v.Kind().String())
	}
	r := document.NewReader()
	o := r.Object(v, "")
	env := readEnvelope(o, v, e.Key)
	if id, ok := o.String("id"); ok && !isID(id, e.Key) {
		o.Problem("id", "is %q, but the job that is patched is %s", id, e.Key)
	}
	if env.object.Has("status") {
		env.object.Problem("status", "is read-only and must not be patched")
	}
	if env.wrapped {
		o.Done()
	}
	return c, env.find(v), AsInvalid(r.Err())
}

// isID reports whether an id, in the short form of views or with Azure's path
// before it, is that of the job k.
func isID(id string, k Key) bool {
	end := "/jobCollections/" + k.Collection + "/jobs/" + k.Job
	return len(id) >= len(end) && strings.EqualFold(id[len(id)-len(end):], end)
}

// patched returns cur's definition merged with a patch. Secrets that the patch
// does not name stay, also those that cannot be opened here, unless it sends
// them elsewhere: then it is refused.
func (s *Service) patched(ctx context.Context, cur *Job, patch document.Value, limits Limits) (*Definition, error) {
	base := cur.Def.properties
	if cur.State == Disabled {
		base = document.Merge(base, document.ObjectValue(
			document.Member{Name: "state", Value: document.StringValue(string(Disabled))},
		))
	}
	merged := document.Merge(base, patch).Clone() // a tree of its own, to be read
	kept, locked := merged.SecretPaths()          // what the patch brings is not marked yet
	r := document.NewReader()
	o := r.Object(merged, "")
	d := readProperties(o, limits, s.actions)
	o.Done()
	if err := s.secrets.check(ctx, o, merged); err != nil {
		return nil, err
	}
	if err := r.Err(); err != nil {
		return nil, AsInvalid(err)
	}
	if err := checkKept(&cur.Def.Action, &d.Action, append(kept, locked...)); err != nil {
		return nil, err
	}
	d.keep(r, merged)
	d.secrets = d.secrets || cur.Def.secrets
	return d, nil
}

// afresh is the progress of a job whose schedule is new: the counters stay, and
// the count begins again.
func (p *Progress) afresh() Progress {
	next := *p
	next.Runs, next.Seen, next.Base = 0, time.Time{}, time.Time{}
	return next
}

// equals reports whether def is what j has already, secrets included. A final
// job counts as enabled: putting it again as it was asks for nothing new.
func (j *Job) equals(def *Definition) bool {
	state := j.State
	if state.Final() {
		state = Enabled
	}
	return state == def.State && j.Def.properties.Equal(def.properties)
}

// edited returns j with a new definition. A new schedule starts afresh: its
// count begins again, and the time of the edit stands in for a missing
// startTime.
func (j *Job) edited(def *Definition, now time.Time, specSequence uint64) (*Job, error) {
	next := *j
	next.SpecSequence = max(j.SpecSequence, specSequence)
	if j.equals(def) {
		return &next, nil
	}
	next.Def = def
	next.State = def.State
	next.Updated = now
	next.Generation++
	if j.Def.schedule() != def.schedule() {
		next.ScheduleGen++
		next.Anchor = now
		next.Progress = next.Progress.afresh()
	}
	return &next, next.compile()
}

// admits checks the collection's quota on recurrence. Azure Scheduler answers
// a quota with a conflict.
func (c *Collection) admits(k Key, d *Definition) error {
	if c.MaxRecurrence.Frequency == 0 || d.Timing.Recurrence == nil {
		return nil
	}
	timing := d.Timing
	timing.Name = k.Job
	plan, err := spec.NewPlan(timing, time.Now())
	if err != nil {
		return AsInvalid(err)
	}
	least, wanted := every(c.MaxRecurrence), plan.MinInterval()
	if timing.Recurrence.Rule != nil {
		least = c.MaxRecurrence.ShortestInterval()
	}
	if wanted >= least {
		return nil
	}
	return fmt.Errorf("%w: recurrence: every %s is more often than the quota of collection %s allows (maxRecurrence: every %s)",
		ErrConflict, wanted, c.Name, least)
}

// every is the interval that a recurrence names.
func every(r spec.Recurrence) time.Duration {
	return r.Frequency.Times(max(1, r.Interval))
}

// checkJobCount checks the collection's quota on jobs. The count includes jobs
// that finished but are still kept.
func (s *Service) checkJobCount(ctx context.Context, collection string) error {
	c, err := s.collections.get(ctx, collection)
	if err != nil || c.MaxJobCount == 0 {
		return err
	}
	var keys []Key
	err = s.store.EachJob(ctx, collection, func(k Key) error { keys = append(keys, k); return nil })
	if err == nil && len(keys) >= c.MaxJobCount {
		keys, err = s.existing(ctx, keys, c.MaxJobCount)
	}
	if err == nil && len(keys) >= c.MaxJobCount {
		err = fmt.Errorf("%w: collection %s has %d jobs, its quota (maxJobCount) is %d", ErrConflict, collection, len(keys), c.MaxJobCount)
	}
	return err
}
