package natsapi

import (
	"context"
	"fmt"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/intake"
	"github.com/carillon-sched/carillon/scheduler/service"
	"github.com/carillon-sched/carillon/scheduler/view"
)

func putCollection(ctx context.Context, s *service.Service, r request) answer {
	dryRun, err := r.flag(dryRunHeader)
	if err != nil {
		return answer{err: err}
	}
	onlyNew := r.header.Get("If-None-Match") == "*" // RFC 9110, section 13.1.2
	if onlyNew && !dryRun {
		ans := collection(s.CreateCollection(ctx, r.name, r.body))
		ans.status = 201
		return ans
	}
	put := s.PutCollection
	if dryRun {
		put = s.ForeseeCollection
	}
	c, result, err := put(ctx, r.name, r.body)
	switch {
	case err != nil:
		return answer{err: err}
	case onlyNew && result != view.Created:
		return answer{err: fmt.Errorf("%w: collection %s exists already", scheduler.ErrConflict, c.Name)}
	}
	ans := answer{body: view.JSON(view.PutCollection(c, result))}
	if result == view.Created && !dryRun {
		ans.status = 201
	}
	return ans
}

func getCollection(ctx context.Context, s *service.Service, r request) answer {
	return collection(s.Collection(ctx, r.name))
}

func patchCollection(ctx context.Context, s *service.Service, r request) answer {
	return collection(s.PatchCollection(ctx, r.name, r.body))
}

// removeCollection deletes a collection with its jobs. The body is empty, or
// {"onlyEmpty": true}.
func removeCollection(ctx context.Context, s *service.Service, r request) answer {
	onlyEmpty, err := option(ctx, r.body, "onlyEmpty")
	if err != nil {
		return answer{err: err}
	}
	return answer{err: s.DeleteCollection(ctx, r.name, onlyEmpty)}
}

// turnCollection returns what enables or disables a collection.
func turnCollection(state scheduler.State) func(context.Context, *service.Service, request) answer {
	return func(ctx context.Context, s *service.Service, r request) answer {
		if err := intake.CheckNoDocument(ctx, r.body); err != nil {
			return answer{err: err}
		}
		return collection(s.TurnCollection(ctx, r.name, state))
	}
}

func listCollections(ctx context.Context, s *service.Service, r request) answer {
	all, err := s.Collections(ctx)
	if err != nil {
		return answer{err: err}
	}
	return few(ctx, r, all, func(c *scheduler.Collection) any { return view.Collection(c) })
}

// collection answers with a collection's document.
func collection(c *scheduler.Collection, err error) answer {
	if err != nil {
		return answer{err: err}
	}
	return answer{body: view.JSON(view.Collection(c))}
}
