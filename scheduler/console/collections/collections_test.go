package collections_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/console/consoletest"
	"github.com/carillon-sched/carillon/scheduler/console/words"
)

const (
	root = "/console/collections"
	one  = root + "/partners"
	job  = `{"state": "disabled", "recurrence": {"frequency": "year", "interval": 1}, "action": {"type": "http", "request": {"method": "GET", "uri": "http://127.0.0.1:1/"}}}`
)

// fields are what the form of a page has.
func fields(t *testing.T, page string) url.Values {
	t.Helper()
	etag := regexp.MustCompile(`name="etag" value="([^"]*)"`).FindStringSubmatch(page)
	if etag == nil {
		t.Fatalf("the page has no form: %s", page)
	}
	return url.Values{"etag": {html.UnescapeString(etag[1])}}
}

// TestLife makes a collection, changes its settings, turns it off and on, and deletes it.
func TestLife(t *testing.T) {
	w := consoletest.New(t)
	w.Work()
	w.Has(w.Get(root), "default", "One collection", "New collection")
	done := func(path string, form url.Values, to, note string) {
		t.Helper()
		if r := w.Post(path, form); r.Status != http.StatusSeeOther || r.Header.Get("Location") != to {
			t.Fatalf("%s: %d %v %s", path, r.Status, r.Header, r.Body)
		}
		w.Has(w.Get(to), note)
	}
	done(root, url.Values{"name": {"partners"}}, one, "Collection partners is created")
	w.Wants(http.StatusPreconditionFailed, w.Post(root, url.Values{"name": {"partners"}}), "exists already")
	w.Wants(http.StatusBadRequest, w.Post(root, url.Values{"name": {"1<b>"}}), "!1<b>", `id="name-wrong"`)
	form := fields(t, w.Get(one))
	stale := form.Get("etag")
	for name, value := range map[string]string{
		"plan": "Standard", "maxJobs": "007", "interval": "+5", "frequency": "minute", "minRetry": "PT20S",
		"targets": words.Text("collections.targets.example") + "\n\"*\": {rate: {limit: 10}}",
	} {
		form.Set(name, value)
	}
	done(one, form, one, "Saved.")
	c, err := w.Service.Collection(t.Context(), "partners")
	if err != nil {
		t.Fatal(err)
	}
	if c.Plan != scheduler.Standard || c.MaxJobCount != 7 || c.MaxRecurrence.Interval != 5 || c.MinRetryInterval.Seconds() != 20 || len(c.Targets) != 2 {
		t.Errorf("saved: %+v", c)
	}
	page := w.Get(one)
	w.Has(page, `value="7"`, `<option selected>Standard`, `<option value="minute" selected>minutes`, "api.example.com", `value="PT20S"`)
	form.Set("etag", stale)
	w.Wants(http.StatusPreconditionFailed, w.Post(one, form), "Another user changed the collection")
	form.Set("etag", fields(t, page).Get("etag"))
	done(one, form, one, "No changes")
	for name, value := range map[string]string{"minRetry": "soon<b>", "maxJobs": "many", "targets": `"*": {rate: {limit: fast}}`, "plan": "Huge"} {
		form.Set(name, value)
	}
	r := w.Post(one, form)
	w.Wants(http.StatusBadRequest, r, "!soon<b>")
	w.Has(r.Body, `value="soon&lt;b&gt;"`, "Fix the problems at the marked fields", `aria-invalid="true" aria-describedby="maxJobs-wrong"`,
		`id="maxJobs-wrong">must be a whole number`, `id="minRetry-wrong">`, `id="plan-wrong">`, `id="targets-wrong">[&#34;*&#34;].rate.limit: must be`)
	w.HasNone(r.Body, `id="interval-wrong"`, "properties.minRetryInterval:")
	form = fields(t, page)
	form.Set("interval", "5")
	w.Has(w.Post(one, form).Body, `id="frequency-wrong">choose the unit`, `value="5"`)
	done(one, fields(t, w.Get(one)), one, "Saved.") // every field empty
	if c, err = w.Service.Collection(t.Context(), "partners"); err != nil || c.Plan != "" || c.MaxJobCount != 0 || len(c.Targets) > 0 || c.MinRetryInterval != 0 {
		t.Errorf("emptied: %+v (%v)", c, err)
	}
	w.Put("partners/enabled", strings.Replace(job, "disabled", "enabled", 1))
	w.Await("its jobs to be counted", func() bool { return strings.Contains(w.Get(one+"/disable"), "One enabled job stops.") })
	w.Has(w.Get(one+"/disable"), `<form method="post" action="`+one+`/disable"`)
	w.HasNone(w.Get(one), `action="`+one+`/disable"`)
	w.OK(w.Service.Delete(t.Context(), consoletest.Key("partners/enabled"), 0))
	done(one+"/disable", nil, one, "until you enable it")
	w.Has(w.Get("/"), `<a href="`+one+`">Collection partners is disabled: its jobs do not run.</a>`)
	done(one+"/enable", nil, one, "Its jobs run.")
	w.Put("partners/report", job)
	w.Await("its jobs to be counted", func() bool { return strings.Contains(w.Get(one), `>disabled</span></a><span class="value">1<`) })
	ask := w.Get(one + "/delete")
	w.Has(ask, "Its job and the job&#39;s history are deleted too")
	form = fields(t, ask)
	w.Wants(http.StatusConflict, w.Post(one+"/delete", form), "Select &#34;Also delete its jobs&#34;")
	form.Set("jobs", "all")
	done(one+"/delete", form, root, "Collection partners is deleted.")
	w.Wants(http.StatusNotFound, w.Do(http.MethodGet, one, ""))
}

// TestRights shows nobody what they may not do, and lets them not do it.
func TestRights(t *testing.T) {
	w := consoletest.New(t)
	w.OK(w.Service.PutCollection(t.Context(), "partners", []byte(`{"properties": {"quota": {"maxRecurrence": {"frequency": "minute", "interval": 5}}}}`)))
	w.Collect("secret")
	w.Be("operator@partners")
	list := w.Get(root)
	w.Has(list, "partners")
	w.HasNone(list, "secret", "New collection")
	page := w.Get(one)
	w.HasNone(page, `action="`+one, "/delete", "Save")
	w.Has(page, "Settings", "no limit", "every 5 minutes", "Pause jobs…")
	w.Be("reader@partners")
	w.HasNone(w.Get(one), `method="post"`)
	w.Be("operator@partners")
	for path, status := range map[string]int{
		root: http.StatusForbidden, one: http.StatusForbidden, one + "/enable": http.StatusForbidden, one + "/disable": http.StatusForbidden,
		one + "/delete": http.StatusForbidden,
	} {
		w.Wants(status, w.Post(path, url.Values{"name": {"partners"}}))
	}
	w.Wants(http.StatusForbidden, w.Do(http.MethodGet, root+"/secret", ""))
	w.Be("admin@partners")
	w.Has(w.Get(one), "Save", "/delete")
	w.Wants(http.StatusForbidden, w.Post(root, url.Values{"name": {"other"}}))
	w.Be("admin")
	w.HasNone(w.Get(root+"/default"), "/console/collections/default/delete")
}
