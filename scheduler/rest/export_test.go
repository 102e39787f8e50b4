package rest

import (
	"net/http"

	"github.com/carillon-sched/carillon/scheduler/access"
)

// Route is an operation of the API, for tests that look at all of them.
type Route struct {
	Method, Path string
	Right        access.Right
	Options      []string
}

// Routes returns all operations.
func Routes() []Route {
	var all []Route
	for _, r := range routes() {
		named := Route{Method: r.Method, Path: r.Path, Right: r.Right}
		for _, option := range r.Options {
			named.Options = append(named.Options, option.Name)
		}
		all = append(all, named)
	}
	return all
}

// ManagedPath begins the paths of the resource manager for collections.
const ManagedPath = armGroup + armProvider

// WithoutRight returns a handler of an operation that names no right.
func WithoutRight(identify func(*http.Request) (*access.Principal, error)) http.Handler {
	a := &api{identify: identify}
	do := func(_ *api, w http.ResponseWriter, _ *http.Request) error {
		w.WriteHeader(http.StatusOK)
		return nil
	}
	return a.handler(guarded(operation{http.MethodGet, "/of/nobody", do}), (*api).refuse)
}
