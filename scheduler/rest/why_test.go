package rest_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"testing"

	"github.com/carillon-sched/carillon/scheduler/explain"
)

// explained asks why.
func (w *harness) explained(path, at string) (a explain.Answer) {
	w.t.Helper()
	res := w.do(http.MethodGet, path+"/why?at="+url.QueryEscape(at), "")
	if err := json.Unmarshal([]byte(res.body), &a); err != nil {
		w.t.Fatalf("%s: %v", res.body, err)
	}
	return a
}

// TestWhy asks of a job that failed and of one that recurs. Package explain tests the explanations, and package engine their
// sources in the store.
func TestWhy(t *testing.T) {
	w := newHarness(t)
	w.work()
	const path = "/jobCollections/default/jobs/job"
	next, _ := w.follow("/history?follow=true")
	w.must(http.MethodPut, path, `{"timeZone": "Europe/Berlin", "action": {"type": "Http", "retryPolicy": {"retryType": "none"},
		"request": {"uri": "`+w.target()+`/?fail", "method": "GET"}}}`)
	failed, _ := next(), next() // failed, faulted
	at, _ := failed.Properties["expectedExecutionTime"].(string)
	a := w.explained(path, at)
	if a.Code != explain.Failed || a.Attempts != 1 || len(a.Records) != 2 || a.Records[0].StatusCode != http.StatusTeapot || a.TimeZone != "Europe/Berlin" || a.Hint == "" {
		t.Errorf("failed: %+v", a)
	}
	const recurring = "/jobCollections/default/jobs/recurring"
	w.must(http.MethodPut, recurring, `{"timeZone": "Europe/Berlin", "recurrence": {"cron": "0 9 * * 1"}, `+action+`}`)
	if a := w.explained(recurring, "2099-03-03T09:00:00Z"); a.Code != explain.NotDue || a.After == nil || a.After.Local != "2099-03-09T09:00:00+01:00" {
		t.Errorf("not due: %+v", a)
	}
	if a := w.explained(recurring, "-2h"); a.Code != explain.NotCreated {
		t.Errorf("before it was put: %+v", a)
	}
	w.must(http.MethodDelete, recurring, "")
	if a := w.explained(recurring, "now"); a.Code != explain.Deleted {
		t.Errorf("deleted: %+v", a)
	}
	w.steps([]step{
		{"GET", "/jobCollections/default/jobs/none/why", "", `404 "code":"ResourceNotFound"`},
		{"GET", "/jobCollections/none/jobs/job/why", "", `404 "code":"ResourceNotFound"`},
		{"GET", path + "/why?at=soon", "", `400 "path":"at"`},
		{"GET", path + "/why?when=now", "", `400 "path":"when"`},
	})
}
