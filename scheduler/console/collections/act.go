package collections

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/control"
)

// held returns the service with the condition that the collection has not changed since it was shown.
func (r section) held(etag string) (*control.Service, error) {
	if etag == "" {
		return r.service, nil
	}
	when, err := scheduler.ReadCondition([]string{etag}, nil)
	return r.service.If(when), err
}

// create creates a collection without settings and redirects to its page.
func (r section) create(c *frame.Request, form url.Values) error {
	name := strings.TrimSpace(form.Get("name"))
	if err := auth.Check(c.Context(), auth.Administer, name); err != nil {
		return err
	}
	when, err := scheduler.ReadCondition(nil, []string{"*"})
	if err != nil {
		return err
	}
	_, _, err = r.service.If(when).PutCollection(c.Lasting(), name, []byte("{}"))
	if errors.Is(err, scheduler.ErrInvalid) || errors.Is(err, scheduler.ErrPrecondition) {
		p := c.Describe(err)
		return r.listWith(c, p.Status, name, &p)
	}
	if err != nil {
		return err
	}
	return c.Done(c.Text("collections.did.create", name), path(name))
}

// save replaces the settings. It shows the form again if they are invalid.
func (r section) save(c *frame.Request, values url.Values) error {
	typed := sent(values)
	wrong := func(err error) error {
		p := c.Describe(err)
		if errors.Is(err, scheduler.ErrPrecondition) {
			p.Hint = c.Text("collections.changed")
			if now, err := r.service.Collection(c.Lasting(), name(c)); err == nil {
				typed["etag"] = now.ETag() // submitting again is a new decision
			}
		}
		return r.showWith(c, p.Status, typed, &p)
	}
	cur, err := r.service.Collection(c.Lasting(), name(c))
	if err != nil {
		return err
	}
	body, err := typed.over(c.Lasting(), cur)
	if err != nil {
		return wrong(err)
	}
	s, err := r.held(typed["etag"])
	if err != nil {
		return err
	}
	_, result, err := s.PutCollection(c.Lasting(), name(c), body)
	switch {
	case errors.Is(err, scheduler.ErrInvalid), errors.Is(err, scheduler.ErrPrecondition), errors.Is(err, scheduler.ErrConflict):
		return wrong(err)
	case err != nil:
		return err
	}
	text := c.Text("collections.did.save")
	if result == v1.Unchanged {
		text = c.Text("common.unchanged")
	}
	return c.Done(text, path(name(c)))
}

// turn enables or disables the collection.
func (r section) turn(state scheduler.State, did string) func(*frame.Request) error {
	return func(c *frame.Request) error {
		if _, err := r.service.SetCollectionState(c.Lasting(), name(c), state); err != nil {
			return err
		}
		return c.Done(c.Text("collections.did."+did), path(name(c)))
	}
}

// confirm asks for confirmation to disable the collection, or to delete it with its jobs.
func (r section) confirm(main, title string) func(*frame.Request) error {
	return func(c *frame.Request) error {
		s, err := r.sheetOf(c)
		if err != nil {
			return err
		}
		return c.Show(shown(c.Text(title, s.Name), main, s))
	}
}

// remove deletes the collection. It deletes one with jobs only if the user has confirmed that, too.
func (r section) remove(c *frame.Request, form url.Values) error {
	s, err := r.held(form.Get("etag"))
	if err != nil {
		return err
	}
	if err := s.DeleteCollection(c.Lasting(), name(c), form.Get("jobs") != "all"); err != nil {
		if p := c.Describe(err); p.Status == http.StatusConflict {
			p.Hint = c.Text("collections.delete.jobs.hint")
			return p
		}
		return err
	}
	return c.Done(c.Text("collections.did.delete", name(c)), root)
}
