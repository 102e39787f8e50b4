package rest

import (
	"encoding/json"
	"net/http"

	"github.com/carillon-sched/carillon/scheduler/document"
)

func (a *api) health(w http.ResponseWriter, _ *http.Request) error {
	return answer(w, http.StatusOK, document.ObjectValue(
		document.Member{Name: "status", Value: document.StringValue("ok")},
		document.Member{Name: "version", Value: document.StringValue(a.version)},
	))
}

func (a *api) readiness(w http.ResponseWriter, r *http.Request) error {
	if err := a.ready(r.Context()); err != nil {
		return fault{http.StatusServiceUnavailable, "NotReady", err.Error()}
	}
	return answer(w, http.StatusOK, document.ObjectValue(document.Member{Name: "status", Value: document.StringValue("ready")}))
}

// doctor runs the audit.
func (a *api) doctor(w http.ResponseWriter, r *http.Request) error {
	fix, err := flag(r, "fix")
	if err != nil {
		return err
	}
	report, err := a.service.Audit(r.Context(), fix)
	if err != nil {
		return err
	}
	body, err := json.Marshal(report)
	if err != nil {
		return err
	}
	send(w, http.StatusOK, body)
	return nil
}
