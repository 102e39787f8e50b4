package natsapi

import (
	"context"
	"strings"

	"github.com/carillon-sched/carillon/scheduler/access"
	"github.com/carillon-sched/carillon/scheduler/intake"
	"github.com/carillon-sched/carillon/scheduler/service"
	"github.com/carillon-sched/carillon/scheduler/view"
)

func createOperation(ctx context.Context, s *service.Service, r request) answer {
	op, err := s.CreateOperation(access.Within(ctx, r.name), r.name, r.body)
	ans := shown(op, err)
	if err == nil && op.ID != "" {
		ans.status = 201
	}
	return ans
}

func listOperations(ctx context.Context, s *service.Service, r request) answer {
	all, err := s.Operations(access.Within(ctx, r.name))
	if err != nil {
		return answer{err: err}
	}
	return few(ctx, r, all, func(op *view.Operation) any { return op })
}

// aboutOperation returns what asks something of one operation. A collection may follow its id in the subject, which limits
// the rights of the request.
func aboutOperation(
	do func(*service.Service, context.Context, string) (*view.Operation, error),
) func(context.Context, *service.Service, request) answer {
	return func(ctx context.Context, s *service.Service, r request) answer {
		if err := intake.CheckNoDocument(ctx, r.body); err != nil {
			return answer{err: err}
		}
		id, collection, _ := strings.Cut(r.name, ".")
		return shown(do(s, access.Within(ctx, collection), id))
	}
}

// The requests about one operation.
var (
	showOperation   = (*service.Service).Operation
	cancelOperation = (*service.Service).CancelOperation
)
