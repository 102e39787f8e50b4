package natsapi

import (
	"context"

	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/service"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// explain answers why a job ran at a time, or did not. The body is {"at": "…"}, or empty as
// [service.Reader.Why] without a time.
func explain(ctx context.Context, s *service.Service, r request) answer {
	at := ""
	err := readBody(ctx, r.body, func(o *document.Object) { at, _ = o.String("at") })
	if err != nil {
		return answer{err: err}
	}
	v, err := s.Why(ctx, r.key(), at)
	if err != nil {
		return answer{err: err}
	}
	return answer{body: view.JSON(v)}
}

// account lists all instants that were due in a period, with their records: {"from": "…", "to": "…"}.
func account(ctx context.Context, s *service.Service, r request) answer {
	var from, to string
	err := readBody(ctx, r.body, func(o *document.Object) {
		from, _ = o.String("from")
		to, _ = o.String("to")
	})
	if err != nil {
		return answer{err: err}
	}
	v, err := s.Account(ctx, r.key(), from, to)
	if err != nil {
		return answer{err: err}
	}
	return answer{body: view.JSON(v)}
}
