package scheduler

import (
	"context"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// Preview is what a job would do, and a description of its schedule.
type Preview struct{ spec.Preview }

// The number of runs in a preview.
const (
	DefaultPreview = 10
	MaxPreview     = 1000
)

// Preview tells when a job would run. Nothing is stored, and no collection is
// asked. The document is a job's, in either of its forms, of which only
// startTime, timeZone, dst and recurrence are read; beside them it may have
//
//	name   from which dsari's hashes are made; default "". If there is an action, the job of collection/job
//	now    when the job is created; default: the present, or after if that is earlier
//	after  only runs after this instant are told; default: all, the first one included
//	count  how many, 1-1000; default 10
//
// Errors: ErrInvalid with every problem. A recurrence that ends before it
// starts is none here: it never runs, and the notes say why.
func (s *Service) Preview(_ context.Context, body []byte) (*Preview, error) {
	if err := CheckSize(len(body)); err != nil {
		return nil, err
	}
	v, err := document.Parse(body)
	if err != nil {
		return nil, AsInvalid(asProblems(err))
	}
	r := document.NewReader()
	q := readPreview(r, v)
	if err := r.Err(); err != nil {
		return nil, AsInvalid(err)
	}
	return &Preview{q.plan.Preview(q.after, q.count)}, nil
}

// previewQuery is a request for a preview.
type previewQuery struct {
	plan  *spec.Plan
	after time.Time // zero: from the first run on
	count int
}

// readPreview reads a request. What is wrong goes to the reader.
func readPreview(r *document.Reader, v document.Value) previewQuery {
	var q previewQuery
	o := r.Object(v, "")
	properties, wrapped := o.Object("properties")
	if !wrapped {
		properties = o
	}
	timing := readPreviewed(properties)
	sound := r.Err() == nil // else the problems of a plan would be repetitions
	timing.Name = readPreviewName(o, properties.Has("action"))
	now, known := o.Time("now")
	after, late := o.Time("after")
	if late && after.IsZero() { // which would be none
		after = after.Add(1)
	}
	q.after = after
	if !known {
		now = time.Now().UTC()
		if !q.after.IsZero() && q.after.Before(now) { // who asks about the past means a job that was there
			now = q.after
		}
	}
	if n, ok := o.Int("count", 1, MaxPreview); ok {
		q.count = int(n)
	} else {
		q.count = DefaultPreview
	}
	o.Done()
	if wrapped {
		properties.Done()
	}
	if !sound {
		return q
	}
	plan, err := spec.NewPlan(timing, now)
	for _, p := range problemsIn(err) {
		properties.Problem(p.Path, "%s", p.Message)
	}
	q.plan = plan
	return q
}

// readPreviewed reads the properties of a job of which only the timing counts.
func readPreviewed(o *document.Object) spec.Timing {
	o.Ignore("action", "state", "status", "jitter", "timeout", "overlap", "catchUp", "labels", "description")
	return spec.ReadTiming(o)
}

// readPreviewName reads the members that name a job. Any name will do, as it is
// but a seed here. That of a whole job, which has an action, may be
// collection/job as everywhere; the seed is then the job's name.
func readPreviewName(o *document.Object, whole bool) string {
	o.Ignore("id", "type", "collection")
	name, _ := o.String("name")
	if _, job, ok := strings.Cut(name, "/"); ok && whole {
		return job
	}
	return name
}

// Document returns the preview as every door answers it:
//
//	{"utc": […], "local": […], "complete": true, "description": "…", "notes": […], "timeZone": "Europe/Berlin"}
//
// utc and local are the same instants, the latter on the clock of timeZone.
// complete says that nothing follows them.
func (p *Preview) Document() document.Value {
	notes := make([]document.Value, len(p.Notes))
	for i, note := range p.Notes {
		notes[i] = document.StringValue(note)
	}
	return document.ObjectValue(
		document.Member{Name: "utc", Value: p.timesIn(time.UTC)},
		document.Member{Name: "local", Value: p.timesIn(p.Zone)},
		document.Member{Name: "complete", Value: document.BoolValue(p.Complete)},
		member("description", p.Description),
		document.Member{Name: "notes", Value: document.ArrayValue(notes...)},
		member("timeZone", p.Zone.String()),
	)
}

// timesIn returns the runs on the clock of a zone.
func (p *Preview) timesIn(zone *time.Location) document.Value {
	times := make([]document.Value, len(p.Times))
	for i, t := range p.Times {
		times[i] = document.StringValue(t.In(zone).Format(time.RFC3339Nano))
	}
	return document.ArrayValue(times...)
}
