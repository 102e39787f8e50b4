package rest

import (
	"net/http"
	"slices"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/access"
	"github.com/carillon-sched/carillon/scheduler/service"
	"github.com/carillon-sched/carillon/scheduler/view"
)

func (a *server) listCollections(w http.ResponseWriter, r *http.Request) error {
	all, err := a.service.Collections(r.Context())
	if err != nil {
		return err
	}
	sees := access.Sees(r.Context())
	all = slices.DeleteFunc(all, func(c *scheduler.Collection) bool { return !sees(c.Name) })
	return answer(w, http.StatusOK, view.ListOf(all, view.Collection, ""))
}

func (a *server) putCollection(w http.ResponseWriter, r *http.Request) error {
	s, body, dryRun, err := a.editing(w, r)
	if err != nil {
		return err
	}
	if dryRun {
		f, err := s.ForeseeCollection(lasting(r), r.PathValue("c"), body)
		return shown(w, f, err)
	}
	c, result, err := s.PutCollection(lasting(r), r.PathValue("c"), body)
	if err != nil {
		return err
	}
	if _, err := tag(w, r, "", c.ETag()); err != nil {
		return err
	}
	return answer(w, putStatus(result == view.Created), view.PutCollection(c, result))
}

// editing reads what a put or a patch of a collection brings, and under which condition, and whether it is a rehearsal.
func (a *server) editing(w http.ResponseWriter, r *http.Request) (s *service.Service, body []byte, dryRun bool, err error) {
	if body, err = readBody(w, r); err == nil {
		dryRun, err = flag(r, "dryRun")
	}
	if err == nil {
		s, err = a.held(r)
	}
	return s, body, dryRun, err
}

func putStatus(created bool) int {
	if created {
		return http.StatusCreated
	}
	return http.StatusOK
}

func (a *server) getCollection(w http.ResponseWriter, r *http.Request) error {
	c, err := a.service.Collection(r.Context(), r.PathValue("c"))
	return answerCollection(w, r, c, err)
}

func (a *server) patchCollection(w http.ResponseWriter, r *http.Request) error {
	s, body, dryRun, err := a.editing(w, r)
	if err != nil {
		return err
	}
	if dryRun {
		f, err := s.ForeseeCollectionPatch(lasting(r), r.PathValue("c"), body)
		return shown(w, f, err)
	}
	c, err := s.PatchCollection(lasting(r), r.PathValue("c"), body)
	return answerCollection(w, r, c, err)
}

func (a *server) enableCollection(w http.ResponseWriter, r *http.Request) error {
	return a.turnCollection(w, r, scheduler.Enabled)
}

func (a *server) disableCollection(w http.ResponseWriter, r *http.Request) error {
	return a.turnCollection(w, r, scheduler.Disabled)
}

func (a *server) turnCollection(w http.ResponseWriter, r *http.Request, to scheduler.State) error {
	s, err := a.held(r)
	if err != nil {
		return err
	}
	c, err := s.TurnCollection(lasting(r), r.PathValue("c"), to)
	return answerCollection(w, r, c, err)
}

func (a *server) deleteCollection(w http.ResponseWriter, r *http.Request) error {
	onlyEmpty, err := flag(r, "onlyEmpty")
	if err != nil {
		return err
	}
	s, err := a.held(r)
	if err != nil {
		return err
	}
	if err := s.DeleteCollection(lasting(r), r.PathValue("c"), onlyEmpty); err != nil {
		return err
	}
	w.WriteHeader(http.StatusOK)
	return nil
}

func answerCollection(w http.ResponseWriter, r *http.Request, c *scheduler.Collection, err error) error {
	if err != nil {
		return err
	}
	if done, err := tag(w, r, "collection "+c.Name, c.ETag()); done || err != nil {
		return err
	}
	return answer(w, http.StatusOK, view.Collection(c))
}
