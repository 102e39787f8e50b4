package dispatch

import (
	"context"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/audit"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/control"
)

// Next returns the changes of a request's parameters that request the page after the first n items of its [Answer]. A
// nil value removes a parameter; nil changes: no page follows.
type Next func(n int) map[string]any

// The parameters that place a page.
const (
	skip  = "$skip"
	token = "$skiptoken"
)

// paged answers a page of a list.
func paged[T any](all []T, show func(T) any, next Next) (Answer, error) {
	a, err := listed(all, nil, show)
	a.Next = next
	return a, err
}

// page returns the bounds of the requested page of a list of jobs.
func (r *Request) page() v1.Page {
	return v1.Page{Top: r.Number("$top"), Skip: r.Number(skip), After: r.Text(token)}
}

// recordsPage returns the bounds of the requested page of a history.
func (r *Request) recordsPage() (p v1.Page, err error) {
	p = r.page()
	p.Before, err = v1.ReadHistoryToken(p.After)
	return p, err
}

// before returns the parameters of the page of a history after n of its records. following is the sequence before
// which the page after all of them begins; 0: none.
func before[T any](records []T, following uint64, sequence func(T) uint64, filter string) Next {
	return func(n int) map[string]any {
		place := following
		if n < len(records) {
			place = sequence(records[n-1])
		}
		if place == 0 {
			return nil
		}
		next := map[string]any{skip: nil, token: v1.HistoryToken(place), "$filter": nil}
		if filter != "" {
			next["$filter"] = filter
		}
		return next
	}
}

// listJobs lists the jobs of a collection, or of all collections that the caller may see.
func listJobs(ctx context.Context, s *control.Service, r *Request) (Answer, error) {
	search := v1.JobSearch{
		Filter: r.Text("$filter"), Labels: r.Text("labelSelector"), Prefix: r.Text("prefix"), Action: r.Text("actionType"),
		Target: r.Text("target"), NextAfter: r.Text("nextAfter"), NextBefore: r.Text("nextBefore"), Text: r.Text("text"),
		Outcome: r.Text("lastOutcome"),
	}
	query, err := search.Query(s.Now())
	if err != nil {
		return Answer{}, err
	}
	if r.Key.Collection != "" {
		query.Collections = []string{r.Key.Collection}
	} else {
		query.Sees = auth.Sees(ctx)
	}
	views, following, err := s.Search(ctx, query, r.page())
	if err != nil {
		return Answer{}, err
	}
	return paged(views, same, func(n int) map[string]any {
		next := map[string]any{skip: nil}
		fixed := search.Fixed(&query) // all pages use the same times
		for name, at := range map[string]string{"nextAfter": fixed.NextAfter, "nextBefore": fixed.NextBefore} {
			if at != "" {
				next[name] = at
			}
		}
		switch {
		case n < len(views):
			next[token] = control.After(&query, views[n-1].Job.Key)
		case following == nil:
			return nil
		default:
			next[token] = following.After
			if following.Skip > 0 {
				next[skip] = following.Skip
			}
		}
		return next
	})
}

// jobHistory lists the records of a job. A filter by another state than the job's selects none.
func jobHistory(ctx context.Context, s *control.Service, r *Request) (Answer, error) {
	filter, state, err := v1.HistoryState(r.Text("$filter"))
	if err != nil {
		return Answer{}, err
	}
	if state != "" {
		v, err := s.Get(ctx, r.Key)
		if err != nil || v.Job.State != state {
			return listed[any](nil, err, same)
		}
		r.Params["$filter"] = filter // the next page has these records regardless of the job's state
	}
	return history(ctx, s, r)
}

// history lists the records of a job, of a collection or of all jobs.
func history(ctx context.Context, s *control.Service, r *Request) (Answer, error) {
	q, err := historyQuery(ctx, s, r)
	if err != nil {
		return Answer{}, err
	}
	page, err := r.recordsPage()
	if err != nil {
		return Answer{}, err
	}
	records, following, err := s.History(ctx, q, page)
	if err != nil {
		return Answer{}, err
	}
	sequence := func(rec *scheduler.Record) uint64 { return rec.Sequence }
	return paged(records, v1.Record, before(records, following, sequence, r.Text("$filter")))
}

// historyQuery parses the selection of records.
func historyQuery(ctx context.Context, s *control.Service, r *Request) (q control.HistoryQuery, err error) {
	q.RecordFilter, err = v1.HistoryFilter(r.Text("$filter"), s.Now())
	q.Key, q.UID, q.Earlier, q.Sees = r.Key, r.Text("uid"), r.Flag("earlier"), auth.Sees(ctx)
	return q, err
}

// events lists the events of a collection, or of all collections that the caller may see.
func events(ctx context.Context, s *control.Service, r *Request) (Answer, error) {
	page, err := r.recordsPage()
	if err != nil {
		return Answer{}, err
	}
	q := control.EventQuery{
		Topic: scheduler.Topic{Collection: r.Key.Collection, Name: r.Text("name")}, Since: r.Time("since"), Sees: auth.Sees(ctx),
	}
	all, following, err := s.Events(ctx, q, page)
	if err != nil {
		return Answer{}, err
	}
	show := func(e *scheduler.Event) any { return v1.PublicEvent(e) }
	return paged(all, show, before(all, following, func(e *scheduler.Event) uint64 { return e.Sequence }, ""))
}

// changes lists the records of the audit log: of a job, of a collection and its jobs, or of all.
func changes(ctx context.Context, s *control.Service, r *Request) (Answer, error) {
	page, err := r.recordsPage()
	if err != nil {
		return Answer{}, err
	}
	entries, following, err := s.Trail(ctx, trailQuery(r), page)
	if err != nil {
		return Answer{}, err
	}
	return paged(entries, same, before(entries, following, func(e *audit.Entry) uint64 { return e.Sequence }, ""))
}

// trailQuery returns the selection of audit records.
func trailQuery(r *Request) control.TrailQuery {
	return control.TrailQuery{
		Scope: audit.Scope{Kind: audit.Kind(r.Text("kind")), Collection: r.Key.Collection, Job: r.Key.Job},
		Who:   r.Text("who"), Op: r.Text("op"), Since: r.Time("since"), Until: r.Time("until"),
	}
}
