package views_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/carillon-sched/carillon/scheduler/console/consoletest"
)

const root = "/console/views"

// TestShared shares a view of each list: all who see the list and the collection of the view have it, and nobody but an
// administrator of all collections changes it.
func TestShared(t *testing.T) {
	w := consoletest.New(t)
	w.Collect("billing")
	share := func(name, page, query, to string) {
		t.Helper()
		r := w.Post(root, url.Values{"name": {name}, "page": {page}, "query": {query}, "share": {""}})
		if r.Status != http.StatusSeeOther || r.Header.Get("Location") != to {
			t.Fatalf("%s: %d %v %s", name, r.Status, r.Header, r.Body)
		}
		w.Has(w.Get(to), "is shared")
	}
	share(" <b>night</b> ", "/console/jobs", "q=night+job&sort=next&order=", "/console/jobs?q=night+job&sort=next")
	share("billing", "/console/jobs", "collection=billing&state=paused", "/console/jobs?collection=billing&state=paused")
	share("errors", "/console/live", "outcome=failed&outcome=faulted&since=2h&job=a", "/console/live?job=a&outcome=failed&outcome=faulted&since=2h")
	share("me", "/console/audit", "who=me&kind=view", "/console/audit?kind=view&who=me")
	w.Has(w.Get("/console/audit?kind=view"), "view errors", "view billing", "view me", "put")

	const link = `<li><a href="/console/jobs?q=night&#43;job&amp;sort=next"><bdi>&lt;b&gt;night&lt;/b&gt;</bdi></a>`
	w.Has(w.Part(root+"?page=/console/jobs"), link, ">billing<", `name="remove"`, `name="share"`, "!errors", "!<html")
	for _, who := range []string{"reader", "operator", "admin@default,billing"} {
		w.Be(who)
		w.Has(w.Part(root+"?page=/console/jobs"), link, ">billing<", "!<button")
		w.Wants(http.StatusForbidden, w.Post(root, url.Values{"name": {"x"}, "page": {"/console/jobs"}}), "role admin on all collections")
		w.Wants(http.StatusForbidden, w.Post(root, url.Values{"remove": {"errors"}}), "role admin on all collections")
	}
	w.Be("reader@default")
	w.Has(w.Part(root+"?page=/console/jobs"), link, "!billing")
	w.Wants(http.StatusBadRequest, w.Do(http.MethodGet, root+"?page=/console/audit", ""), "page", "!who=me")

	w.Anonymous()
	w.Wants(http.StatusConflict, w.Post(root, url.Values{"name": {"errors"}, "page": {"/console/jobs"}}), "name", "/console/live")
	if r := w.Post(root, url.Values{"remove": {"errors"}, "page": {"/console/live"}, "query": {"odd=1"}}); r.Header.Get("Location") != "/console/live" {
		t.Errorf("%d %v", r.Status, r.Header)
	}
	w.Has(w.Part(root+"?page=/console/live"), "!errors")
	w.Wants(http.StatusNotFound, w.Post(root, url.Values{"remove": {"errors"}, "page": {"/console/live"}}), "errors")
}

// TestRefused refuses views that lead elsewhere or nowhere, and names the field. What another program stored leads nowhere else
// either.
func TestRefused(t *testing.T) {
	w := consoletest.New(t)
	for _, one := range []struct{ page, query, field string }{
		{"https://evil.example/", "", "page"},
		{"//evil.example", "", "page"},
		{"/console/jobs/../../evil", "", "page"},
		{"/console/jobs?x=", "", "page"},
		{"/console/jobs/default/a", "", "page"},
		{"", "", "page"},
		{"/console/jobs", "after=x", "query.after"},
		{"/console/jobs", "q=a&next=//evil.example", "query.next"},
		{"/console/live", "state=paused", "query.state"},
		{"/console/jobs", "q=%zz", "query"},
		{"/console/jobs", "q=a%E2%80%AEb", "query.q"},
		{"/console/jobs", "q=a%0d%0aX-Odd:1", "query.q"},
	} {
		r := w.Post(root, url.Values{"name": {"a"}, "page": {one.page}, "query": {one.query}, "share": {""}})
		w.Wants(http.StatusBadRequest, r, "<code>"+one.field+"</code>")
	}
	w.Wants(http.StatusBadRequest, w.Post(root, url.Values{"name": {" "}, "page": {"/console/jobs"}}), "<code>name</code>")
	_, err := w.Store.Settings().Save(t.Context(), "views", []byte(`{"a": "//evil.example", "b": "/console/jobs?next=//evil.example",
		"c": "/console/jobs?q=c", "d": "/console/jobs@evil.example", "e": ""}`), 0)
	w.OK(err)
	w.Has(w.Part(root+"?page=/console/jobs"), "q=c", "!evil")
	w.Wants(http.StatusBadRequest, w.Do(http.MethodGet, root+"?page=//evil.example", ""), "<code>page</code>", "!q=c")
}
