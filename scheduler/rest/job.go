package rest

import (
	"context"
	"net/http"
	"time"

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

func (a *server) putJob(w http.ResponseWriter, r *http.Request) error {
	e, err := edit(w, r)
	if err != nil {
		return err
	}
	s, err := a.held(r)
	if err != nil {
		return err
	}
	v, created, err := s.Put(lasting(r), e)
	return answerJob(w, r, putStatus(created && !e.DryRun), v, err)
}

func (a *server) getJob(w http.ResponseWriter, r *http.Request) error {
	v, err := a.service.Get(r.Context(), key(r))
	return answerJob(w, r, http.StatusOK, v, err)
}

func (a *server) patchJob(w http.ResponseWriter, r *http.Request) error {
	e, err := edit(w, r)
	if err != nil {
		return err
	}
	s, err := a.held(r)
	if err != nil {
		return err
	}
	v, err := s.Patch(lasting(r), e)
	return answerJob(w, r, http.StatusOK, v, err)
}

func (a *server) deleteJob(w http.ResponseWriter, r *http.Request) error {
	s, err := a.held(r)
	if err != nil {
		return err
	}
	if err := s.Delete(lasting(r), key(r), 0); err != nil {
		return err
	}
	w.WriteHeader(http.StatusOK)
	return nil
}

func (a *server) runJob(w http.ResponseWriter, r *http.Request) error {
	s, err := a.held(r)
	if err != nil {
		return err
	}
	body, err := readBody(w, r)
	if err != nil {
		return err
	}
	id, err := s.RunBy(lasting(r), key(r), body, time.Time{})
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, document.ObjectValue(document.Member{Name: "occurrence", Value: document.StringValue(id)}))
}

func (a *server) enableJob(w http.ResponseWriter, r *http.Request) error {
	return a.turnJob(w, r, (*service.Service).Enable)
}

func (a *server) disableJob(w http.ResponseWriter, r *http.Request) error {
	return a.turnJob(w, r, (*service.Service).Disable)
}

func (a *server) turnJob(
	w http.ResponseWriter, r *http.Request, do func(*service.Service, context.Context, scheduler.Key) (*view.Job, error),
) error {
	s, err := a.held(r)
	if err != nil {
		return err
	}
	v, err := do(s, lasting(r), key(r))
	return answerJob(w, r, http.StatusOK, v, err)
}

// asked returns an action that passes the body of a request to do, and answers with the result.
func asked[T any](do func(s *service.Service, r *http.Request, body []byte) (T, error)) action {
	return func(a *server, w http.ResponseWriter, r *http.Request) error {
		s, err := a.held(r)
		if err != nil {
			return err
		}
		body, err := readBody(w, r)
		if err != nil {
			return err
		}
		v, err := do(s, r, body)
		if j, ok := any(v).(*view.Job); ok {
			return answerJob(w, r, http.StatusOK, j, err)
		}
		return shown(w, v, err)
	}
}

// The actions that a body describes.
var (
	pauseJob = asked(func(s *service.Service, r *http.Request, body []byte) (*view.Job, error) {
		return s.PauseBy(lasting(r), key(r), body, s.Now())
	})
	resubmitJob = asked(func(s *service.Service, r *http.Request, body []byte) (*view.Resubmitted, error) {
		return s.Resubmit(lasting(r), key(r), body)
	})
	cancelJob = asked(func(s *service.Service, r *http.Request, body []byte) (*view.Cancellation, error) {
		return s.Cancel(lasting(r), key(r), body)
	})
	cancelCollection = asked(func(s *service.Service, r *http.Request, body []byte) (*view.Cancellation, error) {
		return s.CancelCollection(lasting(r), r.PathValue("c"), body)
	})
	tryJob = asked(func(s *service.Service, r *http.Request, body []byte) (*view.Trial, error) {
		return s.Try(r.Context(), key(r), body)
	})
)

// shown answers with a document, or returns the error.
func shown[T any](w http.ResponseWriter, v T, err error) error {
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, v)
}

func answerJob(w http.ResponseWriter, r *http.Request, status int, v *view.Job, err error) error {
	if err != nil {
		return err
	}
	if done, err := tag(w, r, "job "+v.Job.Key.String(), v.ETag()); done || err != nil {
		return err
	}
	return answer(w, status, v)
}
