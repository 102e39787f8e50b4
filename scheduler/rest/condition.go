package rest

import (
	"net/http"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/service"
)

// condition reads the condition of a request.
func condition(r *http.Request) (scheduler.Condition, error) {
	return scheduler.ReadCondition(r.Header.Values(scheduler.IfMatch), r.Header.Values(scheduler.IfNoneMatch))
}

// held returns the service for a request that is carried out only while its condition holds.
func (a *server) held(r *http.Request) (*service.Service, error) {
	when, err := condition(r)
	return a.service.If(when), err
}

// tag names what the answer shows, "" for nothing that is there. For GET it says whether the client has that already; then
// the answer is complete.
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
	switch when.Judge(etag, true) {
	case scheduler.Unmodified:
		w.WriteHeader(http.StatusNotModified)
		return true, nil
	case scheduler.Differs:
		return false, when.Check(what, etag)
	case scheduler.Holds:
	}
	return false, nil
}
