package rest

import (
	"errors"
	"net/http"
	"slices"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/access"
	"github.com/carillon-sched/carillon/scheduler/view"
)

func (a *api) listCollections(w http.ResponseWriter, r *http.Request) error {
	all, err := a.service.Collections(r.Context())
	if err != nil {
		return err
	}
	sees := access.Sees(r.Context())
	all = slices.DeleteFunc(all, func(c *scheduler.Collection) bool { return !sees(c.Name) })
	return answer(w, http.StatusOK, view.ListOf(all, view.Collection, ""))
}

func (a *api) putCollection(w http.ResponseWriter, r *http.Request) error {
	body, err := readBody(w, r)
	if err != nil {
		return err
	}
	dryRun, err := flag(r, "dryRun")
	if err != nil {
		return err
	}
	onlyNew := r.Header.Get("If-None-Match") == "*" // RFC 9110, section 13.1.2
	if onlyNew && !dryRun {
		c, err := a.service.CreateCollection(lasting(r), r.PathValue("c"), body)
		if errors.Is(err, scheduler.ErrConflict) {
			return existsAlready(err.Error())
		}
		return answerCollection(w, http.StatusCreated, c, err)
	}
	put := a.service.PutCollection
	if dryRun {
		put = a.service.ForeseeCollection
	}
	c, result, err := put(lasting(r), r.PathValue("c"), body)
	if err != nil {
		return err
	}
	if onlyNew && result != view.Created {
		return existsAlready("collection " + c.Name + " exists already")
	}
	return answer(w, putStatus(result == view.Created && !dryRun), view.PutCollection(c, result))
}

// existsAlready is the answer to a put that is only to create.
func existsAlready(message string) error {
	return fault{http.StatusPreconditionFailed, "PreconditionFailed", message}
}

func putStatus(created bool) int {
	if created {
		return http.StatusCreated
	}
	return http.StatusOK
}

func (a *api) getCollection(w http.ResponseWriter, r *http.Request) error {
	c, err := a.service.Collection(r.Context(), r.PathValue("c"))
	return answerCollection(w, http.StatusOK, c, err)
}

func (a *api) patchCollection(w http.ResponseWriter, r *http.Request) error {
	body, err := readBody(w, r)
	if err != nil {
		return err
	}
	c, err := a.service.PatchCollection(lasting(r), r.PathValue("c"), body)
	return answerCollection(w, http.StatusOK, c, err)
}

func (a *api) enableCollection(w http.ResponseWriter, r *http.Request) error {
	c, err := a.service.TurnCollection(lasting(r), r.PathValue("c"), scheduler.Enabled)
	return answerCollection(w, http.StatusOK, c, err)
}

func (a *api) disableCollection(w http.ResponseWriter, r *http.Request) error {
	c, err := a.service.TurnCollection(lasting(r), r.PathValue("c"), scheduler.Disabled)
	return answerCollection(w, http.StatusOK, c, err)
}

func (a *api) deleteCollection(w http.ResponseWriter, r *http.Request) error {
	onlyEmpty, err := flag(r, "onlyEmpty")
	if err != nil {
		return err
	}
	if err := a.service.DeleteCollection(lasting(r), r.PathValue("c"), onlyEmpty); err != nil {
		return err
	}
	w.WriteHeader(http.StatusOK)
	return nil
}

func answerCollection(w http.ResponseWriter, status int, c *scheduler.Collection, err error) error {
	if err != nil {
		return err
	}
	return answer(w, status, view.Collection(c))
}
