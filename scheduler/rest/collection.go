package rest

import (
	"net/http"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

func (a *api) listCollections(w http.ResponseWriter, r *http.Request) error {
	all, err := a.service.Collections(r.Context())
	if err != nil {
		return err
	}
	values := make([]document.Value, len(all))
	for i, c := range all {
		values[i] = c.Document()
	}
	return answer(w, http.StatusOK, scheduler.Listing(values, ""))
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
	return answer(w, putStatus(created), c.Document())
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
	return answer(w, http.StatusOK, c.Document())
}

func (a *api) deleteCollection(w http.ResponseWriter, r *http.Request) error {
	if err := a.service.DeleteCollection(lasting(r), r.PathValue("c")); err != nil {
		return err
	}
	w.WriteHeader(http.StatusOK)
	return nil
}
