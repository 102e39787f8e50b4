package rest_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/rest"
	"github.com/carillon-sched/carillon/scheduler/stats"
)

// failing returns the failure groups of attempts of some jobs that have just failed.
func failing(jobs ...string) func(context.Context, func(string) bool) []*v1.FailureGroup {
	now := time.Now()
	r := &stats.Recorder{}
	for _, job := range jobs {
		k := scheduler.KeyIn("default", job)
		r.Add(&scheduler.Record{
			Job: k, Outcome: scheduler.OutcomeFailed, Occurrence: scheduler.OccurrenceID(k, now), Started: now, Ended: now, Due: now,
			Status: http.StatusBadGateway, Summary: "Bad Gateway", Response: "<try later>", Type: "Http", Target: "target.example:80",
		}, now)
	}
	return func(_ context.Context, sees func(string) bool) []*v1.FailureGroup {
		b := stats.NewBoard(now)
		b.AddGroups(r.Groups(now))
		b.Finish()
		return b.FailureGroups(sees)
	}
}

// TestFailures lists failure groups with the rights of their callers, and changes their states.
func TestFailures(t *testing.T) {
	w := newHarness(t)
	w.service = control.New(control.Config{Store: w.store, Actions: w.actions, Failures: failing("mine/a", "mine/a", "other/b")})
	w.serve([]func(*rest.Config){asking})
	type page struct {
		Value []v1.FailureGroup `json:"value"`
	}
	list := func(role string) (all page) {
		t.Helper()
		r := w.do(http.MethodGet, "/failures", "", as(role))
		must.Do(t, json.Unmarshal([]byte(r.body), &all))
		if !strings.Contains(role, "other") && strings.Contains(role, "@") && strings.Contains(r.body, "other") {
			t.Errorf("%s sees %s", role, r.body)
		}
		return all
	}
	whole := list("reader").Value
	if len(whole) != 1 || whole[0].Attempts != 3 || whole[0].Jobs != 2 || whole[0].State != v1.FailureOpen || whole[0].Class != "502" || whole[0].Selection != nil {
		t.Fatalf("%+v", whole)
	}
	if mine := list("reader@mine").Value; len(mine) != 1 || mine[0].Attempts != 2 || mine[0].Jobs != 1 || mine[0].Example.Answer != "502 Bad Gateway: <try later>" {
		t.Errorf("%+v", mine)
	}
	if none := list("reader@third").Value; len(none) != 0 {
		t.Errorf("%+v", none)
	}
	path := "/failures/" + whole[0].ID
	ask := func(method, path, body, role string, status int, texts ...string) {
		t.Helper()
		r := w.do(method, path, body, as(role))
		if r.status != status {
			t.Errorf("%s %s %s as %s: %d %s", method, path, body, role, r.status, r.body)
		}
		for _, text := range texts {
			if not, negated := strings.CutPrefix(text, "!"); strings.Contains(r.body, not) == negated {
				t.Errorf("%s %s as %s, %q: %s", method, path, role, text, r.body)
			}
		}
	}
	ask(http.MethodGet, path, "", "reader", 200, `"selection":{"jobs":["mine/a","other/b"]}`)
	ask(http.MethodGet, path, "", "reader@mine", 200, `"selection":{"jobs":["mine/a"]}`)
	ask(http.MethodGet, path+"?collection=mine", "", "reader", 200, `"selection":{"jobs":["mine/a"]}`)
	ask(http.MethodGet, path, "", "reader@third", 404)
	ask(http.MethodGet, "/failures/0123456789abcdef", "", "admin", 404, "a group is kept for a day")
	ask(http.MethodPost, path+"/ack", "", "reader", 403)
	ask(http.MethodPost, path+"/ack", "", "operator@mine", 403, "operator on all collections", "!other")
	ask(http.MethodPost, path+"/ack", `{"note": "`+strings.Repeat("x", 257)+`"}`, "operator", 400, `"path":"note"`, "at most 256")
	ask(http.MethodPost, path+"/ack", `{"note": "called them"}`, "operator", 200, `"state":"acknowledged"`, `"note":"called them"`)
	ask(http.MethodPost, path+"/ack", "", "operator", 200, `"state":"acknowledged"`, "!called them")
	ask(http.MethodPost, path+"/mute", `{}`, "operator", 400, `"path":"until"`)
	ask(http.MethodPost, path+"/mute", `{"until": "30d"}`, "operator", 400, `"path":"until"`)
	ask(http.MethodPost, path+"/mute", `{"until": "P30D"}`, "operator", 400, `"path":"until"`, "more than 7 days")
	ask(http.MethodPost, path+"/mute", `{"until": "2020-01-01T00:00:00Z"}`, "operator", 400, "which has passed")
	ask(http.MethodPost, path+"/mute", `{"until": "2h"}`, "operator", 200, `"state":"muted"`)
	ask(http.MethodGet, "/failures", "", "reader@mine", 200, `"state":"muted"`)
	ask(http.MethodPost, path+"/reopen", "", "operator", 200, `"state":"open"`, "!mutedUntil", "!acknowledged")
	ask(http.MethodGet, "/audit?kind=failure&op=mute", "", "admin", 200, `"name":"`+whole[0].ID+`"`)
	ask(http.MethodGet, "/operations", "", "admin", 200, `"value":[]`) // its mark is no operation
	ask(http.MethodPost, "/operations", `{"verb": "pause", "until": "2h", "jobs": ["mine/a","other/b"], "dryRun": true}`, "operator", 200, `"expected":2`)
}

// TestSelectionByTarget pauses the jobs of a group with more jobs than it names: those that call its target, and no others
// with the host in a label.
func TestSelectionByTarget(t *testing.T) {
	w := newHarness(t)
	jobs := make([]string, 1001)
	for i := range jobs {
		jobs[i] = "default/j" + itoa(i)
	}
	w.service = control.New(control.Config{Store: w.store, Actions: w.actions, Failures: failing(jobs...)})
	w.serve(nil)
	for name, host := range map[string]string{"calls": "target.example", "labeled": "other.example", "below": "my.target.example"} {
		w.must(http.MethodPut, "/jobCollections/default/jobs/"+name,
			`{"startTime": "2090-01-01T00:00:00Z", "labels": {"of": "target.example"}, "action": {"type": "http", "request": {"method": "GET", "uri": "http://`+host+`/"}}}`)
	}
	var all struct {
		Value []v1.FailureGroup `json:"value"`
	}
	must.Do(t, json.Unmarshal([]byte(w.do(http.MethodGet, "/failures", "").body), &all))
	var g v1.FailureGroup
	must.Do(t, json.Unmarshal([]byte(w.do(http.MethodGet, "/failures/"+all.Value[0].ID, "").body), &g))
	selection, err := json.Marshal(g.Selection)
	must.Do(t, err)
	body := strings.TrimSuffix(string(selection), "}") + `, "verb": "pause", "until": "2h", "dryRun": true}`
	if r := w.do(http.MethodPost, "/operations", body); !g.AtLeast || !strings.Contains(r.body, `"expected":1`) {
		t.Errorf("%s: %d %s", body, r.status, r.body)
	}
}

// TestMarkOfAnEarlierFailure has an acknowledgment that is older than the first failure of its group.
func TestMarkOfAnEarlierFailure(t *testing.T) {
	w := newHarness(t)
	groups := failing("default/a")
	var since time.Duration
	w.service = control.New(control.Config{Store: w.store, Actions: w.actions, Failures: func(ctx context.Context, sees func(string) bool) []*v1.FailureGroup {
		all := groups(ctx, sees)
		for _, g := range all {
			g.First = g.First.Add(since)
		}
		return all
	}})
	w.serve(nil)
	id := groups(t.Context(), func(string) bool { return true })[0].ID
	w.must(http.MethodPost, "/failures/"+id+"/ack", "")
	for after, want := range map[time.Duration]string{0: "acknowledged", time.Hour: "open"} {
		since = after
		if r := w.do(http.MethodGet, "/failures/"+id, ""); !strings.Contains(r.body, `"state":"`+want+`"`) {
			t.Errorf("%s after: %s", after, r.body)
		}
	}
}
