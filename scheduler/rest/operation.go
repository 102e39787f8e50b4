package rest

import (
	"net/http"

	"github.com/carillon-sched/carillon/scheduler/access"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// within limits a request about operations to a collection, if it names one.
func within(r *http.Request) (scoped *http.Request, collection string) {
	collection = r.URL.Query().Get("collection")
	return r.WithContext(access.Within(r.Context(), collection)), collection
}

func (a *server) createOperation(w http.ResponseWriter, r *http.Request) error {
	body, err := readBody(w, r)
	if err != nil {
		return err
	}
	r, collection := within(r)
	op, err := a.service.CreateOperation(lasting(r), collection, body)
	switch {
	case err != nil:
		return err
	case op.ID == "": // a dry run
		return answer(w, http.StatusOK, op)
	}
	return answer(w, http.StatusCreated, op)
}

func (a *server) listOperations(w http.ResponseWriter, r *http.Request) error {
	r, _ = within(r)
	all, err := a.service.Operations(r.Context())
	return shown(w, view.NewList(all, ""), err)
}

func (a *server) getOperation(w http.ResponseWriter, r *http.Request) error {
	r, _ = within(r)
	op, err := a.service.Operation(r.Context(), r.PathValue("id"))
	return shown(w, op, err)
}

func (a *server) cancelOperation(w http.ResponseWriter, r *http.Request) error {
	r, _ = within(r)
	op, err := a.service.CancelOperation(lasting(r), r.PathValue("id"))
	return shown(w, op, err)
}
