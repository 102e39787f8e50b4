package natsapi

import (
	"context"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/intake"
	"github.com/carillon-sched/carillon/scheduler/service"
	"github.com/carillon-sched/carillon/scheduler/view"
)

func putCollection(ctx context.Context, s *service.Service, r request) answer {
	if r.how.dryRun {
		return foreseen(s.ForeseeCollection(ctx, r.name, r.body))
	}
	c, result, err := s.PutCollection(ctx, r.name, r.body)
	if err != nil {
		return answer{err: err}
	}
	ans := answer{body: view.JSON(view.PutCollection(c, result)), etag: c.ETag()}
	if result == view.Created {
		ans.status = 201
	}
	return ans
}

func getCollection(ctx context.Context, s *service.Service, r request) answer {
	c, err := s.Collection(ctx, r.name)
	if err != nil {
		return answer{err: err}
	}
	return r.unlessKnown("collection "+c.Name, collection(c, nil))
}

func patchCollection(ctx context.Context, s *service.Service, r request) answer {
	if r.how.dryRun {
		return foreseen(s.ForeseeCollectionPatch(ctx, r.name, r.body))
	}
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
	return answer{body: view.JSON(view.Collection(c)), etag: c.ETag()}
}

// foreseen answers with what would become of a collection.
func foreseen(f *view.ForeseenCollection, err error) answer {
	if err != nil {
		return answer{err: err}
	}
	return answer{body: view.JSON(f)}
}
