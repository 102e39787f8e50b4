package control

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/fairqueue"
	"github.com/carillon-sched/carillon/scheduler/flow"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// Previewer previews the runs of a job. The zero value is ready for use and does not limit concurrent previews.
type Previewer struct {
	queue *fairqueue.Queue // nil: no limit
	clock func() time.Time // nil: the local clock
}

// The number of runs in a preview.
const (
	DefaultPreview = 10
	MaxPreview     = 1000
)

// Preview returns the runs of a job that is not stored. It reads no collection. The document is a job's, in either of
// its forms; Preview uses only startTime, timeZone, dst, recurrence and pausedUntil. The document may also have:
//
//	name   the seed of dsari's hashes, default "". With an action, the job collection/job
//	now    when the job is created; default: the present, or after if that is earlier
//	after  only runs after this time; default: all, including the first
//	count  number of runs, from 1 to 1000; default: 10
//
// Errors: ErrInvalid with every problem, and the cause of ctx's end. A recurrence that ends before it starts is not an
// error here: it never runs, and the notes explain why.
func (p Previewer) Preview(ctx context.Context, body []byte) (*spec.Preview, error) {
	release, err := p.takeTurn(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	q, err := p.parse(ctx, body, scheduler.IgnorePolicies)
	if err != nil {
		return nil, err
	}
	preview := q.onEvents
	if preview == nil {
		preview = new(q.plan.PreviewPaused(q.paused, q.after, q.count))
	}
	return preview, nil
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

// previewQuery is a parsed preview request.
type previewQuery struct {
	plan   *spec.Plan
	after  time.Time // zero: from the first run on
	paused time.Time // end of the pause; zero: not paused
	count  int

	onEvents *spec.Preview // of a job that only events start; nil: the plan's
}

// parse parses a request. It passes fields such as the misfire and overlap policies to policies.
func (p Previewer) parse(ctx context.Context, body []byte, policies func(*document.Object)) (q previewQuery, err error) {
	v, err := flow.Parse(ctx, body)
	if err != nil {
		return q, err
	}
	r := document.NewReader()
	q = p.readPreview(r, v, policies)
	return q, scheduler.AsInvalid(r.Err())
}

// readPreview reads a request and reports problems to the reader.
func (p Previewer) readPreview(r *document.Reader, v document.Value, policies func(*document.Object)) previewQuery {
	var q previewQuery
	o := r.Object(v, "")
	properties, wrapped := o.Object("properties")
	if !wrapped {
		properties = o
	}
	policies(properties)
	scheduler.IgnoreUnscheduled(properties)
	timing := spec.ReadTiming(properties)
	q.paused, _ = properties.Time("pausedUntil")
	properties.Null("pausedUntil")
	sound := r.Err() == nil // otherwise a plan would repeat its problems
	timing.Name = readPreviewName(o, properties.Has("action"))
	now, known := o.Time("now")
	after, late := o.Time("after")
	if late && after.IsZero() { // the zero time would mean none
		after = after.Add(1)
	}
	q.after = after
	if !known {
		now = p.now().UTC()
		if !q.after.IsZero() && q.after.Before(now) { // a request about the past assumes that the job existed then
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
	if trigger, _ := properties.Value("trigger"); trigger.Kind() == document.KindObject && timing.Recurrence == nil && plan != nil {
		q.onEvents = &spec.Preview{Zone: plan.Zone(), Complete: true, Description: scheduler.OnEvents}
	}
	return q
}

// readPreviewName reads the fields that name a job. Any name is valid, because it is only a seed. The name of a whole
// job, which has an action, may be collection/job as everywhere; the seed is then the job's name.
func readPreviewName(o *document.Object, whole bool) string {
	o.Ignore("id", "type", "etag", "collection", "result", "warnings", "dryRun")
	name, _ := o.String("name")
	if _, job, ok := strings.Cut(name, "/"); ok && whole {
		return job
	}
	return name
}

// Weeks is the number of weeks in an [Outlook]: a year.
const Weeks = 53

// afar is the distance of a first run up to which an outlook starts with the present.
const afar = 300 * 24 * time.Hour

// Outlook previews a job for its author.
type Outlook struct {
	spec.Preview

	Warnings []spec.Warning // possible mistakes with their paths; the notes include their texts

	// From is the Monday on which Days starts. Days holds the number of runs per day, in the preview's time zone. It
	// starts with the current week, or with the week of a distant first run. It has fewer than [Weeks] weeks if
	// counting them takes too long.
	From time.Time
	Days []int
}

// Outlook is [Previewer.Preview] for a year ahead, day by day, with the problems of jitter, catchUp, overlap and
// timeout. A year costs the same for a job that runs every second as for a daily one.
func (p Previewer) Outlook(ctx context.Context, body []byte) (*Outlook, error) {
	release, err := p.takeTurn(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	q, err := p.parse(ctx, body, scheduler.CheckPolicies)
	if err != nil {
		return nil, err
	}
	if err := context.Cause(ctx); err != nil { // the client has sent newer input
		return nil, err
	}
	from := p.now()
	if q.onEvents != nil {
		return &Outlook{Preview: *q.onEvents, From: monday(from.In(q.onEvents.Zone)), Days: make([]int, Weeks*7)}, nil
	}
	o := &Outlook{Preview: q.plan.Preview(q.after, q.count), Warnings: q.plan.Warnings()}
	if first, ok := q.plan.First(); ok && first.Sub(from) > afar {
		from = first
	}
	o.From = monday(from.In(o.Zone))
	o.Days, _ = q.plan.PerDay(o.From, Weeks*7)
	return o, nil
}

// monday returns the start of a week.
func monday(t time.Time) time.Time {
	back := (int(t.Weekday()) + 6) % 7
	return time.Date(t.Year(), t.Month(), t.Day()-back, 0, 0, 0, 0, t.Location())
}

// PreviewAWX returns the next ten runs of a recurrence in AWX's dialect. The error is a [spec.AWXErrors], or the cause
// of ctx's end.
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

// asAWX converts errors that only compiling a recurrence reveals to AWX's form.
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
