package job

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/access"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/service"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// historySize is how many records a page of the history has at most.
const historySize = 60

// filter is which records are looked for, as the fields of the form have it.
type filter struct {
	Outcome, Since, Until, Manual string
	Text                          string // a $filter of the APIs, besides
}

// The names of its fields in an address.
const (
	outcomeField = "outcome"
	sinceField   = "since"
	untilField   = "until"
	manualField  = "manual"
	textField    = "$filter"
	beforeField  = "before"
)

func filterOf(c *frame.Call) filter {
	return filter{
		Outcome: c.Query(outcomeField), Since: c.Query(sinceField), Until: c.Query(untilField), Manual: c.Query(manualField),
		Text: c.Query(textField),
	}
}

// String is the filter as the APIs take it. What is wrong with it they say.
func (f filter) String() string {
	var terms []string
	add := func(term, value string) {
		if value != "" {
			terms = append(terms, fmt.Sprintf(term, strings.Join(strings.Fields(value), "")))
		}
	}
	add("status eq %s", f.Outcome)
	add("startTime ge %s", f.Since)
	add("startTime le %s", f.Until)
	add("manual eq %s", f.Manual)
	switch {
	case f.Text == "":
	case len(terms) == 0:
		return f.Text
	default:
		terms = append(terms, f.Text)
	}
	return strings.Join(terms, " and ")
}

// query is the filter in an address.
func (f filter) query() url.Values {
	q := url.Values{}
	for name, value := range map[string]string{
		outcomeField: f.Outcome, sinceField: f.Since, untilField: f.Until, manualField: f.Manual, textField: f.Text,
	} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return q
}

// history is a page of a history.
type history struct {
	Filter   filter
	Asked    string // the filter as the APIs take it; "" for all
	Wrong    *frame.Problem
	Runs     []*run
	Records  int
	Page     string // the address of this page
	First    string // of the newest records; "" when these are they
	Older    string // of the next page; "" when there is none
	Operate  bool   // runs may be resubmitted
	Outcomes []scheduler.Outcome
	Key      scheduler.Key
	Path     string // of the job

	newest uint64 // sequence of the newest record of the first page
}

// historyOf returns the page of a history that a request asks for. base is its address without a query. A filter that is wrong
// is told, and shows nothing.
func (r room) historyOf(ctx context.Context, c *frame.Call, k scheduler.Key, base string) (*history, error) {
	h := &history{
		Filter: filterOf(c), Outcomes: scheduler.Outcomes, Key: k, Path: frame.JobPath(k), Operate: c.May(access.Operate, k.Collection),
	}
	h.Asked = h.Filter.String()
	link := func(before string) string {
		q := h.Filter.query()
		if before != "" {
			q.Set(beforeField, before)
		}
		if len(q) == 0 {
			return base
		}
		return base + "?" + q.Encode()
	}
	h.Page = link(c.Query(beforeField))
	f, err := view.HistoryFilter(h.Asked, r.service.Now())
	var before uint64
	if err == nil {
		before, err = view.ReadSequence(beforeField, c.Query(beforeField))
	}
	if err != nil {
		p := c.Describe(err) //nolint:contextcheck // it has the request's
		p.Hint = c.Say("job.history.wrong")
		h.Wrong = &p
		return h, nil
	}
	query := service.HistoryQuery{Key: k, RecordFilter: f, Sees: access.Sees(ctx)}
	records, next, err := r.service.History(ctx, query, view.Page{Top: historySize, Before: before})
	if err != nil {
		return nil, err
	}
	records, next = whole(records, next)
	h.Runs, h.Records = runsOf(records, excerptLength), len(records)
	if err := r.askedBy(ctx, k, h.Runs); err != nil {
		return nil, err
	}
	if before != 0 {
		h.First = link("")
	} else if len(records) > 0 {
		h.newest = records[0].Sequence
	}
	if next != 0 {
		h.Older = link(view.HistoryToken(next))
	}
	return h, nil
}

// askedBy notes what the attempts of runs asked for. The history of a job that was deleted has none of that.
func (r room) askedBy(ctx context.Context, k scheduler.Key, runs []*run) error {
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

// occurrenceReach is how many pages are looked at for the records of an occurrence.
const occurrenceReach = 10

// occurrenceOf returns a run with all that its history tells of it. before is a place after its last record, 0 when that is not
// known. [scheduler.ErrNotFound] when there is nothing.
func (r room) occurrenceOf(ctx context.Context, k scheduler.Key, text string, before uint64) (*run, error) {
	nominal, err := scheduler.ParseOccurrence(k, text)
	if err != nil {
		return nil, err
	}
	name := scheduler.OccurrenceID(k, nominal)
	q := service.HistoryQuery{Key: k, RecordFilter: scheduler.RecordFilter{Since: nominal.Add(-time.Minute)}}
	var own []*scheduler.Record
	known := before != 0
	for range occurrenceReach {
		records, next, err := r.service.History(ctx, q, view.Page{Before: before})
		if err != nil {
			return nil, err
		}
		found := len(own)
		own = append(own, slices.DeleteFunc(records, func(rec *scheduler.Record) bool { return rec.Occurrence != name })...)
		before = next
		if next == 0 || found > 0 && len(own) == found {
			break
		}
	}
	if len(own) == 0 && !known { // others that are kept came after it
		if own, err = r.service.Occurrence(ctx, k, nominal); err != nil {
			return nil, err
		}
	}
	if runs := runsOf(own, wholeLength); len(runs) > 0 {
		return runs[0], r.askedBy(ctx, k, runs)
	}
	return nil, fmt.Errorf("occurrence %s: %w", name, scheduler.ErrNotFound)
}

// repeatsOf returns the runs that repeated a run, newest first, and the sequence of the newest record of its job.
func (r room) repeatsOf(ctx context.Context, k scheduler.Key, of *run) ([]*run, uint64, error) {
	last, _, err := r.service.History(ctx, service.HistoryQuery{Key: k}, view.Page{Top: 1})
	if err != nil || len(last) == 0 {
		return nil, 0, err
	}
	manual := true
	q := service.HistoryQuery{Key: k, RecordFilter: scheduler.RecordFilter{Since: of.Nominal, Manual: &manual}}
	var own []*scheduler.Record
	var before uint64
	for range occurrenceReach {
		records, next, err := r.service.History(ctx, q, view.Page{Before: before})
		if err != nil {
			return nil, 0, err
		}
		own = append(own, slices.DeleteFunc(records, func(rec *scheduler.Record) bool {
			return rec.Form().Resubmits != of.Occurrence
		})...)
		if before = next; next == 0 {
			break
		}
	}
	repeats := runsOf(own, excerptLength)
	return repeats, last[0].Sequence, r.askedBy(ctx, k, repeats)
}

// wholeLength is how many bytes of a text are shown where there is nothing else: more than a record keeps.
const wholeLength = 64 << 10
