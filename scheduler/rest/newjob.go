package rest

import (
	"crypto/rand"
	"net/http"
	"strings"
)

// createJob makes a job of a document, under a name that nobody chose. Azure
// Scheduler's classic API ("Create Job") had it; its resource manager has not.
func (a *server) createJob(w http.ResponseWriter, r *http.Request) error {
	e, err := edit(w, r)
	if err != nil {
		return err
	}
	e.Key.Job = newName()
	v, _, err := a.service.Put(lasting(r), e)
	if err != nil {
		return err
	}
	if !e.DryRun {
		w.Header().Set("Location", r.URL.EscapedPath()+"/"+e.Key.Job)
	}
	return answerJob(w, r, putStatus(!e.DryRun), v, nil)
}

// newName is a name for a job, of 130 random bits.
func newName() string { return "job-" + strings.ToLower(rand.Text()) }
