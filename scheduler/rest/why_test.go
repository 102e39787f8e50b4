package rest_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/scheduler/why"
)

// explained asks why.
func (w *world) explained(path, at string) (a why.Answer) {
	w.t.Helper()
	res := w.do(http.MethodGet, path+"/why?at="+url.QueryEscape(at), "")
	if err := json.Unmarshal([]byte(res.body), &a); err != nil {
		w.t.Fatalf("%s: %v", res.body, err)
	}
	return a
}

// TestWhy asks of a job that ran, of one that failed, and of times at which nothing was due.
func TestWhy(t *testing.T) {
	w := newWorld(t)
	w.work()
	const path = "/jobCollections/default/jobs/job"
	next, _ := w.follow("/history?follow=true")
	w.must(http.MethodPut, path, `{"timeZone": "Europe/Berlin", "action": {"type": "Http", "retryPolicy": {"retryType": "none"},
		"request": {"uri": "`+w.target()+`/?fail", "method": "GET"}}}`)
	failed, _ := next(), next() // failed, faulted
	at, _ := failed.Properties["expectedExecutionTime"].(string)
	a := w.explained(path, at)
	if a.Code != why.Failed || a.Attempts != 1 || len(a.Records) != 2 || a.Records[0].StatusCode != http.StatusTeapot || a.TimeZone != "Europe/Berlin" || a.Hint == "" {
		t.Errorf("failed: %+v", a)
	}
	const recurring = "/jobCollections/default/jobs/recurring"
	w.must(http.MethodPut, recurring, `{"timeZone": "Europe/Berlin", "recurrence": {"cron": "0 9 * * 1"}, "action": {"type": "Http",
		"request": {"uri": "http://x.example", "method": "GET"}}}`)
	if a := w.explained(recurring, "2099-03-02T09:00"); a.Code != why.Planned || a.Occurrence != "default/recurring@2099-03-02T08:00:00Z" {
		t.Errorf("planned: %+v", a)
	}
	if a := w.explained(recurring, "2099-03-03T09:00:00Z"); a.Code != why.NotDue || a.After == nil || a.After.Local != "2099-03-09T09:00:00+01:00" {
		t.Errorf("not due: %+v", a)
	}
	if a := w.explained(recurring, ""); a.Code != why.Planned {
		t.Errorf("the next: %+v", a)
	}
	if a := w.explained(path, ""); a.Code != why.Failed || a.Attempts != 1 {
		t.Errorf("at its end: %+v", a)
	}
	if a := w.explained(recurring, "-2h"); a.Code != why.NotCreated {
		t.Errorf("before it was put: %+v", a)
	}
	w.must(http.MethodPost, recurring+"/disable", "")
	if a := w.explained(recurring, "2099-03-02T09:00"); a.Code != why.Disabled || a.Since.IsZero() {
		t.Errorf("disabled: %+v", a)
	}
	if a := w.explained(recurring, ""); a.Code != why.Disabled || a.After != nil {
		t.Errorf("disabled, without a time: %+v", a)
	}
	w.must(http.MethodDelete, recurring, "")
	if a := w.explained(recurring, "now"); a.Code != why.Deleted {
		t.Errorf("deleted: %+v", a)
	}
}

// TestWhyRefuses has questions that are wrong.
func TestWhyRefuses(t *testing.T) {
	w := newWorld(t)
	w.must(http.MethodPut, "/jobCollections/default/jobs/job", later)
	for path, want := range map[string]string{
		"default/jobs/none/why":            `404 "code":"ResourceNotFound"`,
		"none/jobs/job/why":                `404 "code":"ResourceNotFound"`,
		"default/jobs/job/why?at=soon":     `400 "path":"at"`,
		"default/jobs/job/why?at=2026-02":  `400 "path":"at"`,
		"default/jobs/j.b/why":             `400 must not contain`,
		"default/jobs/job/why?when=now":    `400 "path":"when"`,
		"default/jobs/job/why?at=now&at=1": `400 given more than once`,
	} {
		res := w.do(http.MethodGet, "/jobCollections/"+path, "")
		status, text, _ := strings.Cut(want, " ")
		if strconv.Itoa(res.status) != status || !strings.Contains(res.body, text) {
			t.Errorf("%s: %d %s", path, res.status, res.body)
		}
	}
}
