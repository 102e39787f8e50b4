package rest

import (
	"net/http"

	"github.com/carillon-sched/carillon/scheduler/api"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/awx"
)

// guarded wraps an operation's action: it authenticates and authorizes the caller and stores it in the context
// ([auth.From]).
func guarded(op *api.Operation, do action) action {
	right := op.Right
	return func(a *server, w http.ResponseWriter, r *http.Request) error {
		askingOf(r.Context()).operation = op
		collection := collectionIn(r) // before the action rewrites the path
		if right == auth.Open {
			return do(a, w, r)
		}
		who, err := a.guard.Identify(r)
		if err != nil {
			return err
		}
		in, leave, err := a.guard.Admit(r, who, right, collection)
		if err != nil {
			return err
		}
		defer leave()
		return do(a, w, in)
	}
}

// collectionIn returns the collection in a path, under its internal name for its subscription and resource group; "" if
// the path has none. A malformed template name yields collection "", so that only a caller with the right on all
// collections sees the error.
func collectionIn(r *http.Request) string {
	if template := r.PathValue("template"); template != "" {
		k, _ := awx.TemplateKey(template)
		return k.Collection
	}
	if name := r.PathValue("c"); name == "" || r.PathValue("s") == "" {
		return name
	}
	s, err := armScope(r)
	if err != nil {
		return ""
	}
	return s.Collection(r.PathValue("c"))
}
