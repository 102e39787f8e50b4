package rest

import (
	"net/http"
	"slices"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/service"
)

// conditional are the operations, by method and path, that are about one thing which has an ETag. Others refuse a
// condition, where they change something: one that is left out would pass for one that held.
var conditional = map[string]bool{
	"PUT /jobCollections/{c}": true, "PATCH /jobCollections/{c}": true, "DELETE /jobCollections/{c}": true,
	"POST /jobCollections/{c}/enable": true, "POST /jobCollections/{c}/disable": true,
	"PUT /jobCollections/{c}/jobs/{j}": true, "PATCH /jobCollections/{c}/jobs/{j}": true, "DELETE /jobCollections/{c}/jobs/{j}": true,
	"POST /jobCollections/{c}/jobs/{j}/enable": true, "POST /jobCollections/{c}/jobs/{j}/disable": true,
	"POST /jobCollections/{c}/jobs/{j}/run": true, "POST /jobCollections/{c}/jobs/{j}/pause": true,
}

// unconditional refuses the conditions of a change that takes none.
func unconditional(r *http.Request, operation string) error {
	if r.Method == http.MethodGet || r.Method == http.MethodHead || conditional[operation] {
		return nil
	}
	for _, header := range []string{scheduler.IfMatch, scheduler.IfNoneMatch} {
		if len(r.Header.Values(header)) > 0 {
			return scheduler.Invalid(header, "there is no ETag here that a condition could ask for")
		}
	}
	return nil
}

// withoutConditions has operations refuse the conditions that they do not take.
func withoutConditions(operations []operation) []operation {
	checked := slices.Clone(operations)
	for i, op := range checked {
		checked[i].do = func(a *api, w http.ResponseWriter, r *http.Request) error {
			if err := unconditional(r, op.method+" "+op.path); err != nil {
				return err
			}
			return op.do(a, w, r)
		}
	}
	return checked
}

// condition reads the condition of a request.
func condition(r *http.Request) (scheduler.Condition, error) {
	return scheduler.ReadCondition(r.Header.Values(scheduler.IfMatch), r.Header.Values(scheduler.IfNoneMatch))
}

// held returns the service for a request that is carried out only while its condition holds.
func (a *api) held(r *http.Request) (*service.Service, error) {
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
