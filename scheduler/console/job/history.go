package job

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/audit"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/live"
	"github.com/carillon-sched/carillon/scheduler/console/records"
	"github.com/carillon-sched/carillon/scheduler/console/table"
	"github.com/carillon-sched/carillon/scheduler/console/words"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/explain"
)

// historySize limits the records of a page.
const historySize = 60

// history is a page of a history.
type history struct {
	Filter   records.Filter
	Wrong    *frame.Problem
	Runs     []*run
	First    string // the URL of the first page; "": this page
	Older    string // the URL of the next page; "": none
	Operate  bool   // the user can resubmit runs
	Outcomes []scheduler.Outcome
	Key      scheduler.Key
	Path     string // of the job
	Files    *table.Files

	zone *time.Location
}

// runsOfDay are the runs of a page on a day of the browser's zone.
type runsOfDay struct {
	Name string
	Runs []*run
}

// Days returns the runs by day.
func (h *history) Days() (days []runsOfDay) {
	for _, one := range h.Runs {
		name := words.Date(one.Nominal.In(h.zone), words.Text("date.weekday"))
		if n := len(days); n == 0 || days[n-1].Name != name {
			days = append(days, runsOfDay{Name: name})
		}
		last := &days[len(days)-1]
		last.Runs = append(last.Runs, one)
	}
	return days
}

// filterOf returns the filter of a history. Its job is in the path.
func filterOf(c *frame.Request) records.Filter {
	f := records.ReadURL(c)
	f.Collection, f.Job = "", ""
	return f
}

// historyOf returns the requested page of a history. past are the last runs of the job, if they have been read. For an
// invalid filter, the page has a problem and no records.
func (r section) historyOf(ctx context.Context, c *frame.Request, k scheduler.Key, past *recent) (*history, error) {
	h := &history{
		Filter: filterOf(c), Outcomes: scheduler.Outcomes, Key: k, Path: frame.JobPath(k),
		Operate: c.May(auth.Operate, k.Collection), zone: c.Zone(),
	}
	of := h.Filter
	of.Collection, of.Job = k.Collection, k.Job
	h.Files = table.FilesOf(live.Path, of.Values())
	link := func(before string) string { return h.Filter.Address(h.Path, records.Before, before) }
	query, err := h.Filter.Query(ctx, r.service)
	query.Key = k
	var before uint64
	if err == nil {
		before, err = v1.ReadSequence(records.Before, c.Query(records.Before))
	}
	if err != nil {
		p := c.Describe(err) //nolint:contextcheck // it has the request's
		p.Hint = c.Text("job.history.wrong")
		h.Wrong = &p
		return h, nil
	}
	var found []*scheduler.Record
	var next uint64
	if past != nil && h.Filter.IsEmpty() && before == 0 {
		found, next = past.page(historySize)
	} else if found, next, err = r.service.History(ctx, query, v1.Page{Top: historySize, Before: before}); err != nil {
		return nil, err
	}
	found, next = whole(found, next)
	h.Runs = runsOf(found, excerptLength)
	if err := r.askedBy(ctx, k, h.Runs); err != nil {
		return nil, err
	}
	if before != 0 {
		h.First = link("")
	}
	if next != 0 {
		h.Older = link(v1.HistoryToken(next))
	}
	return h, nil
}

// askedBy adds the URLs of traces and the requests of attempts to runs. The requests are unknown for a deleted job.
func (r section) askedBy(ctx context.Context, k scheduler.Key, runs []*run) error {
	if len(runs) == 0 {
		return nil
	}
	for _, one := range runs {
		one.TraceURL = r.traces.Of(one.Trace)
	}
	v, err := r.service.Get(ctx, k)
	if errors.Is(err, scheduler.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, one := range runs {
		one.ask(v.Job)
	}
	return nil
}

// occurrenceReach limits the pages that are searched for an occurrence.
const occurrenceReach = 10

// occurrenceOf returns a run with all its records. before is a position after its last record, 0 if unknown. It returns
// [scheduler.ErrNotFound] if the run has no records.
func (r section) occurrenceOf(ctx context.Context, k scheduler.Key, text string, before uint64) (*run, error) {
	nominal, err := scheduler.ParseOccurrence(k, text)
	if err != nil {
		return nil, err
	}
	name := scheduler.OccurrenceID(k, nominal)
	q := control.HistoryQuery{Key: k, RecordFilter: scheduler.RecordFilter{Since: nominal.Add(-time.Minute)}}
	known := before != 0
	own, err := r.search(ctx, q, before, true, func(rec *scheduler.Record) bool { return rec.Occurrence == name })
	if err != nil {
		return nil, err
	}
	if len(own) == 0 && !known { // the retained records are later ones
		if own, err = r.service.Occurrence(ctx, k, nominal); err != nil {
			return nil, err
		}
	}
	if runs := runsOf(own, wholeLength); len(runs) > 0 {
		return runs[0], r.askedBy(ctx, k, runs)
	}
	return nil, fmt.Errorf("occurrence %s: %w", name, scheduler.ErrNotFound)
}

// search returns the records of a query that are wanted, from a position on. together: it ends after a page of other records
// that follows one of them.
func (r section) search(
	ctx context.Context, q control.HistoryQuery, before uint64, together bool, wanted func(*scheduler.Record) bool,
) (own []*scheduler.Record, err error) {
	others := 0 // since the last one
	for range occurrenceReach {
		records, next, err := r.service.History(ctx, q, v1.Page{Before: before})
		if err != nil {
			return nil, err
		}
		for _, rec := range records {
			others++
			if wanted(rec) {
				own, others = append(own, rec), 0
			}
		}
		if before = next; next == 0 || together && len(own) > 0 && others >= v1.MaxPage {
			break
		}
	}
	return own, nil
}

// repeatsOf returns the runs that repeated a run, newest first.
func (r section) repeatsOf(ctx context.Context, k scheduler.Key, of *run) ([]*run, error) {
	manual := true
	q := control.HistoryQuery{Key: k, RecordFilter: scheduler.RecordFilter{Since: of.Nominal, Manual: &manual}}
	own, err := r.search(ctx, q, 0, false, func(rec *scheduler.Record) bool { return rec.Form().Resubmits == of.Occurrence })
	if err != nil {
		return nil, err
	}
	repeats := runsOf(own, excerptLength)
	return repeats, r.askedBy(ctx, k, repeats)
}

// wholeLength limits a text on its own page, in bytes; records keep less.
const wholeLength = 64 << 10

// auditFew limits the changes on the page of a job.
const auditFew = 5

// changesOf returns the latest changes of a job, newest first; none if the audit log is disabled or not for the user.
func (r section) changesOf(ctx context.Context, c *frame.Request, k scheduler.Key) ([]*audit.Entry, error) {
	if !c.May(auth.Administer, k.Collection) {
		return nil, nil
	}
	q := control.TrailQuery{Scope: audit.Scope{Kind: audit.Job, Collection: k.Collection, Job: k.Job}}
	entries, _, err := r.service.Trail(ctx, q, v1.Page{Top: auditFew})
	return entries, scheduler.Ignore(err, scheduler.ErrNotFound)
}

// asked is an explanation of a run, with its question.
type asked struct {
	name

	At     string
	Link   string // to this answer
	Answer *explain.Answer
	State  string // name of its mark; "": none
	Run    string // the instant of the explained run; "": none
	Wrong  *frame.Problem
}

// showWhy explains why the job ran at a time, or did not: a page, or the answer alone. It supports deleted jobs.
func (r section) showWhy(c *frame.Request) error {
	k := key(c)
	a := &asked{name: nameOf(c, k), At: c.Query("at")}
	a.Link = a.Path + "/why?at=" + url.QueryEscape(a.At)
	answer, err := r.service.Why(c.Context(), k, a.At)
	switch {
	case errors.Is(err, scheduler.ErrInvalid):
		p := c.Describe(err)
		a.Wrong = &p
	case err != nil:
		return err
	default:
		a.Answer, a.State, a.Run = answer, marks[answer.Code], instantOf(answer.Occurrence)
		if answer.Attempts == 0 {
			a.Run = ""
		}
	}
	return c.Show(shown(c.Text("job.why")+" · "+k.Job, "job-why-page", "job-answer", a))
}

// marks are the states whose marks answers have; others have none.
var marks = map[explain.Code]string{
	explain.Ran: "completed", explain.Failed: "faulted", explain.Running: "running",
	explain.Retrying: "retrying", explain.Waits: "retrying", explain.Overdue: "retrying",
	explain.Skipped: "skipped", explain.Unrecorded: "skipped", explain.Postponed: "postponed",
	explain.Paused: string(v1.Paused), explain.Planned: "waiting", explain.Damaged: "damaged",
	explain.NotDue: "idle", explain.Disabled: "disabled",
}
