package service

import (
	"context"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/intake"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

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
