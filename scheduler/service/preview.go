package service

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/fairqueue"
	"github.com/carillon-sched/carillon/scheduler/intake"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// Previewer tells when jobs would run. The zero value is ready for use, and
// computes as many previews at once as are asked for.
type Previewer struct {
	queue *fairqueue.Queue // nil: as many at once as are asked for
	clock func() time.Time // nil: this machine's
}

// The number of runs in a preview.
const (
	DefaultPreview = 10
	MaxPreview     = 1000
)

// Preview tells when a job would run. Nothing is stored, and no collection is
// asked. The document is a job's, in either of its forms, of which only
// startTime, timeZone, dst, recurrence and pausedUntil are read. It may also have
//
//	name   from which dsari's hashes are made; default "". If there is an action, the job of collection/job
//	now    when the job is created; default: the present, or after if that is earlier
//	after  only runs after this instant are told; default: all, the first one included
//	count  how many, 1-1000; default 10
//
// Errors: ErrInvalid with every problem, and the cause of the end of ctx. A recurrence that ends before it
// starts is none here: it never runs, and the notes say why.
func (p Previewer) Preview(ctx context.Context, body []byte) (*spec.Preview, error) {
	release, err := p.takeTurn(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	v, err := intake.Parse(ctx, body)
	if err != nil {
		return nil, err
	}
	r := document.NewReader()
	q := p.readPreview(r, v, ignorePolicies)
	if err := r.Err(); err != nil {
		return nil, scheduler.AsInvalid(err)
	}
	preview := q.plan.PreviewPaused(q.paused, q.after, q.count)
	return &preview, nil
}

func (p Previewer) now() time.Time {
	if p.clock == nil {
		return time.Now()
	}
	return p.clock()
}

func (p Previewer) takeTurn(ctx context.Context) (release func(), err error) {
	if p.queue == nil {
		return func() {}, nil
	}
	return takeTurn(ctx, p.queue)
}

// previewQuery is a request for a preview.
type previewQuery struct {
	plan   *spec.Plan
	after  time.Time // zero: from the first run on
	paused time.Time // the end of the pause; zero: not paused
	count  int
}

// readPreview reads a request. What is wrong goes to the reader. The members of a job that say how it keeps to its times go
// to policies.
func (p Previewer) readPreview(r *document.Reader, v document.Value, policies func(*document.Object)) previewQuery {
	var q previewQuery
	o := r.Object(v, "")
	properties, wrapped := o.Object("properties")
	if !wrapped {
		properties = o
	}
	policies(properties)
	timing := readPreviewed(properties)
	q.paused, _ = properties.Time("pausedUntil")
	properties.Null("pausedUntil")
	sound := r.Err() == nil // else the problems of a plan would be repetitions
	timing.Name = readPreviewName(o, properties.Has("action"))
	now, known := o.Time("now")
	after, late := o.Time("after")
	if late && after.IsZero() { // which would be none
		after = after.Add(1)
	}
	q.after = after
	if !known {
		now = p.now().UTC()
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
	for _, p := range scheduler.ProblemsIn(err) {
		properties.Report(p)
	}
	q.plan = plan
	return q
}

// readPreviewed reads the properties of a job of which only the timing counts.
func readPreviewed(o *document.Object) spec.Timing {
	o.Ignore("action", "state", "status", "labels", "description", "data")
	return spec.ReadTiming(o)
}

// ignorePolicies lets a preview have members that do not count.
func ignorePolicies(o *document.Object) {
	o.Ignore("jitter", "timeout", "lateAfter", "overlap", "catchUp")
}

// readPreviewName reads the members that name a job. Any name will do, as it is
// but a seed here. That of a whole job, which has an action, may be
// collection/job as everywhere; the seed is then the job's name.
func readPreviewName(o *document.Object, whole bool) string {
	o.Ignore("id", "type", "etag", "collection", "result", "warnings", "dryRun")
	name, _ := o.String("name")
	if _, job, ok := strings.Cut(name, "/"); ok && whole {
		return job
	}
	return name
}

// Weeks is how many weeks an [Outlook] has: a year, whatever its days.
const Weeks = 53

// afar is how far away a first run may be for an outlook that begins with the present.
const afar = 300 * 24 * time.Hour

// Outlook is what a job is going to do, for people who look at it while they write it.
type Outlook struct {
	spec.Preview

	Warnings []spec.Warning // what may be a mistake, with its place; the notes have their texts, too

	// From is the Monday with which Days begin, and Days how many runs each day has, on the clock of the preview's zone. They
	// begin with this week, or with the week of a first run that is far away. There are fewer than those of [Weeks] when it
	// would take too much work to count them.
	From time.Time
	Days []int
}

// Outlook is [Previewer.Preview] with a year ahead, day by day, and with the problems of jitter, catchUp, overlap and
// timeout besides. A year costs the same whether a job runs each second or each day.
func (p Previewer) Outlook(ctx context.Context, body []byte) (*Outlook, error) {
	release, err := p.takeTurn(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	v, err := intake.Parse(ctx, body)
	if err != nil {
		return nil, err
	}
	r := document.NewReader()
	q := p.readPreview(r, v, scheduler.CheckPolicies)
	if err := r.Err(); err != nil {
		return nil, scheduler.AsInvalid(err)
	}
	if err := context.Cause(ctx); err != nil { // who asked has typed on meanwhile
		return nil, err
	}
	o := &Outlook{Preview: q.plan.Preview(q.after, q.count), Warnings: q.plan.Warnings()}
	from := p.now()
	if first, ok := q.plan.First(); ok && first.Sub(from) > afar {
		from = first
	}
	o.From = monday(from.In(o.Zone))
	o.Days, _ = q.plan.PerDay(o.From, Weeks*7)
	return o, nil
}

// monday returns the beginning of a week.
func monday(t time.Time) time.Time {
	back := (int(t.Weekday()) + 6) % 7
	return time.Date(t.Year(), t.Month(), t.Day()-back, 0, 0, 0, 0, t.Location())
}

// PreviewAWX returns the next ten instants of a recurrence in AWX's
// dialect. The error is a [spec.AWXErrors], or the cause of the end of ctx.
func (p Previewer) PreviewAWX(ctx context.Context, rrule string) (*spec.Preview, error) {
	release, err := p.takeTurn(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	now := p.now()
	rule, err := spec.ParseRRule(rrule, spec.AWX)
	if err != nil {
		return nil, asAWX(err)
	}
	plan, err := spec.NewPlan(spec.Timing{Recurrence: &spec.Recurrence{Rule: rule}}, now)
	if err != nil {
		return nil, asAWX(err)
	}
	preview := plan.Preview(now, DefaultPreview)
	return &preview, nil
}

// asAWX tells in AWX's way what only shows when a recurrence is compiled.
func asAWX(err error) error {
	if _, ok := errors.AsType[spec.AWXErrors](err); ok {
		return err
	}
	var list spec.AWXErrors
	for _, p := range scheduler.ProblemsIn(err) {
		list = append(list, &spec.SyntaxError{Message: "rrule parsing failed validation: " + p.Message})
	}
	return list
}
