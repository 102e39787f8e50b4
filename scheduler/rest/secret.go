package rest

import (
	"net/http"

	"github.com/carillon-sched/carillon/scheduler/view"
)

// secrets are the operations on shared secrets. None answers with a value.
var secrets = []operation{
	{http.MethodGet, "/secrets", (*api).listSecrets},
	{http.MethodPut, secretPath, (*api).putSecret},
	{http.MethodDelete, secretPath, (*api).deleteSecret},
	{http.MethodPost, secretPath, (*api).rotateSecrets},
}

// secretPath is that of a shared secret; POST takes rotate alone there.
const secretPath = "/secrets/{name}"

func (a *api) listSecrets(w http.ResponseWriter, r *http.Request) error {
	all, err := a.service.Secrets(r.Context())
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, view.NewList(all, ""))
}

func (a *api) putSecret(w http.ResponseWriter, r *http.Request) error {
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

func (a *api) deleteSecret(w http.ResponseWriter, r *http.Request) error {
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
func (a *api) rotateSecrets(w http.ResponseWriter, r *http.Request) error {
	if r.PathValue("name") != "rotate" {
		return fault{http.StatusNotFound, "UnknownRoute", "there is nothing to POST at " + r.URL.Path}
	}
	if err := checkBare(w, r); err != nil {
		return err
	}
	rotation, err := a.service.RotateSecrets(lasting(r))
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, rotation)
}
