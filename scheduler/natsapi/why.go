package natsapi

import (
	"context"

	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/service"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// explain tells why a job ran at a time, or did not. The body is empty, which asks
// about now, or {"at": "…"}.
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
