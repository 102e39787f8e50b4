package rest_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/rest"
)

// byGrants takes the token for the grants, so that a test says who asks: "reader@mine operator@other".
func byGrants(r *http.Request) (*auth.Principal, error) {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		return nil, &auth.Unknown{}
	}
	p := &auth.Principal{Name: "tester", Via: auth.ViaToken}
	for text := range strings.FieldsSeq(token) {
		g, err := auth.ParseGrant(text)
		if err != nil {
			return nil, &auth.Unknown{Reason: err.Error()}
		}
		p.Grants = append(p.Grants, g)
	}
	return p, nil
}

// asking has the API ask who somebody is.
func asking(cfg *rest.Config) { cfg.Identify = byGrants }

// as is the header of who has grants.
func as(grants string) string { return "Authorization: Bearer " + grants }

// needs is what each operation needs, written down a second time. The letters: o open to all, k a role anywhere,
// r reader, w operator, a admin, on the collection of the path; R and W on any, with what is found looked at; D reader and A admin on all.
var needs = map[string]string{
	"GET /jobCollections":                        "R",
	"PUT /jobCollections/{c}":                    "a",
	"GET /jobCollections/{c}":                    "r",
	"PATCH /jobCollections/{c}":                  "a",
	"DELETE /jobCollections/{c}":                 "a",
	"POST /jobCollections/{c}/enable":            "a",
	"POST /jobCollections/{c}/disable":           "a",
	"GET /jobCollections/{c}/history":            "r",
	"GET /jobCollections/{c}/audit":              "a",
	"GET /jobCollections/{c}/jobs/{j}/audit":     "a",
	"GET /audit":                                 "A",
	"GET /jobCollections/{c}/jobs":               "r",
	"POST /jobCollections/{c}/jobs":              "w",
	"PUT /jobCollections/{c}/jobs/{j}":           "w",
	"GET /jobCollections/{c}/jobs/{j}":           "r",
	"PATCH /jobCollections/{c}/jobs/{j}":         "w",
	"DELETE /jobCollections/{c}/jobs/{j}":        "w",
	"POST /jobCollections/{c}/jobs/{j}/run":      "w",
	"POST /jobCollections/{c}/jobs/{j}/resubmit": "w",
	"POST /jobCollections/{c}/jobs/{j}/enable":   "w",
	"POST /jobCollections/{c}/jobs/{j}/disable":  "w",
	"POST /jobCollections/{c}/jobs/{j}/pause":    "w",
	"POST /jobCollections/{c}/jobs/{j}/cancel":   "w",
	"POST /jobCollections/{c}/cancel":            "w",
	"POST /jobCollections/{c}/jobs/{j}/try":      "w",
	"GET /jobCollections/{c}/jobs/{j}/history":   "r",
	"GET /jobCollections/{c}/jobs/{j}/why":       "r",
	"GET /jobCollections/{c}/jobs/{j}/account":   "r",
	"GET /jobCollections/{c}/jobs/{j}/runs.ics":  "r",
	"GET /jobCollections/{c}/runs.ics":           "r",
	"GET /runs.ics":                              "R",
	"GET /forecast":                              "R",
	"GET /jobs":                                  "R",
	"GET /history":                               "R",
	"GET /secrets":                               "A",
	"PUT /secrets/{name}":                        "A",
	"DELETE /secrets/{name}":                     "A",
	"POST /secrets/{name}":                       "A",
	"GET /tokens":                                "A",
	"POST /tokens":                               "A",
	"DELETE /tokens/{id}":                        "A",
	"POST /preview":                              "k",
	"POST /doctor":                               "A",
	"GET /openapi.json":                          "o",
	"GET /healthz":                               "o",
	"GET /readyz":                                "o",
	"GET /metrics":                               "D",
	"GET /schemas/job.json":                      "o",
	"GET /schemas/collection.json":               "o",
	"POST /api/v2/schedules/preview":             "k",
	"GET /api/v2/schedules/zoneinfo":             "k",
	"GET /api/v2/schedules":                      "R",
	"POST /api/v2/schedules":                     "W",
	"GET /api/v2/schedules/{id}":                 "R",
	"PUT /api/v2/schedules/{id}":                 "W",
	"PATCH /api/v2/schedules/{id}":               "W",
	"DELETE /api/v2/schedules/{id}":              "W",
	"GET /api/v2/{kind}/{template}/schedules":    "r",
	"POST /api/v2/{kind}/{template}/schedules":   "w",

	"POST /jobCollections/{c}/events/{e}": "w",
	"GET /jobCollections/{c}/events":      "r",
	"GET /events":                         "R",

	"GET /graph": "R",
	"POST /jobCollections/{c}/jobs/{j}/try-event": "r",
	"POST /jobCollections/{c}/jobs/{j}/replay":    "w",
	"GET /events/{id}":                            "R",

	"GET /jobCollections/{c}/sources":        "r",
	"PUT /jobCollections/{c}/sources/{n}":    "w",
	"GET /jobCollections/{c}/sources/{n}":    "r",
	"PATCH /jobCollections/{c}/sources/{n}":  "w",
	"DELETE /jobCollections/{c}/sources/{n}": "w",
	"GET /sources":                           "R",
	"POST /events/{c}/{n}":                   "o",
	"GET /events/{c}/{n}":                    "o",

	"POST /operations":             "W",
	"GET /operations":              "R",
	"GET /operations/{id}":         "R",
	"POST /operations/{id}/cancel": "W",

	"GET /activity":              "D",
	"GET /failures":              "R",
	"GET /failures/{id}":         "R",
	"POST /failures/{id}/ack":    "W",
	"POST /failures/{id}/mute":   "W",
	"POST /failures/{id}/reopen": "W",

	"GET /subscriptions":                                                  "R",
	"GET /subscriptions/{s}":                                              "k",
	"GET /subscriptions/{s}/resourceGroups":                               "R",
	"GET /subscriptions/{s}/resourceGroups/{g}":                           "k",
	"PUT /subscriptions/{s}/resourceGroups/{g}":                           "k",
	"DELETE /subscriptions/{s}/resourceGroups/{g}":                        "A",
	"GET /subscriptions/{s}/providers":                                    "k",
	"GET /subscriptions/{s}/providers/Microsoft.Scheduler":                "k",
	"POST /subscriptions/{s}/providers/Microsoft.Scheduler/register":      "k",
	"GET /subscriptions/{s}/providers/Microsoft.Scheduler/jobCollections": "R",
}

// needOf is what an operation needs; below a resource group as at the short path.
func needOf(route rest.Route) string {
	return needs[route.Method+" "+strings.TrimPrefix(bare(route.Path), rest.ManagedPath)]
}

// TestEveryOperationNamesItsRight finds an operation that names none: nobody could use it. What the table above says is
// what counts, so that a right is not given by a slip.
func TestEveryOperationNamesItsRight(t *testing.T) {
	seen := map[string]bool{}
	for _, route := range rest.Routes() {
		name := route.Method + " " + strings.TrimPrefix(bare(route.Path), rest.ManagedPath)
		seen[name] = true
		want := map[string]auth.Right{
			"o": auth.Open, "k": auth.Known, "r": auth.Read, "D": auth.Read, "w": auth.Operate, "a": auth.Administer, "A": auth.Administer,
			"R": auth.ReadAny, "W": auth.OperateAny,
		}[needOf(route)]
		if !route.Right.Valid() || route.Right != want {
			t.Errorf("%s needs %q, want %q: give it a row in needs", name, route.Right, want)
		}
	}
	for name := range needs {
		if !seen[name] {
			t.Errorf("%s is not a route", name)
		}
	}
}

// TestNoRightIsNobodys shows that an operation that names no right is refused to everybody.
func TestNoRightIsNobodys(t *testing.T) {
	anybody := func(*http.Request) (*auth.Principal, error) { return auth.Anonymous(auth.ViaOpen, ""), nil }
	answer := httptest.NewRecorder()
	rest.WithoutRight(anybody).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/of/nobody", http.NoBody))
	if answer.Code != http.StatusForbidden || !strings.Contains(answer.Body.String(), "no role permits this") {
		t.Errorf("%d %s", answer.Code, answer.Body)
	}
}

// bare is a path without its last slash.
func bare(path string) string { return strings.TrimSuffix(strings.TrimSuffix(path, "{$}"), "/") }

// TestRolesOverREST asks for every operation on every collection in every role. What is allowed gets as far as being
// found wrong, 400, so that the cases are in nobody's way; what is not is refused before anything is read of it.
func TestRolesOverREST(t *testing.T) {
	w := newHarness(t, asking, func(cfg *rest.Config) { cfg.Metrics = scraped{} })
	root := as("admin")
	schedules := map[string]string{}
	for _, c := range []string{"mine", "other"} {
		w.do(http.MethodPut, "/jobCollections/"+c, "", root)
		w.do(http.MethodPut, "/jobCollections/"+c+"/jobs/report", `{"state": "Disabled", "action": {"type": "http", "request": {"method": "GET", "uri": "http://192.0.2.1/"}}}`, root)
		schedules[c] = w.schedule(c, "kept", root)
	}
	before := must.Get(w.store.LastRevision(t.Context()))(t)
	roles := []string{"", "reader@mine", "operator@mine", "admin@mine", "reader", "operator", "admin", "reader operator@mine", "nobody"}
	for _, route := range rest.Routes() {
		for _, role := range roles {
			for _, c := range []string{"mine", "other"} {
				if bare(route.Path) == "/api/v2/schedules/{id}" && route.Method == http.MethodDelete {
					continue // below
				}
				status := w.try(route, role, c, schedules[c])
				want := expected(route.Method+" "+strings.TrimPrefix(bare(route.Path), rest.ManagedPath), role, c)
				if want == allowed && status != http.StatusBadRequest && status != http.StatusOK ||
					want == hidden && status != http.StatusNotFound ||
					want == forbidden && status != http.StatusForbidden || want == unknown && status != http.StatusUnauthorized {
					t.Errorf("%s %s as %q on %s: got %d, want it %s", route.Method, route.Path, role, c, status, want)
				}
			}
		}
	}
	if after, err := w.store.LastRevision(t.Context()); err != nil || after != before {
		t.Errorf("jobs were changed: revision %d, then %d, %v", before, after, err)
	}
	for _, role := range roles {
		for _, c := range []string{"mine", "other"} {
			id := w.schedule(c, fmt.Sprintf("of %s", role), root)
			status := w.do(http.MethodDelete, "/api/v2/schedules/"+id+"/", "", bearer(role)...).status
			gone := w.do(http.MethodGet, "/api/v2/schedules/"+id+"/", "", root).status == http.StatusNotFound
			want := expected("DELETE /api/v2/schedules/{id}", role, c)
			if (want == allowed) != gone || want == allowed != (status == http.StatusNoContent) {
				t.Errorf("deleting a schedule as %q on %s: got %d, gone %t, want it %s", role, c, status, gone, want)
			}
			w.do(http.MethodDelete, "/api/v2/schedules/"+id+"/", "", root)
		}
	}
}

// bearer are the headers of who has grants; nobody gives a token that is not taken.
func bearer(grants string) []string {
	if grants == "" {
		return nil
	}
	return []string{as(grants)}
}

// schedule makes a schedule of the job report of a collection, and returns its id.
func (w *harness) schedule(collection, name, header string) string {
	w.t.Helper()
	return itoa(w.makeSchedule(templates+collection+".report/schedules/", fmt.Sprintf(`{"name": %q, "rrule": %q}`, name, daily), header).ID)
}

// try asks for an operation in a way that is found wrong once it is let in, unless it changes nothing.
func (w *harness) try(route rest.Route, grants, collection, id string) int {
	w.t.Helper()
	path := strings.NewReplacer("{$}", "", "{c}", collection, "{j}", "report", "{e}", "orders", "{s}", scheduler.DefaultSubscription, "{g}", scheduler.DefaultGroup, "{name}", "rotate", "{id}", id,
		"{kind}", "job_templates", "{template}", collection+".report").Replace(route.Path)
	body := ""
	if !strings.HasPrefix(path, "/api/v2/") {
		path += "?nonsense=1"
	} else if route.Method != http.MethodGet {
		body = `{"name": null, "rrule": null}`
		if route.Path == "/api/v2/schedules" || route.Path == "/api/v2/schedules/{$}" {
			body = fmt.Sprintf(`{"name": "x", "rrule": "DTSTART:20990101T000000Z RRULE:FREQ=DAILY;INTERVAL=1", "unified_job_template": %q}`,
				collection+".nothing")
		}
	}
	return w.do(route.Method, path, body, bearer(grants)...).status
}

// What becomes of a request.
const (
	allowed   = "allowed"
	forbidden = "forbidden" // 403
	unknown   = "unknown"   // 401
	hidden    = "hidden"    // 404
)

// expected is what becomes of somebody's request for an operation on a collection. What the path does not name, but by
// an id, is hidden from those who may not see it.
func expected(operation, grants, collection string) string {
	need, byID := needs[operation], strings.Contains(operation, "{id}")
	if strings.Contains(operation, " /operations") || strings.Contains(operation, " /events") || strings.Contains(operation, " /failures") {
		collection = "mine" // what it is about is looked at after the option that is wrong
	}
	switch {
	case need == "o" && strings.Contains(operation, "{n}"):
		return hidden // no webhook has the address
	case need == "o":
		return allowed
	case grants == "", grants == "nobody":
		return unknown
	case grants == "reader operator@mine" && collection == "mine" && need != "D":
		grants = "operator@mine"
	case grants == "reader operator@mine" && need == "W":
		return forbidden // operator somewhere, and sees the rest
	case grants == "reader operator@mine":
		grants = "reader"
	}
	role, _, scoped := strings.Cut(grants, "@")
	least := strings.Index("rwa", strings.ToLower(strings.NewReplacer("k", "r", "R", "r", "D", "r", "W", "w", "A", "a").Replace(need)))
	has := map[string]int{"reader": 0, "operator": 1, "admin": 2}[role]
	switch {
	case has < least, scoped && (need == "A" || need == "D"):
		return forbidden
	case need == "k", !scoped, collection == "mine", need == "R" && !byID:
		return allowed
	case byID:
		return hidden
	}
	return forbidden
}

// TestChallenge shows what is asked for of who is not known, and told to who lacks a role (RFC 6750, section 3).
func TestChallenge(t *testing.T) {
	w := newHarness(t, asking)
	tests := []struct {
		header, want, code, message string
		status                      int
	}{
		{"", `Bearer realm="carillon"`, "AuthenticationFailed", "none was given", http.StatusUnauthorized},
		{as("root"), `Bearer realm="carillon", error="invalid_token"`, "AuthenticationFailed", `"root" is not a role`, http.StatusUnauthorized},
		{
			as("reader@mine"), `Bearer realm="carillon", error="insufficient_scope", scope="admin"`, "AuthorizationFailed",
			"needs the role admin on all collections; token tester has reader@mine", http.StatusForbidden,
		},
	}
	for _, test := range tests {
		r := w.do(http.MethodGet, "/secrets", "", slices.DeleteFunc([]string{test.header}, func(h string) bool { return h == "" })...)
		if r.status != test.status || r.header.Get("WWW-Authenticate") != test.want ||
			!strings.Contains(r.body, `"code":"`+test.code+`"`) || !strings.Contains(strings.ReplaceAll(r.body, `\"`, `"`), test.message) {
			t.Errorf("%s: %d %v %s", test.header, r.status, r.header, r.body)
		}
	}
	awx := w.do(http.MethodGet, "/api/v2/schedules/", "")
	if awx.status != http.StatusUnauthorized || !strings.HasPrefix(awx.body, `{"detail":`) {
		t.Errorf("%d %s", awx.status, awx.body)
	}
}

// TestUnavailableIdentity shows that a store that cannot say who asks lets nobody in.
func TestUnavailableIdentity(t *testing.T) {
	w := newHarness(t, func(cfg *rest.Config) {
		cfg.Identify = func(*http.Request) (*auth.Principal, error) { return nil, errors.New("a secret reason") }
	})
	r := w.do(http.MethodGet, "/jobCollections", "")
	if r.status != http.StatusInternalServerError || strings.Contains(r.body, "secret") {
		t.Errorf("%d %s", r.status, r.body)
	}
	if r := w.do(http.MethodGet, "/healthz", ""); r.status != http.StatusOK {
		t.Errorf("%d %s", r.status, r.body)
	}
}

// firstLine returns the first record of a live tail.
func (w *harness) firstLine(path, header string) string {
	w.t.Helper()
	tail := w.stream(path, header)
	defer time.AfterFunc(patience, tail.end).Stop()
	lines := bufio.NewScanner(tail.body)
	for lines.Scan() {
		if lines.Text() != "" {
			return lines.Text()
		}
	}
	w.t.Fatal(tail.status, lines.Err())
	return ""
}

// TestListsShowWhatMayBeSeen shows that what goes over all collections has of some what belongs to them, and nothing else:
// lists, histories, and their live tails.
func TestListsShowWhatMayBeSeen(t *testing.T) {
	w := newHarness(t, asking)
	w.work()
	root, target := as("admin"), w.target()
	for _, c := range []string{"mine", "other"} {
		w.do(http.MethodPut, "/jobCollections/"+c, "", root)
		w.do(http.MethodPut, "/jobCollections/"+c+"/jobs/report", `{"state": "Disabled", "action": {"type": "http", "request": {"method": "GET", "uri": "`+target+`"}}}`, root)
		w.schedule(c, "nightly", root)
	}
	ran := func(c string) func() bool {
		return func() bool {
			return strings.Contains(w.do(http.MethodGet, "/jobCollections/"+c+"/history", "", root).body, `"status":"Completed"`)
		}
	}
	for _, c := range []string{"other", "mine"} { // in this order: the tail would have had the other first
		w.do(http.MethodPost, "/jobCollections/"+c+"/jobs/report/run", "", root)
		w.await("a run in "+c, ran(c))
	}
	if line := w.firstLine("/history?follow=true&after=0", as("reader@mine")); !strings.Contains(line, "mine") || strings.Contains(line, "other") {
		t.Errorf("the tail begins with %s", line)
	}
	for _, path := range []string{"/jobCollections", "/jobs", "/history", "/api/v2/schedules/", "", "/jobs?prefix=r"} {
		if path == "" {
			w.index()
			continue
		}
		some := w.do(http.MethodGet, path, "", as("reader@mine"))
		all := w.do(http.MethodGet, path, "", as("reader"))
		if some.status != http.StatusOK || !strings.Contains(some.body, "mine") || strings.Contains(some.body, "other") {
			t.Errorf("%s of some: %d %s", path, some.status, some.body)
		}
		if !strings.Contains(all.body, "mine") || !strings.Contains(all.body, "other") {
			t.Errorf("%s of all: %s", path, all.body)
		}
	}
}

// TestSameNameInAnotherGroup shows that a role on a collection is none on one of the same name in another resource group,
// and that neither is shown in lists.
func TestSameNameInAnotherGroup(t *testing.T) {
	w := newHarness(t, asking)
	const elsewhere = "/subscriptions/else/resourceGroups/where/providers/Microsoft.Scheduler/jobCollections"
	const version = "?api-version=2016-03-01"
	root := as("admin")
	w.do(http.MethodPut, "/jobCollections/mine", "", root)
	if r := w.do(http.MethodPut, elsewhere+"/mine"+version, `{"location": "West US", "properties": {}}`, root); r.status != http.StatusCreated {
		t.Fatal(r)
	}
	for _, path := range []string{"/mine", "/mine/jobs", "/mine/jobs/x", "/mine/jobs/x/history"} {
		if r := w.do(http.MethodGet, elsewhere+path+version, "", as("admin@mine")); r.status != http.StatusForbidden {
			t.Errorf("GET %s: %d %s", path, r.status, r.body)
		}
	}
	if r := w.do(http.MethodDelete, elsewhere+"/mine"+version, "", as("admin@mine")); r.status != http.StatusForbidden {
		t.Errorf("DELETE: %d %s", r.status, r.body)
	}
	for path, want := range map[string]bool{elsewhere: false, "/subscriptions": false, "/jobCollections": false} {
		if path != "/jobCollections" {
			path += version
		}
		if r := w.do(http.MethodGet, path, "", as("reader@mine")); strings.Contains(r.body, "else") != want || r.status != http.StatusOK {
			t.Errorf("%s: %d %s", path, r.status, r.body)
		}
	}
	if r := w.do(http.MethodGet, elsewhere+version, "", root); !strings.Contains(r.body, "mine") {
		t.Errorf("an admin: %s", r.body)
	}
}

// TestChangedGrantsEndTails follows the history of all collections, and takes the reader one of its collections: the tail ends, as
// it would go on to show what may not be seen any more.
func TestChangedGrantsEndTails(t *testing.T) {
	var grants atomic.Pointer[[]auth.Grant]
	grants.Store(&[]auth.Grant{{Role: auth.Reader, Collections: []string{"default", "partners"}}})
	w := newHarness(t, func(cfg *rest.Config) {
		cfg.Identify = func(*http.Request) (*auth.Principal, error) {
			return &auth.Principal{Name: "reader", Via: auth.ViaOIDC, Grants: *grants.Load()}, nil
		}
	})
	tail := w.stream("/history?follow=true")
	defer time.AfterFunc(patience, tail.end).Stop()
	grants.Store(&[]auth.Grant{{Role: auth.Reader, Collections: []string{"default"}}})
	if _, err := io.Copy(io.Discard, tail.body); err != nil || tail.status != http.StatusOK {
		t.Errorf("the tail did not end: %d, %v", tail.status, err)
	}
}
