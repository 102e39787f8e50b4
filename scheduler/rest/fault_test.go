package rest_test

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/rest"
)

func itoa(n int) string { return strconv.Itoa(n) }

// TestFaults asks for what is not there or not allowed.
func TestFaults(t *testing.T) {
	w := newHarness(t)
	w.must(http.MethodPut, "/jobCollections/default/jobs/job", later)
	const jobs = "/jobCollections/default/jobs"
	w.steps([]step{
		{"GET", "/", "", `404 {"error":{"code":"UnknownRoute"`},
		{"GET", "/job", "", `404 "UnknownRoute"|/job`},
		{"POST", jobs + "/job/stop", "", `404 "UnknownRoute"`},
		{"GET", jobs + "/", "", `404 "UnknownRoute"`},
		{"DELETE", jobs, "", `405 "MethodNotAllowed"|GET, HEAD, POST`},
		{"GET", jobs + "/job/run", "", `405 "message":"GET is not possible here, only POST"`},
		{"POST", "/healthz", "", `405 "MethodNotAllowed"`},
		{"GET", jobs + "?$top=0", "", `400 "code":"BadRequest"|"path":"$top"|1-100`},
		{"GET", jobs + "?$top=101", "", `400 "path":"$top"`},
		{"GET", jobs + "?$top=x", "", `400 "path":"$top"`},
		{"GET", jobs + "?$skip=-1", "", `400 "path":"$skip"`},
		{"GET", jobs + "?$orderby=name", "", `400 "$orderby: unknown option; there are $top, $skip, $skiptoken, $filter, labelSelector, prefix, actionType, target, nextAfter, nextBefore, text, lastOutcome"`},
		{"GET", jobs + "/job/history?top=5", "", `400 top: unknown option; did you mean \"$top\"?`},
		{"GET", jobs + "?$top=1&$top=2", "", `400 {"path":"$top","message":"is given more than once"}`},
		{"GET", jobs + "?a=1&b=2", "", `400 "path":"a"|"path":"b"`},
		{"GET", jobs + "?=5", "", `400 "path":"query"|single quotes`},
		{"GET", jobs + "?$top=%zz", "", `400 "path":"query"`},
		{"GET", jobs + "/job?x=1", "", `400 unknown option; there are none here`},
		{"DELETE", jobs + "/job?force=true", "", `400 "path":"force"`},
		{"GET", "/jobCollections?$top=1", "", `400 "path":"$top"|there are none here`},
		{"GET", jobs + "/job?api-version=2016-03-01", "", `200 "default/job"`},
		{"POST", "/doctor?api-version=2016-03-01&fix=false", "", `200 "jobs":1`},
		{"GET", jobs + "?api-version=2016-03-01&$top=1", "", `200 "default/job"`},
		{"GET", jobs + "?$filter=state+ne+enabled", "", `400 "path":"$filter"|state eq enabled|disabled`},
		{"GET", jobs + "/job/history?$filter=status+eq+done", "", `400 "path":"$filter"|completed`},
		{"GET", jobs + "/job/history?$filter=actionType+eq+Fax", "", `400 "path":"$filter"|actionType \"Fax\" is none; there are Http`},
		{"GET", jobs + "/job/history?follow=maybe", "", `400 "path":"follow"`},
		{"GET", jobs + "/none/history?follow=true", "", `404 "ResourceNotFound"`},
		{"GET", "/jobCollections/none/history?follow=true", "", `404 "ResourceNotFound"`},
		{"GET", "/history?follow=true&$top=5", "", `400 $top: unknown option; there are $filter`},
		{"GET", "/history?follow=true&after=1000", "", `400 after: 1000 is not the sequence of a record: the last one is 0`},
		{"GET", "/history?follow=true&after=x", "", `400 "path":"after"`},
		{"GET", "/history?after=1", "", `400 after: applies only to live tails: set follow=true`},
		{"GET", "/history?$skiptoken=x", "", `400 "path":"$skiptoken"|is not the sequence of a record`},
		{"GET", "/history?$top=0", "", `400 "path":"$top"|1-100`},
		{"GET", "/history?earlier=perhaps", "", `400 "path":"earlier"`},
		{"GET", "/jobCollections/none/history", "", `404 "ResourceNotFound"`},
		{"GET", jobs + "/none/history?earlier=true", "", `404 job default/none: not found`},
		{"GET", jobs + "/job/history?earlier=true", "", `200 {"value":[],"nextLink":null}`},
		{"POST", "/doctor?fix=perhaps", "", `400 "path":"fix"`},
		{"PUT", jobs + "/job", "", `400 is empty`},
		{"PUT", jobs + "/job", strings.Repeat("x", 17<<10), `413 is 17408 bytes long, at most 16384 (16 KB)`},
		{"PUT", jobs + "/job", strings.Repeat("x", 1<<20), `413 is 1048576 bytes long`},
		{"PATCH", jobs + "/job", strings.Repeat("x", 1<<20+1), `413 "RequestTooLarge"`},
		{"PUT", jobs + "/job", strings.Repeat("x", 3<<20), `413 "RequestTooLarge"|more than 1048576 bytes`},
		{"PUT", jobs + "/job", "\n<?xml version=\"1.0\"?><job/>", `415 "UnsupportedMediaType"|send JSON or YAML`},
		{"PUT", "/jobCollections/c", strings.Repeat(" ", 20000), `413 is 20000 bytes long`},
	})
	if r := w.do(http.MethodDelete, jobs+"/job/history", ""); r.header.Get("Allow") != "GET, HEAD" {
		t.Errorf("Allow: %s", r.header.Get("Allow"))
	}
	if r := w.do(http.MethodPost, jobs+"/job", ""); r.header.Get("Allow") != "DELETE, GET, HEAD, PATCH, PUT" {
		t.Errorf("Allow: %s", r.header.Get("Allow"))
	}
}

// TestNothingToRead sends documents to operations that take none.
func TestNothingToRead(t *testing.T) {
	w := newHarness(t)
	const job = "/jobCollections/default/jobs/job"
	w.must(http.MethodPut, job, later)
	w.steps([]step{
		{"POST", job + "/disable", `{"reason": "holiday", "until": 1}`, `400 {"path":"reason","message":"unknown field; this takes no document"}|"path":"until"`},
		{"POST", job + "/enable", "now", `400 this takes no document, and this is a string`},
		{"POST", job + "/run", `[]`, `400 the document must be an object, not an array`},
		{"POST", job + "/run", `{"at": `, `400 "BadRequest"`},
		{"POST", "/doctor", `{"fix": true}`, `400 "path":"fix"`},
		{"POST", "/secrets/rotate", `{"key": "k"}`, `400 "path":"key"`},
		{"POST", job + "/disable", " {} ", `200 "state":"disabled"`},
		{"POST", job + "/enable", "\n", `200 "state":"enabled"`},
		{"POST", job + "/run", "{}", `200 "occurrence"`},
	})
}

// TestCrossOrigin lets a browser's page of another origin try to change something, in requests that no browser asks leave
// for: like those of a form, but for their methods.
func TestCrossOrigin(t *testing.T) {
	w := newHarness(t)
	const job = "/jobCollections/default/jobs/job"
	w.must(http.MethodPut, job, later)
	w.must(http.MethodPut, "/secrets/kept", `{"value": "s3cret"}`)
	before := w.do(http.MethodGet, job, "").body
	for _, request := range []string{
		"POST " + job + "/run", "POST " + job + "/disable", "POST " + job + "/resubmit", "PUT " + job, "PATCH " + job, "DELETE " + job,
		"PUT /jobCollections/new", "PATCH /jobCollections/default", "DELETE /jobCollections/default", "POST /jobCollections/default/disable",
		"POST /preview", "POST /doctor?fix=true", "PUT /secrets/kept", "DELETE /secrets/kept", "POST /secrets/rotate",
		"POST /api/v2/job_templates/default.deploy/schedules/", "PATCH /api/v2/schedules/1/", "DELETE /api/v2/schedules/1/",
		"POST /api/v2/schedules/preview/",
	} {
		method, path, _ := strings.Cut(request, " ")
		for _, page := range [][]string{
			{"Origin: https://evil.example", "Sec-Fetch-Site: cross-site"},
			{"Origin: https://evil.example"},
			{"Origin: null"},
			{"Sec-Fetch-Site: cross-site"},
			{"Sec-Fetch-Site: same-site"},
			{"Origin: " + w.api.URL + ".evil.example"},
		} {
			r := w.do(method, path, `{"state": "disabled"}`, append(page, "Content-Type: text/plain")...)
			if r.status != http.StatusForbidden || r.header.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("%s of %q: %d %s", request, page, r.status, r.body)
			}
		}
	}
	if after := w.do(http.MethodGet, job, "").body; after != before {
		t.Errorf("was  %s\nis %s", before, after)
	}
	for _, program := range [][]string{{"Origin: " + w.api.URL, "Sec-Fetch-Site: same-origin"}, {"Sec-Fetch-Site: none"}, nil} {
		if r := w.do(http.MethodPut, "/secrets/kept", `{"value": "s3cret"}`, program...); r.status != 200 {
			t.Errorf("%q: %d %s", program, r.status, r.body)
		}
	}
}

// TestRebinding lets a page whose name leads here ask for everything, as if it were of this server's origin.
func TestRebinding(t *testing.T) {
	w := newHarness(t, func(c *rest.Config) {
		c.AllowHost = func(host string) bool { return !strings.Contains(host, "evil") }
	})
	w.must(http.MethodPut, "/secrets/kept", `{"value": "s3cret"}`)
	for _, request := range []string{
		"GET /jobCollections", "GET /jobCollections/default/jobs", "PUT /jobCollections/default/jobs/job", "GET /secrets", "PUT /secrets/kept",
		"DELETE /secrets/kept", "GET /history?follow=true", "POST /preview", "POST /doctor?fix=true", "GET /healthz", "GET /readyz",
		"GET /api/v2/schedules/", "POST /api/v2/job_templates/default.deploy/schedules/", "GET /nothing", "OPTIONS /secrets",
	} {
		method, path, _ := strings.Cut(request, " ")
		r := w.do(method, path, later, "Host: evil.example:8080", "Origin: http://evil.example:8080", "Sec-Fetch-Site: same-origin")
		if r.status != http.StatusMisdirectedRequest || !strings.Contains(r.body, `"UnknownHost"`) || strings.Contains(r.body, "kept") {
			t.Errorf("%s: %d %s", request, r.status, r.body)
		}
	}
	if r := w.do(http.MethodGet, "/secrets", "", "Host: carillon:8080"); r.status != 200 || !strings.Contains(r.body, "kept") {
		t.Errorf("%d %s", r.status, r.body)
	}
	if r := w.do(http.MethodGet, "/jobCollections/default/jobs/job", ""); r.status != 404 {
		t.Errorf("%d %s", r.status, r.body)
	}
}

// TestUnavailable takes the store away.
func TestUnavailable(t *testing.T) {
	w := newHarness(t)
	w.nc.Close()
	for _, path := range []string{"/jobCollections", "/jobCollections/default/jobs/job", "/jobCollections/default/jobs"} {
		r := w.do(http.MethodGet, path, "")
		if r.status != 503 || r.header.Get("Retry-After") == "" || !strings.Contains(r.body, `"ServiceUnavailable"`) {
			t.Errorf("%s: %d %v %s", path, r.status, r.header, r.body)
		}
	}
	if r := w.do(http.MethodPut, "/jobCollections/default/jobs/job", later); r.status != 503 {
		t.Errorf("put: %d %s", r.status, r.body)
	}
	if r := w.do(http.MethodGet, "/history?follow=true", ""); r.status != 503 {
		t.Errorf("follow: %d %s", r.status, r.body)
	}
}

// TestProcess asks after the process.
func TestProcess(t *testing.T) {
	var notReady error
	w := newHarness(t, func(c *rest.Config) {
		c.Ready = func(context.Context) error {
			if notReady != nil && notReady.Error() == "panic" {
				panic("the secret reason")
			}
			return notReady
		}
	})
	w.steps([]step{
		{"GET", "/healthz", "", `200 {"status":"ok","version":"1.2.3"}`},
		{"GET", "/readyz", "", `200 {"status":"ready"}`},
	})
	notReady = errors.New("the store is not open yet")
	w.steps([]step{
		{"GET", "/readyz", "", `503 {"error":{"code":"NotReady","message":"the store is not open yet"}}`},
		{"GET", "/healthz", "", `200`},
	})
	notReady = errors.New("panic")
	r := w.do(http.MethodGet, "/readyz", "")
	if r.status != 500 || !strings.Contains(r.body, `"InternalError"`) || strings.Contains(r.body, "secret") {
		t.Errorf("panic: %d %s", r.status, r.body)
	}
	w.api.Close()
	for _, want := range []string{
		"level=ERROR msg=\"request panicked\" method=GET path=/readyz requestId=" + r.header.Get("X-Ms-Request-Id"),
		"the secret reason", "goroutine",
		"level=DEBUG msg=request method=GET path=/healthz status=200 duration=",
	} {
		if !strings.Contains(w.log.String(), want) {
			t.Errorf("log without %s:\n%s", want, w.log)
		}
	}
}

// TestDoctor runs the audit on a job whose baton is lost.
func TestDoctor(t *testing.T) {
	w := newHarness(t)
	w.must(http.MethodPut, "/jobCollections/default/jobs/job", later)
	js := must.Get(w.nc.JetStream())(t)
	must.Do(t, js.PurgeStream("CARILLON_TIMERS_0"))
	w.steps([]step{
		{"POST", "/doctor", "", `200 "jobs":1|"waiting":0|"job":"default/job"|"fixed":0`},
		{"POST", "/doctor?fix=false", "", `200 "fixed":0`},
		{"POST", "/doctor?fix=true", "", `200 "job":"default/job"|"fixed":1`},
		{"POST", "/doctor?fix=true", "", `200 "waiting":1,"running":0,"findings":[],"fixed":0`},
	})
}

// TestUncleanPaths shows that a path with empty parts and the like is not sent on to another, which names something else.
func TestUncleanPaths(t *testing.T) {
	w := newHarness(t)
	w.must(http.MethodPut, "/jobCollections/default/jobs/kept", `{"state": "Disabled", "action": {"type": "http", "request": {"method": "GET", "uri": "http://192.0.2.1/"}}}`)
	for _, path := range []string{
		"/jobCollections/default/jobs/x/../kept", "/jobCollections/default/jobs/./kept", "/jobCollections//default/jobs/kept", "//jobCollections",
		"/subscriptions/../jobCollections/default/jobs/kept", "/jobCollections/default/jobs/%2e%2e/jobs/kept", "/..", "/.",
	} {
		for _, method := range []string{http.MethodGet, http.MethodDelete} {
			if r := w.do(method, path, ""); r.status != http.StatusNotFound || !strings.Contains(r.body, `"code":"UnknownRoute"`) {
				t.Errorf("%s %s: %d %s", method, path, r.status, r.body)
			}
		}
	}
	w.must(http.MethodGet, "/jobCollections/default/jobs/kept", "")
}
