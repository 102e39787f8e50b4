package rest

import (
	"net/http"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/service"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// key returns the job that the path names.
func key(r *http.Request) scheduler.Key {
	return scheduler.Key{Collection: r.PathValue("c"), Job: r.PathValue("j")}
}

// edit reads a request to put or patch a job: its body, and whether it is strict,
// or a dry run.
func edit(w http.ResponseWriter, r *http.Request) (service.Edit, error) {
	strict, err := flag(r, "strict")
	if err != nil {
		return service.Edit{}, err
	}
	dryRun, err := flag(r, "dryRun")
	if err != nil {
		return service.Edit{}, err
	}
	body, err := readBody(w, r)
	return service.Edit{Key: key(r), Body: body, Strict: strict, DryRun: dryRun}, err
}

func (a *api) putJob(w http.ResponseWriter, r *http.Request) error {
	e, err := edit(w, r)
	if err != nil {
		return err
	}
	v, created, err := a.service.Put(lasting(r), e)
	return answerJob(w, putStatus(created && !e.DryRun), v, err)
}

func (a *api) getJob(w http.ResponseWriter, r *http.Request) error {
	v, err := a.service.Get(r.Context(), key(r))
	return answerJob(w, http.StatusOK, v, err)
}

func (a *api) patchJob(w http.ResponseWriter, r *http.Request) error {
	e, err := edit(w, r)
	if err != nil {
		return err
	}
	v, err := a.service.Patch(lasting(r), e)
	return answerJob(w, http.StatusOK, v, err)
}

func (a *api) deleteJob(w http.ResponseWriter, r *http.Request) error {
	if err := a.service.Delete(lasting(r), key(r), 0); err != nil {
		return err
	}
	w.WriteHeader(http.StatusOK)
	return nil
}

func (a *api) runJob(w http.ResponseWriter, r *http.Request) error {
	id, err := a.service.Trigger(lasting(r), key(r))
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, document.ObjectValue(document.Member{Name: "occurrence", Value: document.StringValue(id)}))
}

func (a *api) resubmitJob(w http.ResponseWriter, r *http.Request) error {
	body, err := readBody(w, r)
	if err != nil {
		return err
	}
	v, err := a.service.Resubmit(lasting(r), key(r), body)
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, v)
}

func (a *api) enableJob(w http.ResponseWriter, r *http.Request) error {
	v, err := a.service.Enable(lasting(r), key(r))
	return answerJob(w, http.StatusOK, v, err)
}

func (a *api) disableJob(w http.ResponseWriter, r *http.Request) error {
	v, err := a.service.Disable(lasting(r), key(r))
	return answerJob(w, http.StatusOK, v, err)
}

func answerJob(w http.ResponseWriter, status int, v *view.Job, err error) error {
	if err != nil {
		return err
	}
	return answer(w, status, v)
}
