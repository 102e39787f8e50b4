package rest_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/audit"
)

// audited is a page of the audit log.
type audited struct {
	Value    []*audit.Entry `json:"value"`
	NextLink *string        `json:"nextLink"`
}

// audit gets what was done to what, by way of all pages.
func (w *harness) audit(path, grants string) (ops []string) {
	w.t.Helper()
	for next := &path; next != nil; {
		r := w.do(http.MethodGet, *next, "", as(grants))
		var page audited
		if err := json.Unmarshal([]byte(r.body), &page); err != nil || r.status != http.StatusOK {
			w.t.Fatalf("%s: %d %s", *next, r.status, r.body)
		}
		for _, e := range page.Value {
			if e.By.Name != "tester" || e.By.Via != "token" {
				w.t.Errorf("%s of %s by %+v", e.Op, e.Target(), e.By)
			}
			ops = append(ops, e.Op+" "+e.Target())
		}
		next = page.NextLink
	}
	return ops
}

func TestAuditLogTellsWhoChangedWhat(t *testing.T) {
	w := newHarness(t, asking)
	job := `{"action": {"type": "http", "request": {"method": "GET", "uri": "http://example.org/"}}, "state": "disabled"}`
	for _, step := range []struct{ method, path, body, grants string }{
		{http.MethodPut, "/jobCollections/mine", "{}", "admin"},
		{http.MethodPut, "/jobCollections/mine/jobs/a", job, "operator@mine"},
		{http.MethodPost, "/jobCollections/mine/jobs/a/enable", "", "operator@mine"},
		{http.MethodPut, "/jobCollections/default/jobs/b", job, "operator"},
		{http.MethodPut, "/secrets/s", `{"value": "v"}`, "admin"},
	} {
		if r := w.do(step.method, step.path, step.body, as(step.grants)); r.status >= http.StatusBadRequest {
			t.Fatalf("%s %s: %d %s", step.method, step.path, r.status, r.body)
		}
	}
	all := []string{"put secret s", "put default/b", "enable mine/a", "put mine/a", "put collection mine"}
	for _, test := range []struct {
		path, grants string
		want         []string
	}{
		{"/audit", "admin", all},
		{"/audit?$top=2", "admin", all},
		{"/audit?op=put&kind=job", "admin", []string{"put default/b", "put mine/a"}},
		{"/audit?who=nobody", "admin", nil},
		{"/jobCollections/mine/audit", "admin@mine", []string{"enable mine/a", "put mine/a", "put collection mine"}},
		{"/jobCollections/mine/jobs/a/audit?$top=1", "admin@mine", []string{"enable mine/a", "put mine/a"}},
	} {
		if diff := cmp.Diff(test.want, w.audit(test.path, test.grants)); diff != "" {
			t.Errorf("%s: %s", test.path, diff)
		}
	}
	for _, path := range []string{"/audit?kind=nonsense", "/audit?since=yesterday", "/audit?after=1", "/audit?follow=true&$top=1", "/audit?x=1"} {
		if r := w.do(http.MethodGet, path, "", as("admin")); r.status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", path, r.status, r.body)
		}
	}
}

func TestAuditLogIsFollowed(t *testing.T) {
	w := newHarness(t)
	w.must(http.MethodPut, "/jobCollections/mine", "{}")
	tail := w.stream("/audit?follow=true&after=0")
	w.must(http.MethodDelete, "/jobCollections/mine", "")
	var ops []string
	for lines := bufio.NewScanner(tail.body); len(ops) < 2 && lines.Scan(); {
		var e audit.Entry
		if len(lines.Bytes()) == 0 {
			continue
		}
		must.Do(t, json.Unmarshal(lines.Bytes(), &e))
		ops = append(ops, e.Op+" "+e.Target())
	}
	if diff := cmp.Diff([]string{"put collection mine", "delete collection mine"}, ops); diff != "" {
		t.Error(diff)
	}
}
