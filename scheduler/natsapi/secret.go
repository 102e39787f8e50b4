package natsapi

import (
	"context"
	"encoding/json"

	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/secrets"
	"github.com/carillon-sched/carillon/scheduler/service"
	"github.com/carillon-sched/carillon/scheduler/view"
)

func putSecret(ctx context.Context, s *service.Service, r request) answer {
	secret, created, err := s.PutSecret(ctx, r.name, r.body)
	if err != nil {
		return answer{err: err}
	}
	ans := answer{body: view.JSON(secret)}
	if created {
		ans.status = 201
	}
	return ans
}

// removeSecret deletes a shared secret. The body is empty, or {"force": true}.
func removeSecret(ctx context.Context, s *service.Service, r request) answer {
	force, err := option(ctx, r.body, "force")
	if err != nil {
		return answer{err: err}
	}
	return answer{err: s.DeleteSecret(ctx, r.name, force)}
}

func listSecrets(ctx context.Context, s *service.Service, r request) answer {
	all, err := s.Secrets(ctx)
	if err != nil {
		return answer{err: err}
	}
	return few(ctx, r, all, func(s *secrets.SharedSecret) any { return s })
}

// few answers with the page that a request asks for of things of which there
// are few.
func few[T any](ctx context.Context, r request, all []T, show func(T) any) answer {
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
		values[i] = view.JSON(show(one))
	}
	return listing(values, more, q.behind, r.room)
}

// option reads a body that is empty, or an object of one member that is true or
// false; false when it is absent.
func option(ctx context.Context, body []byte, name string) (on bool, err error) {
	err = readBody(ctx, body, func(o *document.Object) { on, _ = o.Bool(name) })
	return on, err
}

func rotateSecrets(ctx context.Context, s *service.Service, _ request) answer {
	rotation, err := s.RotateSecrets(ctx)
	if err != nil {
		return answer{err: err}
	}
	body, err := json.Marshal(rotation)
	return answer{body: body, err: err}
}
