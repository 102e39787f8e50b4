package rest_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/store/storetest"
)

// index runs the service, and waits until it has an index of jobs.
func (w *harness) index() {
	w.t.Helper()
	storetest.Run(w.t, w.service.Run)
	w.await("the index", w.service.Indexed)
}

// names returns the names on all pages of a list of jobs, and the number of pages.
func (w *harness) names(link string) (names string, pages int) {
	w.t.Helper()
	all, pages := w.entries(link)
	list := make([]string, len(all))
	for i, j := range all {
		list[i] = j.Name
	}
	return strings.Join(list, " "), pages
}

// TestSearch searches for jobs in one collection and in all, with the index of jobs and without.
func TestSearch(t *testing.T) {
	w := newHarness(t)
	soon := time.Now().UTC().Add(30 * time.Minute).Format(time.RFC3339)
	job := func(start, labels string) string {
		return fmt.Sprintf(`{"startTime": %q, "labels": {%s}, %s}`, start, labels, action)
	}
	w.must(http.MethodPut, "/jobCollections/ops", "")
	w.must(http.MethodPut, "/jobCollections/default/jobs/report-a", job(soon, `"team": "x"`))
	w.must(http.MethodPut, "/jobCollections/default/jobs/report-b", job("2099-01-01T00:00:00Z", `"team": "y"`))
	w.must(http.MethodPut, "/jobCollections/default/jobs/backup", job("2098-01-01T00:00:00Z", `"team": "x"`))
	w.must(http.MethodPut, "/jobCollections/ops/jobs/report-c", job(soon, `"team": "x"`))
	w.must(http.MethodPut, "/jobCollections/ops/jobs/off", `{"state": "disabled", `+action+`}`)
	check := func() {
		t.Helper()
		for query, want := range map[string]string{
			"/jobs":                                                "default/backup default/report-a default/report-b ops/off ops/report-c",
			"/jobs?$top=2":                                         "default/backup default/report-a default/report-b ops/off ops/report-c",
			"/jobs?$top=1&$skip=3":                                 "ops/off ops/report-c",
			"/jobs?prefix=report-":                                 "default/report-a default/report-b ops/report-c",
			"/jobs?nextBefore=1h":                                  "default/report-a ops/report-c",
			"/jobs?nextBefore=1h&$top=1":                           "default/report-a ops/report-c",
			"/jobs?nextAfter=1h":                                   "default/backup default/report-b",
			"/jobs?nextAfter=" + soon + "&$top=1":                  "default/backup default/report-a default/report-b ops/report-c",
			"/jobs?nextBefore=" + soon:                             "",
			"/jobs?nextAfter=2098-06-01":                           "default/report-b",
			"/jobs?labelSelector=team%3Dx&$top=1":                  "default/backup default/report-a ops/report-c",
			"/jobs?labelSelector=!team":                            "ops/off",
			"/jobs?labelSelector=team%20in%20(x,y)&$top=1&$skip=2": "default/report-b ops/report-c",
			"/jobs?$filter=state+eq+disabled":                      "ops/off",
			"/jobs?actionType=HTTP&prefix=backup":                  "default/backup",
			"/jobs?text=PORT-&$top=1":                              "default/report-a default/report-b ops/report-c",
			"/jobs?text=team%3DY":                                  "default/report-b",
			"/jobs?text=ops/o":                                     "ops/off",
			"/jobs?text=nowhere":                                   "",
			"/jobs?lastOutcome=never&text=off":                     "ops/off",
			"/jobs?lastOutcome=completed":                          "",
			"/jobCollections/ops/jobs?nextAfter=0":                 "ops/report-c",
			"/jobCollections/default/jobs?prefix=report-&labelSelector=team%3Dx": "default/report-a",
		} {
			if got, _ := w.names(query); got != want {
				t.Errorf("%s: got %s, want %s", query, got, want)
			}
		}
	}
	check()
	w.index()
	check()
	w.steps([]step{
		{"GET", "/jobs?nextAfter=tomorrow", "", `400 {"path":"nextAfter","message":"\"tomorrow\" is neither a time such as 2026-03-02T09:00:00Z nor a length of time`},
		{"GET", "/jobs?nextAfter=2h&nextBefore=1h", "", `400 {"path":"nextAfter","message":"is not before nextBefore`},
		{"GET", "/jobs?labelSelector=team%20in%20b", "", `400 {"path":"labelSelector","message":"column 9: \"(\" was expected here`},
		{"GET", "/jobs?prefix=a.b", "", `400 {"path":"prefix","message":"\"a.b\" must not contain '.'`},
		{"GET", "/jobs?actionType=Fax", "", `400 {"path":"actionType","message":"\"Fax\" is none; there are Http`},
		{"GET", "/jobs?lastOutcome=soon", "", `400 {"path":"lastOutcome","message":"\"soon\" is none; there are completed`},
		{"GET", "/jobs?$skiptoken=x", "", `400 {"path":"$skiptoken"`},
		{"GET", "/jobs?Prefix=a", "", `400 {"path":"Prefix","message":"unknown option; did you mean \"prefix\"?"}`},
		{"GET", "/jobCollections/nowhere/jobs?prefix=a", "", "404"},
	})
}

// TestNextLinkKeepsTime goes on with the instant that a length of time meant on the first page.
func TestNextLinkKeepsTime(t *testing.T) {
	w := newHarness(t)
	for _, name := range []string{"a", "b"} {
		w.must(http.MethodPut, "/jobCollections/default/jobs/"+name, later)
	}
	before := time.Now()
	link := must.Get(url.Parse(*w.page("/jobs?nextAfter=1h&$top=1").NextLink))(t)
	at, err := time.Parse(time.RFC3339Nano, link.Query().Get("nextAfter"))
	if d := at.Sub(before); err != nil || d < time.Hour || d > time.Hour+patience {
		t.Errorf("%s: %v", link, err)
	}
	if w.page(link.String()).Value[0].Name != "default/b" {
		t.Errorf("%s does not go on", link)
	}
}

// TestTargets selects the jobs that call a target, and not those with its name elsewhere, with the index of jobs and without.
func TestTargets(t *testing.T) {
	w := newHarness(t)
	for name, request := range map[string]string{
		"calls": `"uri": "https://api.example/?q=1"`, "port": `"uri": "http://API.example:8080/"`, "below": `"uri": "https://my.api.example/"`,
		"other":  `"uri": "http://other.example/?u=https://api.example/", "headers": {"Host": "api.example"}`,
		"secret": `"uri": "https://api.example/", "authentication": {"type": "Basic", "username": "a", "password": "sesame"}`,
	} {
		w.must(http.MethodPut, "/jobCollections/default/jobs/"+name, `{"state": "disabled", "labels": {"of": "api.example"}, "action": {"type": "http",
			"request": {"method": "GET", `+request+`}, "errorAction": {"type": "http", "request": {"method": "GET", "uri": "http://log.example/"}}}}`)
	}
	check := func() {
		t.Helper()
		for query, want := range map[string]string{
			"target=api.example":                      "default/calls default/port default/secret",
			"target=Api.example:443&$top=1":           "default/calls default/secret",
			"target=api.example:8080&actionType=http": "default/port",
			"target=log.example":                      "", // no job runs for its errorAction
			"target=example":                          "",
			"text=api.example":                        "default/below default/calls default/other default/port default/secret",
		} {
			if got, _ := w.names("/jobs?" + query); got != want {
				t.Errorf("%s: got %s, want %s", query, got, want)
			}
		}
		for body, want := range map[string]string{
			`{"verb": "pause", "until": "2h", "target": "api.example:443"`:                    `"expected":2`,
			`{"verb": "resubmit", "failedSince": "-1h", "target": "api.example:443"`:          `"expected":0`,
			`{"verb": "resubmit", "failedSince": "-1h", "target": "x", "jobs": ["default/a"]`: `"expected":0`,
			`{"verb": "run", "target": "x", "jobs": ["default/a"]`:                            `"path":"jobs"`,
		} {
			if r := w.do(http.MethodPost, "/operations", body+`, "dryRun": true}`); !strings.Contains(r.body, want) {
				t.Errorf("%s: %s, want %s", body, r.body, want)
			}
		}
	}
	check()
	w.index()
	check()
}
