package rest

import (
	"net/http"

	"github.com/carillon-sched/carillon/scheduler/view"
)

func (a *server) listSecrets(w http.ResponseWriter, r *http.Request) error {
	all, err := a.service.Secrets(r.Context())
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, view.NewList(all, ""))
}

func (a *server) putSecret(w http.ResponseWriter, r *http.Request) error {
	body, err := readBody(w, r)
	if err != nil {
		return err
	}
	s, created, err := a.service.PutSecret(lasting(r), r.PathValue("name"), body)
	if err != nil {
		return err
	}
	return answer(w, putStatus(created), s)
}

func (a *server) deleteSecret(w http.ResponseWriter, r *http.Request) error {
	force, err := flag(r, "force")
	if err != nil {
		return err
	}
	if err := a.service.DeleteSecret(lasting(r), r.PathValue("name"), force); err != nil {
		return err
	}
	w.WriteHeader(http.StatusOK)
	return nil
}

// rotateSecrets seals everything with the first key. It goes on when the client
// does not wait.
func (a *server) rotateSecrets(w http.ResponseWriter, r *http.Request) error {
	rotation, err := a.service.RotateSecrets(lasting(r))
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, rotation)
}
