package rest

import (
	"net/http"

	"github.com/carillon-sched/carillon/scheduler/view"
)

func (a *server) listTokens(w http.ResponseWriter, r *http.Request) error {
	all, err := a.service.Tokens(r.Context())
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, view.NewList(all, ""))
}

func (a *server) createToken(w http.ResponseWriter, r *http.Request) error {
	body, err := readBody(w, r)
	if err != nil {
		return err
	}
	made, text, err := a.service.CreateToken(lasting(r), body)
	if err != nil {
		return err
	}
	return answer(w, http.StatusCreated, view.NewToken{Token: made, Text: text})
}

func (a *server) revokeToken(w http.ResponseWriter, r *http.Request) error {
	revoked, err := a.service.RevokeToken(lasting(r), r.PathValue("id"))
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, revoked)
}
