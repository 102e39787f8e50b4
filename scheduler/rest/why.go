package rest

import "net/http"

// why tells why a job ran at a time, or did not.
func (a *server) why(w http.ResponseWriter, r *http.Request) error {
	v, err := a.service.Why(r.Context(), key(r), r.URL.Query().Get("at"))
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, v)
}

// account lists all instants of a job that were due in a period, with their records.
func (a *server) account(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	v, err := a.service.Account(r.Context(), key(r), q.Get("from"), q.Get("to"))
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, v)
}
