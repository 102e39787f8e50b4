package rest

import (
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/awx"
)

// downright refuses dry runs and conditions of a change: AWX has neither, and a client would assume that an ignored one
// had an effect.
func downright(do action) action {
	return func(a *server, w http.ResponseWriter, r *http.Request) error {
		if r.URL.Query().Has("dryRun") {
			return awxFault("dryRun: there are no dry runs of schedules; POST /api/v2/schedules/preview/ tells when one would run")
		}
		if err := unconditional(askingOf(r.Context()).operation, r); err != nil {
			return err
		}
		return do(a, w, r)
	}
}

// errNoSchedule is AWX's message for a missing object.
var errNoSchedule = fault{http.StatusNotFound, "ResourceNotFound", "Not found."}

func (a *server) listSchedules(w http.ResponseWriter, r *http.Request) error {
	jobs, err := a.Service.Schedules(r.Context())
	if err != nil {
		return err
	}
	sees := auth.Sees(r.Context())
	jobs = slices.DeleteFunc(jobs, func(j *scheduler.Job) bool { return !sees(j.Key.Collection) })
	return answerSchedules(w, r, jobs, a.Service.Now())
}

// listTemplateSchedules lists the schedules of a template, including a deleted one that still has some.
func (a *server) listTemplateSchedules(w http.ResponseWriter, r *http.Request) error {
	template, err := templateIn(r)
	if err != nil {
		return err
	}
	jobs, err := a.Service.SchedulesOf(r.Context(), template)
	if err != nil {
		return err
	}
	if len(jobs) == 0 {
		if _, err := a.Service.Template(r.Context(), template); err != nil {
			return awxMissing(err)
		}
	}
	return answerSchedules(w, r, jobs, a.Service.Now())
}

// answerSchedules answers with the requested page of schedules.
func answerSchedules(w http.ResponseWriter, r *http.Request, jobs []*scheduler.Job, now time.Time) error {
	query, err := awx.ReadQuery(r.URL.Query())
	if err != nil {
		return awxFault(err.Error())
	}
	page, ok, err := query.Page(r.Context(), jobs, now, r.URL)
	if err != nil {
		return err
	}
	if !ok {
		return fault{http.StatusNotFound, "ResourceNotFound", "Invalid page."}
	}
	return answer(w, http.StatusOK, page)
}

// templateIn returns the template in the path.
func templateIn(r *http.Request) (scheduler.Key, error) {
	template, err := awx.TemplateKey(r.PathValue("template"))
	if err != nil || !slices.Contains(awx.TemplateKinds, r.PathValue("kind")) {
		return template, errNoSchedule
	}
	return template, nil
}

// noAWX refuses a path of AWX that has no operation.
func noAWX(*server, http.ResponseWriter, *http.Request) error { return errNoSchedule }

// scheduleID returns the id in the path.
func scheduleID(r *http.Request) (int, error) {
	id, ok := awx.ParseID(r.PathValue("id"))
	if !ok {
		return 0, errNoSchedule
	}
	return id, nil
}

func (a *server) getSchedule(w http.ResponseWriter, r *http.Request) error {
	id, err := scheduleID(r)
	if err != nil {
		return err
	}
	j, err := a.Service.Schedule(r.Context(), id)
	if err == nil && !auth.Sees(r.Context())(j.Key.Collection) {
		return errNoSchedule
	}
	return a.answerSchedule(w, http.StatusOK, j, err)
}

// mayChange returns an error unless the caller may change a schedule. A caller who may not see it gets "not found".
func (a *server) mayChange(r *http.Request, id int) error {
	j, err := a.Service.Schedule(r.Context(), id)
	if err != nil {
		return awxMissing(err)
	}
	if !auth.Sees(r.Context())(j.Key.Collection) {
		return errNoSchedule
	}
	return auth.Check(r.Context(), auth.Operate, j.Key.Collection)
}

// createTemplateSchedule creates a schedule of the template in the path.
func (a *server) createTemplateSchedule(w http.ResponseWriter, r *http.Request) error {
	template, err := templateIn(r)
	if err != nil {
		return err
	}
	q, err := readSchedule(w, r, "name", "rrule")
	if err != nil {
		return err
	}
	j, err := a.Service.CreateSchedule(lasting(r), template, q)
	return a.answerSchedule(w, http.StatusCreated, j, err)
}

// createSchedule creates a schedule of the template in the body.
func (a *server) createSchedule(w http.ResponseWriter, r *http.Request) error {
	q, err := readSchedule(w, r, "name", "rrule", "unified_job_template")
	if err != nil {
		return err
	}
	template, err := awx.TemplateKey(*q.Template)
	if err != nil {
		return awx.NoTemplate(*q.Template)
	}
	ctx := lasting(r)
	if err := auth.Check(ctx, auth.Operate, template.Collection); err != nil {
		return err
	}
	j, err := a.Service.CreateSchedule(ctx, template, q)
	if errors.Is(err, scheduler.ErrNotFound) {
		err = awx.NoTemplate(*q.Template)
	}
	return a.answerSchedule(w, http.StatusCreated, j, err)
}

func (a *server) putSchedule(w http.ResponseWriter, r *http.Request) error {
	return a.changeSchedule(w, r, true, "name", "rrule")
}

func (a *server) patchSchedule(w http.ResponseWriter, r *http.Request) error {
	return a.changeSchedule(w, r, false)
}

func (a *server) changeSchedule(w http.ResponseWriter, r *http.Request, renew bool, needed ...string) error {
	id, err := scheduleID(r)
	if err != nil {
		return err
	}
	if err := a.mayChange(r, id); err != nil {
		return err
	}
	q, err := readSchedule(w, r, needed...)
	if err != nil {
		return err
	}
	j, err := a.Service.ChangeSchedule(lasting(r), id, q, renew)
	return a.answerSchedule(w, http.StatusOK, j, err)
}

func (a *server) deleteSchedule(w http.ResponseWriter, r *http.Request) error {
	id, err := scheduleID(r)
	if err != nil {
		return err
	}
	if err := a.mayChange(r, id); err != nil {
		return err
	}
	if err := a.Service.DeleteSchedule(lasting(r), id); err != nil {
		return awxMissing(err)
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// readSchedule parses the schedule of a request.
func readSchedule(w http.ResponseWriter, r *http.Request, needed ...string) (awx.Request, error) {
	body, err := readBody(w, r)
	if err != nil {
		return awx.Request{}, err
	}
	v, err := readAWX(body)
	if err != nil {
		return awx.Request{}, err
	}
	return awx.Read(v, needed...)
}

func (a *server) answerSchedule(w http.ResponseWriter, status int, j *scheduler.Job, err error) error {
	if err != nil {
		return awxMissing(err)
	}
	return answer(w, status, awx.View(j, a.Service.Now()))
}

// awxMissing converts a "not found" error to AWX's.
func awxMissing(err error) error {
	if errors.Is(err, scheduler.ErrNotFound) {
		return errNoSchedule
	}
	return err
}
