package natsapi

import (
	"context"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/intake"
	"github.com/carillon-sched/carillon/scheduler/service"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// explain tells why a job ran at a time, or did not. The body is empty, which asks
// about now, or {"at": "…"}.
func explain(ctx context.Context, s *service.Service, r request) answer {
	at, err := askedTime(ctx, r.body)
	if err != nil {
		return answer{err: err}
	}
	v, err := s.Why(ctx, r.key(), at)
	if err != nil {
		return answer{err: err}
	}
	return answer{body: view.JSON(v)}
}

func askedTime(ctx context.Context, body []byte) (at string, err error) {
	if strings.TrimSpace(string(body)) == "" {
		return "", nil
	}
	v, err := intake.Parse(ctx, body)
	if err != nil {
		return "", err
	}
	reader := document.NewReader()
	o := reader.Object(v, "")
	at, _ = o.String("at")
	o.Done()
	return at, scheduler.AsInvalid(reader.Err())
}
