package natsapi

import (
	"context"
	"encoding/json"

	"github.com/carillon-sched/carillon/scheduler/access"
	"github.com/carillon-sched/carillon/scheduler/service"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// list answers with jobs of a collection or, if the subject has none, of all collections.
func list(ctx context.Context, s *service.Service, r request) answer {
	q, err := readQuery(ctx, r.body, jobList)
	if err != nil {
		return answer{err: err}
	}
	query, err := q.Query(s.Now())
	if err != nil {
		return answer{err: err}
	}
	switch {
	case r.name != "":
		query.Collections = []string{r.name}
	case access.From(ctx) != nil:
		query.Sees = access.Sees(ctx)
	}
	views, following, err := s.Search(ctx, query, q.page())
	if err != nil {
		return answer{err: err}
	}
	q.JobSearch = q.Fixed(&query)
	values := make([]json.RawMessage, len(views))
	for i, v := range views {
		values[i] = view.JSON(v)
	}
	after := func(n int) string {
		if n < len(views) { // the others did not fit
			return q.after(service.After(&query, views[n-1].Job.Key), 0)
		}
		return q.after(following.After, following.Skip)
	}
	return listing(values, following != nil, after, r.room)
}

// few answers with a page of a short list.
func few(ctx context.Context, r request, all []any) answer {
	q, err := readQuery(ctx, r.body, shortList)
	if err != nil {
		return answer{err: err}
	}
	all = all[min(q.Skip, len(all)):]
	more := q.Top > 0 && len(all) > q.Top
	if more {
		all = all[:q.Top]
	}
	values := make([]json.RawMessage, len(all))
	for i, one := range all {
		values[i] = view.JSON(one)
	}
	return listing(values, more, q.behind, r.room)
}
