package control

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/awx"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// ScheduleKeeper manages the schedules of the AWX API, which are jobs; see package awx.
type ScheduleKeeper struct {
	shared      *shared
	edits       Editor
	collections CollectionKeeper
}

// errTaken reports that a job exists already.
var errTaken = errors.New("the name is taken")

// Schedules returns the jobs of all schedules.
func (s ScheduleKeeper) Schedules(ctx context.Context) ([]*scheduler.Job, error) {
	jobs, err := s.schedules(ctx, "", "")
	if err != nil {
		return nil, err
	}
	return s.shared.settledAll(ctx, jobs)
}

// SchedulesOf returns the jobs of the schedules of a template.
func (s ScheduleKeeper) SchedulesOf(ctx context.Context, template scheduler.Key) ([]*scheduler.Job, error) {
	jobs, err := s.schedules(ctx, template.Collection, template.String())
	if err != nil {
		return nil, err
	}
	return s.shared.settledAll(ctx, slices.DeleteFunc(jobs, func(j *scheduler.Job) bool { return awx.TemplateOf(j) != template.String() }))
}

// schedules returns the jobs of the schedules whose stored form contains a text. Decoding a job takes a thousand times
// as long as a text search.
func (s ScheduleKeeper) schedules(ctx context.Context, collection, text string) ([]*scheduler.Job, error) {
	release, err := takeTurn(ctx, s.shared.searching)
	if err != nil {
		return nil, err
	}
	defer release()
	var keys []scheduler.Key
	if err := s.shared.Store.EachJob(ctx, collection, func(k scheduler.Key) error {
		if _, ok := awx.IDOf(k.Job); ok {
			keys = append(keys, k)
		}
		return nil
	}); err != nil {
		return nil, err
	}
	var jobs []*scheduler.Job
	for batch := range slices.Chunk(keys, listBatch) {
		stored, err := s.shared.stored(ctx, batch)
		if err != nil {
			return nil, err
		}
		for _, st := range stored {
			if !bytes.Contains(st.Data, []byte(text)) || !awx.MayBeSchedule(st.Data) {
				continue
			}
			j, err := s.shared.decodeInTurn(ctx, st)
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if errors.Is(err, scheduler.ErrUnavailable) {
				return nil, err
			}
			if err == nil && awx.IsSchedule(j) { // the list of jobs shows damaged ones
				jobs = append(jobs, j)
			}
		}
	}
	return jobs, nil
}

// Schedule returns the job of a schedule, or ErrNotFound.
func (s ScheduleKeeper) Schedule(ctx context.Context, id int) (*scheduler.Job, error) {
	all, err := s.collections.Collections(ctx)
	if err != nil {
		return nil, err
	}
	for _, c := range all {
		j, _, err := s.shared.find(ctx, scheduler.Key{Collection: c.Name, Job: awx.JobName(id)})
		if err != nil {
			return nil, err
		}
		if j != nil && awx.IsSchedule(j) {
			return s.shared.steps.Settled(ctx, j)
		}
	}
	return nil, fmt.Errorf("schedule %d: %w", id, scheduler.ErrNotFound)
}

// Template returns the job that schedules are created from, or ErrNotFound. A schedule is not a template.
func (s ScheduleKeeper) Template(ctx context.Context, k scheduler.Key) (*scheduler.Job, error) {
	j, err := s.shared.load(ctx, k)
	if err == nil && awx.IsSchedule(j) {
		err = fmt.Errorf("job %s: %w: it is a schedule, and no template", k, scheduler.ErrNotFound)
	}
	return j, err
}

// CreateSchedule creates a schedule from a template. The request has a name and an rrule. Errors: [awx.Errors];
// ErrNotFound without the template; ErrConflict if a quota is exhausted, or a secret of the template cannot be read
// here.
func (s ScheduleKeeper) CreateSchedule(ctx context.Context, template scheduler.Key, q awx.Request) (*scheduler.Job, error) {
	t, err := s.Template(ctx, template)
	if err != nil {
		return nil, err
	}
	if err := checkReadable(t); err != nil {
		return nil, err
	}
	if err := s.checkName(ctx, t.Key, *q.Name, 0); err != nil {
		return nil, err
	}
	properties := awx.New(t, q)
	id := awx.FirstID(t.Key, *q.Name)
	for range casTries {
		k := scheduler.Key{Collection: t.Key.Collection, Job: awx.JobName(id)}
		j, err := s.put(ctx, k, func(cur *scheduler.Job) (document.Value, error) {
			return properties, s.checkFree(ctx, t.Key, *q.Name, id, cur)
		})
		if !errors.Is(err, errTaken) {
			return j, err
		}
		id = awx.NextID(id)
	}
	return nil, contended("schedules of " + t.Key.String())
}

// checkFree rejects an ID that any job has. The error is errTaken, or states that the name is not unique if that job is
// the same schedule, created by a concurrent request.
func (s ScheduleKeeper) checkFree(ctx context.Context, template scheduler.Key, name string, id int, cur *scheduler.Job) error {
	if cur == nil {
		var err error
		if cur, err = s.Schedule(ctx, id); errors.Is(err, scheduler.ErrNotFound) {
			return nil
		} else if err != nil {
			return err
		}
	}
	if isNamed(cur, template, name) {
		return awx.NotUnique()
	}
	return errTaken
}

// isNamed reports whether a job is the template's schedule with a name.
func isNamed(j *scheduler.Job, template scheduler.Key, name string) bool {
	return awx.IsSchedule(j) && awx.TemplateOf(j) == template.String() && awx.NameOf(j) == name
}

// ChangeSchedule changes the requested fields of a schedule. renew also copies the current action of its template.
// Errors are those of CreateSchedule, and ErrNotFound without the schedule.
func (s ScheduleKeeper) ChangeSchedule(ctx context.Context, id int, q awx.Request, renew bool) (*scheduler.Job, error) {
	j, err := s.Schedule(ctx, id)
	if err != nil {
		return nil, err
	}
	template, err := awx.TemplateKey(awx.TemplateOf(j))
	if err != nil {
		return nil, err
	}
	if q.Template != nil {
		if k, err := awx.TemplateKey(*q.Template); err != nil || k != template {
			return nil, awx.FixedTemplate(template)
		}
	}
	if q.Name != nil {
		if err := s.checkName(ctx, template, *q.Name, id); err != nil {
			return nil, err
		}
	}
	var t *scheduler.Job
	if renew {
		if t, err = s.Template(ctx, template); errors.Is(err, scheduler.ErrNotFound) {
			err = awx.NoTemplate(template.String())
		}
		if err == nil {
			err = checkReadable(t)
		}
		if err != nil {
			return nil, err
		}
	}
	return s.put(ctx, j.Key, func(cur *scheduler.Job) (document.Value, error) {
		switch {
		case cur == nil || !awx.IsSchedule(cur):
			return document.Value{}, fmt.Errorf("schedule %d: %w", id, scheduler.ErrNotFound)
		case renew:
			return awx.Replaced(cur, t, q), nil
		}
		return awx.Changed(cur, q), nil
	})
}

// DeleteSchedule deletes a schedule with its history.
func (s ScheduleKeeper) DeleteSchedule(ctx context.Context, id int) error {
	j, err := s.Schedule(ctx, id)
	if err != nil {
		return err
	}
	return s.edits.Delete(ctx, j.Key, 0)
}

// checkName rejects a name that another schedule of the template has.
func (s ScheduleKeeper) checkName(ctx context.Context, template scheduler.Key, name string, id int) error {
	all, err := s.schedules(ctx, template.Collection, string(document.StringValue(name).JSON()))
	if err != nil {
		return err
	}
	for _, j := range all {
		other, _ := awx.IDOf(j.Key.Job)
		if other != id && isNamed(j, template, name) {
			return awx.NotUnique()
		}
	}
	return nil
}

// checkReadable rejects a template whose secrets cannot be sealed for another job.
func checkReadable(t *scheduler.Job) error {
	if _, locked := t.Def.Document().SecretPaths(); len(locked) > 0 {
		return fmt.Errorf("job %s: %w: its secrets cannot be opened here, as the key that they were sealed with is not known",
			t.Key, scheduler.ErrConflict)
	}
	return nil
}

// put stores the properties that change derives from the current job of a key, which may be nil.
func (s ScheduleKeeper) put(
	ctx context.Context, k scheduler.Key, change func(cur *scheduler.Job) (document.Value, error),
) (*scheduler.Job, error) {
	c, err := s.shared.Collections.Get(ctx, k.Collection)
	if err != nil {
		return nil, err
	}
	r := s.edits.decoder(c, k)
	define := func(cur *scheduler.Job) (*scheduler.Definition, error) {
		properties, err := change(cur)
		if err != nil {
			return nil, err
		}
		d, err := s.define(ctx, r, properties)
		if err != nil {
			return nil, err
		}
		return d, c.Admits(d, r)
	}
	v, err := s.edits.apply(ctx, Edit{Key: k}, r, define)
	if err != nil {
		return nil, err
	}
	return v.Job, nil
}

// define parses the properties of a schedule's job.
func (s ScheduleKeeper) define(
	ctx context.Context, r *scheduler.DefinitionDecoder, properties document.Value,
) (*scheduler.Definition, error) {
	if err := scheduler.CheckSize(len(properties.JSON())); err != nil {
		return nil, err
	}
	release, err := takeTurn(ctx, s.shared.computing)
	if err != nil {
		return nil, err
	}
	defer release()
	draft := r.Properties(properties.Clone()) // a copy for the parser
	if err := s.shared.Secrets.Check(ctx, draft.Object, draft.Written); err != nil {
		return nil, err
	}
	d, err := draft.Definition()
	if err != nil {
		return nil, awx.Explain(scheduler.ProblemsIn(err))
	}
	return d, awx.Check(d)
}
