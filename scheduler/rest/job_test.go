package rest_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/control"
)

const (
	action = `"action": {"type": "Http", "request": {"uri": "http://target.example/hook", "method": "POST"}}`
	later  = `{"startTime": "2099-01-01T00:00:00Z", ` + action + `}`
)

// step is a request and parts of the answer to it: the status, then parts of
// the body, separated by |.
type step struct{ method, path, body, want string }

func (w *harness) steps(steps []step) {
	w.t.Helper()
	for i, s := range steps {
		r := w.do(s.method, s.path, s.body)
		status, parts, _ := strings.Cut(s.want, " ")
		if status != http.StatusText(r.status) && !strings.HasPrefix(status, itoa(r.status)) {
			w.t.Errorf("step %d: %s %s: got %d, want %s: %.1000s", i+1, s.method, s.path, r.status, status, r.body)
		}
		if strings.Contains(r.body, secret) {
			w.t.Errorf("step %d: %s %s: the answer shows a secret: %s", i+1, s.method, s.path, r.body)
		}
		for part := range strings.SplitSeq(parts, "|") {
			if !strings.Contains(r.body, part) {
				w.t.Errorf("step %d: %s %s: got %.1000s\nwant %s", i+1, s.method, s.path, r.body, part)
			}
		}
		if r.body != "" && !strings.HasPrefix(r.header.Get("Content-Type"), "application/json") {
			w.t.Errorf("step %d: Content-Type %s", i+1, r.header.Get("Content-Type"))
		}
	}
}

// TestJob follows a job through every operation.
func TestJob(t *testing.T) {
	const job = "/jobCollections/default/jobs/job"
	newHarness(t).steps([]step{
		{"GET", job, "", `404 {"error":{"code":"ResourceNotFound","message":"job default/job: not found"}}`},
		{"PUT", job + "?api-version=2016-03-01", later, `201 {"id":"/jobCollections/default/jobs/job","type":"Microsoft.Scheduler/jobCollections/jobs","name":"default/job"|"state":"enabled"`},
		{"PUT", job, "startTime: 2099-01-01\naction: {type: https, request: {uri: 'https://x.example', method: get}}\n", `200 "type":"Https"`},
		{"GET", job, "", `200 "uri":"https://x.example"|"nextExecutionTime":"2099-01-01T00:00:00Z"`},
		{"HEAD", job, "", `200`},
		{"PATCH", job, `{"properties": {"description": "new", "startTime": "2098-01-01"}}`, `200 "description":"new"|"uri":"https://x.example"|2098`},
		{"PATCH", job, `{"state": "faulted"}`, `400 "path":"state"`},
		{"PATCH", job, `{"action": null}`, `400 "path":"action"`},
		{"PATCH", job, `{"action": {"request": {"URI": "http://a.example/", "Uri": "http://b.example/"}}}`, `400 "BadRequest"`},
		{"PATCH", job, `{"recurence": {}}`, `400 "path":"recurence"|did you mean \"recurrence\"?`},
		{"PATCH", job, `{"id": "/JobCollections/default/jobs/job", "recurrence": null}`, `200 "description":"new"`},
		{"PATCH", "/jobCollections/default/jobs/none", `{}`, `404 "ResourceNotFound"`},
		{"POST", job + "/disable", "", `200 "state":"disabled"`},
		{"POST", job + "/disable", "", `200 "state":"disabled"`},
		{"PATCH", job, `{"description": "still off"}`, `200 "state":"disabled"`},
		{"POST", job + "/enable", "", `200 "state":"enabled"`},
		{"POST", job + "/run", "", `200 {"occurrence":"default/job@`},
		{"POST", job + "/run", "", `409 {"error":{"code":"Conflict","message":"job default/job: conflict: it is running or about to run"}}`},
		{"POST", job + "/resubmit", `{"occurrence": "2031-01-01T00:00:00Z"}`, `404 occurrence default/job@2031-01-01T00:00:00Z: not found in the history of its job`},
		{"POST", job + "/resubmit", `{"occurrence": "yesterday", "force": true}`, `400 "path":"occurrence","message":"\"yesterday\" is neither a time`},
		{"POST", job + "/resubmit", `{"occurrences": 5, "force": "yes"}`, `400 "path":"occurrence","message":"is required"|"path":"force"|"path":"occurrences","message":"unknown field; did you mean \"occurrence\"?"`},
		{"POST", job + "/resubmit", "", `400 "code":"BadRequest"`},
		{"GET", job + "/resubmit", "", `405 only POST`},
		{"GET", job + "/history", "", `200 {"value":[],"nextLink":null}`},
		{"GET", "/jobCollections/default/jobs", "", `200 {"value":[{"id":"/jobCollections/default/jobs/job"|],"nextLink":null}`},
		{"DELETE", job, "", `200`},
		{"DELETE", job, "", `404 "message":"job default/job: not found"`},
		{"GET", job + "/history", "", `404 job default/job: not found"`},
		{"POST", job + "/run", "", `404 not found`},
		{"PUT", "/jobCollections/default/jobs/my.job", later, `400 "path":"job","message":"\"my.job\" must not contain '.'`},
		{"PUT", "/jobCollections/default/jobs/my%2Fjob", later, `400 "path":"job"`},
		{"PUT", "/jobCollections/1st/jobs/job", later, `400 "path":"collection"`},
		{"PUT", "/jobCollections/other/jobs/job", later, `404 collection other: not found; create it first`},
		{"GET", "/jobCollections/other/jobs", later, `404 collection other: not found`},
		{"PUT", job, `{"state": "Disabled", ` + action + `}`, `201 "state":"disabled"`},
	})
}

// TestCollection follows a collection through every operation.
func TestCollection(t *testing.T) {
	newHarness(t).steps([]step{
		{"GET", "/jobCollections", "", `200 {"value":[{"id":"/jobCollections/default"|"nextLink":null}`},
		{"GET", "/jobCollections/c", "", `404 "ResourceNotFound"`},
		{"PUT", "/jobCollections/c", "", `201 "name":"c"|"state":"enabled"`},
		{"PUT", "/jobCollections/c", `{"location": "here", "properties": {"quota": {"maxJobCount": 1, "maxRecurrence": {"frequency": "hour", "interval": 1}}}}`, `200 "location":"here"|"maxJobCount":1`},
		{"GET", "/jobCollections/c", "", `200 "maxJobCount":1`},
		{"PUT", "/jobCollections/c", `{"properties": {"quota": {"maxJobCont": 1}}}`, `400 "path":"properties.quota.maxJobCont"|did you mean \"maxJobCount\"?`},
		{"PUT", "/jobCollections/c.d", ``, `400 "path":"collection"`},
		{"PUT", "/jobCollections/c/jobs/a", `{"recurrence": {"frequency": "minute"}, ` + action + `}`, `409 "Conflict"|maxRecurrence`},
		{"PUT", "/jobCollections/c/jobs/a", later, `201`},
		{"PUT", "/jobCollections/c/jobs/b", later, `409 "Conflict"|maxJobCount`},
		{"GET", "/jobCollections", "", `200 "name":"c"|"name":"default"`},
		{"DELETE", "/jobCollections/c", "", `200`},
		{"DELETE", "/jobCollections/c", "", `404 "ResourceNotFound"`},
		{"GET", "/jobCollections/c/jobs/a", "", `404`},
		{"DELETE", "/jobCollections/default", "", `409 the default collection cannot be deleted`},
	})
}

// TestPages lists more jobs than a page has.
func TestPages(t *testing.T) {
	w := newHarness(t)
	var all, enabled, disabled []string
	for i := range 105 {
		name, body, list := fmt.Sprintf("j%03d", i), later, &enabled
		if i%2 == 1 {
			body, list = `{"state": "disabled", `+action+`}`, &disabled
		}
		all, *list = append(all, "default/"+name), append(*list, "default/"+name)
		if _, _, err := w.service.Put(t.Context(), control.Edit{Key: scheduler.Key{Collection: "default", Job: name}, Body: []byte(body)}); err != nil {
			t.Fatal(err)
		}
	}
	for query, want := range map[string]struct {
		names []string
		pages int
	}{
		"": {all, 2},
		"?$top=40&$skip=10&api-version=2016-03-01": {all[10:], 3},
		"?$filter=state+eq+disabled&$top=50":       {disabled, 2},
		"?$filter=state%20eq%20'Enabled'&$skip=50": {enabled[50:], 1},
		"?$filter=state+eq+completed":              {nil, 1},
	} {
		if names, pages := w.names("/jobCollections/default/jobs" + query); names != strings.Join(want.names, " ") || pages != want.pages {
			t.Errorf("%s: %s on %d pages, want %v on %d", query, names, pages, want.names, want.pages)
		}
	}

	// What is deleted meanwhile moves nothing past the reader.
	l := w.page("/jobCollections/default/jobs?$top=40")
	w.must(http.MethodDelete, "/jobCollections/"+strings.Replace(all[3], "/", "/jobs/", 1), "")
	if l = w.page(*l.NextLink); len(l.Value) != 40 || l.Value[0].Name != all[40] {
		t.Errorf("after a delete the next page has %d jobs and begins with %s, want 40 from %s", len(l.Value), l.Value[0].Name, all[40])
	}
}
