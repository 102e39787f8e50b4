package natsapi

import (
	"context"
	"encoding/json"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/service"
	"github.com/carillon-sched/carillon/scheduler/trail"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// trailQuery selects a part of the audit log: the body of a request, and the nextLink of its answer.
type trailQuery struct {
	query

	Kind  string `json:"kind,omitempty"`
	Who   string `json:"who,omitempty"`
	Op    string `json:"op,omitempty"`
	Since string `json:"since,omitempty"`
	Until string `json:"until,omitempty"`
}

// audit answers with records of the audit log, newest first: of a job, of a collection and its jobs, or of all.
func audit(ctx context.Context, s *service.Service, r request) answer {
	var q trailQuery
	var asked service.TrailQuery
	err := readBody(ctx, r.body, func(o *document.Object) {
		q.Top, q.Skip = pageIn(o)
		q.After, _ = o.String("$skiptoken")
		asked = q.read(o, r.key())
		if asked.Until, _ = o.Time("until"); !asked.Until.IsZero() {
			q.Until = asked.Until.Format(time.RFC3339Nano)
		}
	})
	page := q.page()
	if err == nil {
		page.Before, err = view.ReadHistoryToken(q.After)
	}
	if err != nil {
		return answer{err: err}
	}
	entries, before, err := s.Trail(ctx, asked, page)
	if err != nil {
		return answer{err: err}
	}
	values := make([]json.RawMessage, len(entries))
	for i, e := range entries {
		values[i] = view.JSON(e)
	}
	return listing(values, before > 0, func(n int) string {
		if n < len(entries) { // the others did not fit
			before = entries[n-1].Sequence
		}
		q.Skip, q.After = 0, view.HistoryToken(before)
		return string(view.JSON(q))
	}, r.room)
}

// read parses the selection by object, caller and time.
func (q *trailQuery) read(o *document.Object, k scheduler.Key) (asked service.TrailQuery) {
	q.Kind, _ = o.String("kind")
	q.Who, _ = o.String("who")
	q.Op, _ = o.String("op")
	asked.Scope = trail.Scope{Kind: trail.Kind(q.Kind), Collection: k.Collection, Job: k.Job}
	asked.Who, asked.Op = q.Who, q.Op
	if asked.Since, _ = o.Time("since"); !asked.Since.IsZero() {
		q.Since = asked.Since.Format(time.RFC3339Nano)
	}
	return asked
}

// followTrail follows the audit log of a job, of a collection and its jobs, or of all.
func followTrail(ctx context.Context, _ time.Time, k scheduler.Key, body []byte) (following, error) {
	var asked service.TrailQuery
	var after *uint64
	err := readBody(ctx, body, func(o *document.Object) {
		after = readAfter(o)
		asked = new(trailQuery).read(o, k)
	})
	return func(ctx context.Context, s *service.Service, t *tail) error {
		ready := func(after uint64) { t.open(service.Beginning{After: after}) }
		return s.FollowTrail(ctx, asked, after, ready, func(e *trail.Entry) { t.send(e.Sequence, view.JSON(e)) })
	}, err
}
