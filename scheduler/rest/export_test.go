package rest

import (
	"net/http"
	"slices"

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
	for _, op := range slices.Concat(resources, secrets, accessTokens, process, awxTools, awxSchedules, manager) {
		all = append(all, routeOf(op, ""))
	}
	for _, op := range managed() {
		all = append(all, routeOf(op, armGroup+armProvider))
	}
	return all
}

func routeOf(op operation, prefix string) Route {
	return Route{op.method, prefix + op.path, rightOf(op), options[op.method+" "+op.path]}
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
