package rest

import (
	"net/http"

	"github.com/carillon-sched/carillon/scheduler/view"
)

// preview tells when a job would run.
func (a *server) preview(w http.ResponseWriter, r *http.Request) error {
	body, err := readBody(w, r)
	if err != nil {
		return err
	}
	p, err := a.service.Preview(r.Context(), body)
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, view.Preview(p))
}
