package rest

import (
	"net/http"

	"github.com/carillon-sched/carillon/scheduler/view"
)

// jobHistory answers with a page of a job's records, or follows them. A filter by another state than the job's selects
// none.
func (a *server) jobHistory(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	filter, state, err := view.HistoryState(q.Get("$filter"))
	if err != nil {
		return err
	}
	if state == "" || q.Has("follow") {
		return a.history(w, r)
	}
	v, err := a.service.Get(r.Context(), key(r))
	if err != nil {
		return err
	}
	if v.Job.State != state {
		return answer(w, http.StatusOK, view.NewList[any](nil, ""))
	}
	asked := *r.URL
	q.Set("$filter", filter) // the next page has these records regardless of the job's state
	asked.RawQuery = q.Encode()
	rest := *r
	rest.URL = &asked
	return a.history(w, &rest)
}
