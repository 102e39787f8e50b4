package rest

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/flow"
)

// enter wraps an operation of the short paths for requests of the resource manager. It derives the collection from the
// scope of the path, and converts the answer to the form of the resource manager.
func enter(op *api.Operation, do action) action {
	return func(a *server, w http.ResponseWriter, r *http.Request) error {
		s, err := scoped(w, r, op)
		if err != nil {
			return err
		}
		return a.dressed(w, r, s, op, do)
	}
}

// scoped converts a request of the resource manager to one for the short paths, and returns its scope.
func scoped(w http.ResponseWriter, r *http.Request, op *api.Operation) (s scheduler.Scope, err error) {
	if err = checkVersion(r); err != nil {
		return s, err
	}
	if s, err = armScope(r); err != nil {
		return s, err
	}
	name := r.PathValue("c")
	if err = scheduler.ValidateName("collection", name); err != nil {
		return s, err
	}
	if r.URL.Query().Has("follow") || r.URL.Query().Has("after") {
		return s, scheduler.Invalid("follow", "live tails exist only at short paths, such as /jobCollections/default/history")
	}
	r.Header.Del("Accept") // all answers have one form
	r.SetPathValue("c", s.Collection(name))
	if op.ID == "putCollection" {
		return s, identify(w, r, s.Provider()+"/jobCollections/"+name)
	}
	return s, nil
}

// identify sets the id of the document in a request to that of its path. Other read-only fields about its location have
// no effect on a PUT.
func identify(w http.ResponseWriter, r *http.Request, id string) error {
	body, err := readBody(w, r)
	if err != nil {
		return err
	}
	v := document.ObjectValue()
	if len(bytes.TrimSpace(body)) > 0 {
		if v, err = flow.Parse(r.Context(), body); err != nil {
			return err
		}
	}
	if v.Kind() == document.KindObject {
		members := []document.Member{{Name: "id", Value: document.StringValue(id)}}
		for _, m := range v.Members() {
			if !strings.EqualFold(m.Name, "id") {
				members = append(members, m)
			}
		}
		body = document.ObjectValue(members...).JSON()
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return nil
}

// dressed sends an answer in the form of the resource manager.
func (a *server) dressed(w http.ResponseWriter, r *http.Request, s scheduler.Scope, op *api.Operation, do action) error {
	kept := &keptAnswer{ResponseWriter: w, status: http.StatusOK}
	if err := do(a, kept, r); err != nil {
		return err
	}
	body := kept.body.Bytes()
	switch {
	case op.Silent:
		body = nil
		w.Header().Del("Content-Type")
	case len(body) > 0 && strings.HasPrefix(w.Header().Get("Content-Type"), "application/json"):
		if known, err := a.Service.ScopeOf(r.Context(), r.PathValue("c")); err == nil {
			s = known // in the spelling of the collection's creation
		}
		v, err := document.Parse(body)
		if err != nil {
			return err
		}
		body = v1.JSON(v1.Managed(v, s))
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(kept.status)
	_, _ = w.Write(body) //nolint:gosec // JSON, and it says so
	return nil
}

// keptAnswer buffers an answer.
type keptAnswer struct {
	http.ResponseWriter

	status int
	body   bytes.Buffer
}

// WriteHeader stores the status.
func (k *keptAnswer) WriteHeader(status int) { k.status = status }

// Write buffers a part of the body.
func (k *keptAnswer) Write(p []byte) (int, error) { return k.body.Write(p) }

// refuseARM sends an error without the internal names of scopes.
func (a *server) refuseARM(w http.ResponseWriter, r *http.Request, err error) {
	d := describe(err)
	a.note(w, r, d.Status, err)
	if s, err := armScope(r); err == nil && !s.IsDefault() {
		d = d.Plain(s)
	}
	send(w, d.Status, v1.JSON(d.Document()))
}

// listGroup answers with the collections of a resource group.
func (a *server) listGroup(w http.ResponseWriter, r *http.Request) error {
	s, err := armScope(r)
	if err != nil {
		return err
	}
	return a.listWhere(w, r, func(c *scheduler.Collection) bool { return c.Name == s.Collection(scheduler.PlainName(c.Name)) })
}

// listSubscription answers with the collections of a subscription.
func (a *server) listSubscription(w http.ResponseWriter, r *http.Request) error {
	return a.listWhere(w, r, func(c *scheduler.Collection) bool {
		subscription, _ := c.Scope.Names()
		return strings.EqualFold(subscription, r.PathValue("s")) && c.Placed() == nil
	})
}

// listWhere answers with the collections for which has is true.
func (a *server) listWhere(w http.ResponseWriter, r *http.Request, has func(c *scheduler.Collection) bool) error {
	if err := checkVersion(r); err != nil {
		return err
	}
	if err := checkOptions(r.URL.RawQuery, nil); err != nil {
		return err
	}
	all, err := a.Service.Collections(r.Context())
	if err != nil {
		return err
	}
	sees := auth.Sees(r.Context())
	all = slices.DeleteFunc(all, func(c *scheduler.Collection) bool { return !has(c) || !sees(c.Name) })
	return answer(w, http.StatusOK, v1.ListOf(all, v1.ManagedCollection, ""))
}
