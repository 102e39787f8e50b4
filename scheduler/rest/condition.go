package rest

import (
	"net/http"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/dispatch"
	"github.com/carillon-sched/carillon/scheduler/control"
)

// condition parses the condition of a request.
func condition(r *http.Request) (scheduler.Condition, error) {
	return scheduler.ReadCondition(r.Header.Values(scheduler.IfMatch), r.Header.Values(scheduler.IfNoneMatch))
}

// held returns the service with the condition of the request.
func (a *server) held(r *http.Request) (*control.Service, error) {
	when, err := condition(r)
	return a.Service.If(when), err
}

// tag sets the ETag of the answer, if etag is not "". For a GET it checks the condition: done means that the client has
// the current version and the answer is complete.
func tag(w http.ResponseWriter, r *http.Request, what, etag string) (done bool, err error) {
	if etag == "" {
		return false, nil
	}
	w.Header().Set("ETag", etag)
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false, nil
	}
	when, err := condition(r)
	if err != nil {
		return false, err
	}
	if done, err = dispatch.Known(when, what, etag); done {
		w.WriteHeader(http.StatusNotModified)
	}
	return done, err
}
