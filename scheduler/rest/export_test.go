package rest

import (
	"net/http"

	"github.com/carillon-sched/carillon/scheduler/api"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/guard"
)

// Route is an operation of the API, for tests that look at all of them.
type Route struct {
	Method, Path string
	Right        auth.Right
	Options      []string
}

// Routes returns all operations.
func Routes() []Route {
	var all []Route
	for _, r := range routes() {
		for _, path := range r.patterns() {
			all = append(all, Route{Method: r.Method, Path: path, Right: r.Right, Options: names(r.Query)})
		}
	}
	return all
}

// ManagedPath begins the paths of the resource manager for collections.
const ManagedPath = managedPath

// WithoutRight returns a handler of an operation that names no right.
func WithoutRight(identify func(*http.Request) (*auth.Principal, error)) http.Handler {
	a := &server{guard: guard.Guard{Identify: identify}}
	do := func(_ *server, w http.ResponseWriter, _ *http.Request) error {
		w.WriteHeader(http.StatusOK)
		return nil
	}
	return a.handler(guarded(&api.Operation{Method: http.MethodGet, Path: "/of/nobody"}, do), (*server).refuse)
}
