package job

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/audit"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/records"
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
	Records  int
	Page     string // the URL of this page
	First    string // the URL of the first page; "": this page
	Older    string // the URL of the next page; "": none
	Operate  bool   // the user can resubmit runs
	Outcomes []scheduler.Outcome
	Key      scheduler.Key
	Path     string // of the job

	newest uint64 // sequence of the newest record of the first page
}

// historyOf returns the requested page of a history. base is its URL without a query. For an invalid filter, the page
// has a problem and no records.
func (r section) historyOf(ctx context.Context, c *frame.Request, k scheduler.Key, base string) (*history, error) {
	h := &history{
		Filter: records.Read(c.Request.URL.Query()), Outcomes: scheduler.Outcomes, Key: k, Path: frame.JobPath(k),
		Operate: c.May(auth.Operate, k.Collection),
	}
	h.Filter.Collection, h.Filter.Job = "", "" // the path has them
	link := func(before string) string { return h.Filter.Address(base, records.Before, before) }
	h.Page = link(c.Query(records.Before))
	query, err := h.Filter.Query(ctx, r.service.Now())
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
	found, next, err := r.service.History(ctx, query, v1.Page{Top: historySize, Before: before})
	if err != nil {
		return nil, err
	}
	found, next = whole(found, next)
	h.Runs, h.Records = runsOf(found, excerptLength), len(found)
	if err := r.askedBy(ctx, k, h.Runs); err != nil {
		return nil, err
	}
	if before != 0 {
		h.First = link("")
	} else if len(found) > 0 {
		h.newest = found[0].Sequence
	}
	if next != 0 {
		h.Older = link(v1.HistoryToken(next))
	}
	return h, nil
}

// askedBy adds the requests of attempts to runs. They are unknown for a deleted job.
func (r section) askedBy(ctx context.Context, k scheduler.Key, runs []*run) error {
	if len(runs) == 0 {
		return nil
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

// search returns the records of a query that are wanted, from a position on. together: it ends after a page without any that
// follows one with some.
func (r section) search(
	ctx context.Context, q control.HistoryQuery, before uint64, together bool, wanted func(*scheduler.Record) bool,
) (own []*scheduler.Record, err error) {
	for range occurrenceReach {
		records, next, err := r.service.History(ctx, q, v1.Page{Before: before})
		if err != nil {
			return nil, err
		}
		found := len(own)
		own = append(own, slices.DeleteFunc(records, func(rec *scheduler.Record) bool { return !wanted(rec) })...)
		if before = next; next == 0 || together && found > 0 && len(own) == found {
			break
		}
	}
	return own, nil
}

// repeatsOf returns the runs that repeated a run, newest first, and the sequence of the newest record of its job.
func (r section) repeatsOf(ctx context.Context, k scheduler.Key, of *run) ([]*run, uint64, error) {
	last, _, err := r.service.History(ctx, control.HistoryQuery{Key: k}, v1.Page{Top: 1})
	if err != nil || len(last) == 0 {
		return nil, 0, err
	}
	manual := true
	q := control.HistoryQuery{Key: k, RecordFilter: scheduler.RecordFilter{Since: of.Nominal, Manual: &manual}}
	own, err := r.search(ctx, q, 0, false, func(rec *scheduler.Record) bool { return rec.Form().Resubmits == of.Occurrence })
	if err != nil {
		return nil, 0, err
	}
	repeats := runsOf(own, excerptLength)
	return repeats, last[0].Sequence, r.askedBy(ctx, k, repeats)
}

// wholeLength limits a text on its own page, in bytes; records keep less.
const wholeLength = 64 << 10

// The numbers of shown audit records.
const (
	auditFew  = 5
	auditMany = 50
)

// auditOf returns the changes of a job, newest first; none if the audit log is disabled.
func (r section) auditOf(ctx context.Context, k scheduler.Key, n int, before uint64) ([]*audit.Entry, uint64, error) {
	q := control.TrailQuery{Scope: audit.Scope{Kind: audit.Job, Collection: k.Collection, Job: k.Job}}
	entries, next, err := r.service.Trail(ctx, q, v1.Page{Top: n, Before: before})
	if errors.Is(err, scheduler.ErrNotFound) {
		return nil, 0, nil
	}
	return entries, next, err
}

// showAudit answers with a page of the job's changes. The job may be deleted.
func (r section) showAudit(c *frame.Request) error {
	k := key(c)
	before, err := v1.ReadSequence(records.Before, c.Query(records.Before))
	if err != nil {
		return err
	}
	entries, next, err := r.auditOf(c.Context(), k, auditMany, before)
	if err != nil {
		return err
	}
	older := ""
	if next != 0 {
		older = frame.Address(frame.JobPath(k)+"/audit", nil, records.Before, strconv.FormatUint(next, 10))
	}
	return c.Show(shown(c.Text("common.audit")+" · "+k.Job, "job-audit-page", "", struct {
		name

		Audit []*audit.Entry
		Older string
	}{nameOf(c, k), entries, older}))
}

// asked is an explanation of a run, with its question.
type asked struct {
	name

	At     string
	Link   string // to this answer
	Answer *explain.Answer
	State  string // name of its mark
	zone   *time.Location
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
		a.zone = time.UTC
		if zone, err := time.LoadLocation(answer.TimeZone); err == nil && answer.TimeZone != "Local" {
			a.zone = zone
		}
		a.Answer, a.State, a.Run = answer, stateOf(answer.Code), instantOf(answer.Occurrence)
		if answer.Attempts == 0 {
			a.Run = ""
		}
	}
	return c.Show(shown(c.Text("job.why")+" · "+k.Job, "job-why-page", "job-answer", a))
}

// stateOf returns the mark of an answer.
func stateOf(code explain.Code) string {
	switch code {
	case explain.Ran:
		return "completed"
	case explain.Failed:
		return "faulted"
	case explain.Running:
		return "running"
	case explain.Retrying, explain.Waits, explain.Overdue:
		return "retrying"
	case explain.Skipped, explain.Unrecorded:
		return "skipped"
	case explain.Postponed:
		return "postponed"
	case explain.Paused:
		return string(v1.Paused)
	case explain.Planned:
		return "waiting"
	case explain.Damaged:
		return "damaged"
	case explain.NotDue:
		return "idle"
	case explain.Disabled:
		return "disabled"
	case explain.NotCreated, explain.Ended, explain.Edited, explain.Unknown, explain.Deleted, explain.NoJob:
	}
	return "none"
}

// Clock formats a time on the job's clock.
func (a *asked) Clock(t time.Time) string { return t.In(a.zone).Format(clockForm + " MST") }
