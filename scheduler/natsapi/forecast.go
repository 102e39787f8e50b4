package natsapi

import (
	"context"
	"fmt"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/access"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/forecast"
	"github.com/carillon-sched/carillon/scheduler/service"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// foresee tells what is planned, minute by minute, of a collection or, when the subject names none, of all. The body is
// empty, or has hours, from and proposals.
func foresee(ctx context.Context, s *service.Service, r request) answer {
	q := service.ForecastQuery{Collection: r.name, Sees: access.Sees(ctx), Proposals: forecast.DefaultProposals}
	err := readBody(ctx, r.body, func(o *document.Object) {
		if n, ok := o.Int("hours", 1, forecast.MaxHours); ok {
			q.Hours = int(n)
		}
		if n, ok := o.Int("proposals", 0, forecast.MaxProposals); ok {
			q.Proposals = int(n)
		}
		q.From, _ = o.Time("from")
	})
	if err != nil {
		return answer{err: err}
	}
	report, err := s.Forecast(ctx, q)
	if err != nil {
		return answer{err: err}
	}
	body := view.JSON(report)
	if len(body) > r.room {
		return answer{err: scheduler.Invalid("proposals", fmt.Sprintf(
			"the answer would have %d bytes, and a message holds %d: ask for fewer proposals, or fewer hours", len(body), r.room,
		))}
	}
	return answer{body: body}
}
