package natsapi

import (
	"context"
	"encoding/json"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
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
	force := false
	if len(r.body) > 0 {
		v, err := scheduler.ParseDocument(r.body)
		if err != nil {
			return answer{err: err}
		}
		reader := document.NewReader()
		o := reader.Object(v, "")
		force, _ = o.Bool("force")
		o.Done()
		if err := reader.Err(); err != nil {
			return answer{err: scheduler.AsInvalid(err)}
		}
	}
	return answer{err: s.DeleteSecret(ctx, r.name, force)}
}

func listSecrets(ctx context.Context, s *service.Service, r request) answer {
	all, err := s.Secrets(ctx)
	if err != nil {
		return answer{err: err}
	}
	q, err := readQuery(r.body, secretList)
	if err != nil {
		return answer{err: err}
	}
	all = all[min(q.Skip, len(all)):]
	more := q.Top > 0 && len(all) > q.Top
	if more {
		all = all[:q.Top]
	}
	values := make([]json.RawMessage, len(all))
	for i, secret := range all {
		values[i] = view.JSON(secret)
	}
	return listing(values, more, q.behind, r.room)
}

func rotateSecrets(ctx context.Context, s *service.Service, _ request) answer {
	rotation, err := s.RotateSecrets(ctx)
	if err != nil {
		return answer{err: err}
	}
	body, err := json.Marshal(rotation)
	return answer{body: body, err: err}
}
