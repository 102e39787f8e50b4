package console

import (
	"net/http"
	"testing"

	"github.com/carillon-sched/carillon/integration/suite/console/tab"
)

// TestReader looks at pages as somebody who may only read: they can be read, and nothing in them changes anything.
func TestReader(t *testing.T) {
	s := own(t)
	must(t, s.FillQueues(t.Context()), s.Put(t.Context(), "default", "report", quiet("enabled")))
	admin := made(t, s, nil, "admin")
	reader := made(t, s, &http.Header{"Authorization": {"Bearer " + admin}}, "reader")
	page := open(t, s.HTTP, tab.Look{})
	page.Expect(http.StatusUnauthorized)
	must(t, page.Go("/"), page.Fill("#token", reader), page.Press("\r"), page.Text("h1", "Overview"))
	page.Expect()
	for _, path := range []string{
		"/", "/console/jobs", "/console/jobs/default/report", "/console/live", "/console/collections", "/console/collections/default",
		"/console/calendar", "/console/load",
		"/console/events", "/console/sources", "/console/jobs/graph", "/console/queues", "/console/queues/entity?at=checkout&part=dead",
		"/console/queues/message?at=checkout&part=dead&n=1", "/console/queues/storage?account=devstoreaccount1&queue=letters-poison",
	} {
		must(t, page.Go(path))
		sound(t, page, path)
		const changes = `[...document.querySelectorAll('form[method=post] button, .danger, a[href*="/new"]')].filter((e) =>
			!e.closest('[action="/console/sign-out"], [action$="/renew"]')).map((e) => e.outerHTML).join(' ')`
		if got, err := tab.Eval[string](page, changes); err != nil || got != "" {
			t.Errorf("%s: %s (%v)", path, got, err)
		}
	}
	page.Expect(http.StatusForbidden)
	must(t, page.Go("/console/jobs/default/report/edit"), page.Text("main", "this needs the role operator"))
}
