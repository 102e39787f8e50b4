// Package views has the shared views: filters of lists by name, which all users see. The menu of saved views of a list shows
// them below the views of the browser.
package views

import (
	"embed"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/control"
)

//go:embed views.html
var files embed.FS

var templates = frame.Templates(files, "views.html")

type section struct {
	service *control.Service
	lists   []frame.Section
}

// Section returns the page of the views of the lists of other sections.
func Section(s *control.Service, lists []frame.Section) frame.Section {
	const path = frame.Root + "/views"
	r := section{s, lists}
	return frame.Section{Name: "views", Routes: []frame.Route{
		{Method: http.MethodGet, Path: path, Right: auth.ReadAny, Do: r.show},
		{Method: http.MethodPost, Path: path, Right: auth.Administer, Do: frame.WithShortForm(r.change)},
	}}
}

// show shows the views of a list.
func (r section) show(c *frame.Request) error {
	page, shown := c.Query("page"), map[string]string{}
	if _, err := r.address(c, page, ""); err != nil {
		return err
	}
	all, _, err := r.service.Views(c.Context())
	if err != nil {
		return err
	}
	for name, address := range all {
		list, query, _ := strings.Cut(address, "?")
		if to, err := r.address(c, list, query); err == nil && list == page {
			shown[name] = to
		}
	}
	return c.Show(&frame.Page{Title: c.Text("frame.views"), Template: templates, Fragment: "main", Data: struct {
		Views map[string]string // addresses by name
		Edit  bool
	}{shown, c.May(auth.Administer, "")}})
}

// address returns the address of a list with a query. Only lists and collections that the caller may see, and parameters of the
// list, are valid. With an error, it returns the address of the list alone, or of the first page for an unknown list.
func (r section) address(c *frame.Request, page, query string) (string, error) {
	i := slices.IndexFunc(r.lists, func(s frame.Section) bool { return s.Views != nil && s.Path == page && c.May(s.Right, "") })
	if i < 0 {
		return "/", scheduler.Invalid("page", c.Text("frame.views.page"))
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return page, scheduler.Invalid("query", err.Error())
	}
	for name, all := range values {
		path, known := "query."+frame.Visible(name), slices.Sorted(slices.Values(r.lists[i].Views))
		switch text := strings.Join(all, ""); {
		case !slices.Contains(known, name):
			return page, scheduler.Invalid(path, c.Text("frame.views.parameter", strings.Join(known, ", ")))
		case text != frame.Visible(text):
			return page, scheduler.Invalid(path, c.Text("frame.views.hidden"))
		}
	}
	for _, of := range values["collection"] {
		if of != "" {
			err = errors.Join(err, auth.Check(c.Context(), auth.Read, of))
		}
	}
	return frame.Address(page, values), err
}

// change shares a view, or removes one, and leads back to the list.
func (r section) change(c *frame.Request, form url.Values) error {
	name := strings.TrimSpace(form.Get("name"))
	note := c.Text("frame.views.done", name)
	to, err := r.address(c, form.Get("page"), form.Get("query"))
	if remove := form.Get("remove"); remove != "" {
		note = c.Text("frame.views.removed", remove)
		err = r.service.DeleteView(c.Lasting(), remove)
	} else if err == nil {
		err = r.service.PutView(c.Lasting(), name, to)
	}
	if err != nil {
		return err
	}
	return c.Done(note, to)
}
