package rest

import (
	"net/http"

	"github.com/carillon-sched/carillon/scheduler/view"
)

func (a *api) listCollections(w http.ResponseWriter, r *http.Request) error {
	all, err := a.service.Collections(r.Context())
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, view.ListOf(all, view.Collection, ""))
}

func (a *api) putCollection(w http.ResponseWriter, r *http.Request) error {
	body, err := readBody(w, r)
	if err != nil {
		return err
	}
	c, created, err := a.service.PutCollection(lasting(r), r.PathValue("c"), body)
	if err != nil {
		return err
	}
	return answer(w, putStatus(created), view.Collection(c))
}

func putStatus(created bool) int {
	if created {
		return http.StatusCreated
	}
	return http.StatusOK
}

func (a *api) getCollection(w http.ResponseWriter, r *http.Request) error {
	c, err := a.service.Collection(r.Context(), r.PathValue("c"))
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, view.Collection(c))
}

func (a *api) deleteCollection(w http.ResponseWriter, r *http.Request) error {
	if err := a.service.DeleteCollection(lasting(r), r.PathValue("c")); err != nil {
		return err
	}
	w.WriteHeader(http.StatusOK)
	return nil
}
