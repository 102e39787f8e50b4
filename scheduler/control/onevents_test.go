package control_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/control"
)

// TestOnEvents checks that no view of a job that only events start has a time of its next run.
func TestOnEvents(t *testing.T) {
	w := newHarness(t)
	k, ctx := scheduler.Key{Collection: "default", Job: "job"}, t.Context()
	body := onEvents(`[{"source": "orders"}, {"job": "extract", "outcome": "any"}]`)
	for _, dry := range []bool{true, false, true} {
		v, _, err := w.service.Put(ctx, control.Edit{Key: k, Body: []byte(body), DryRun: dry})
		must.Do(t, err)
		mustNotShowNever(t, "put", v)
		if dry && len(v.DryRun.NextRuns) > 0 {
			t.Errorf("a dry run has the runs %v", v.DryRun.NextRuns)
		}
	}
	v := must.Get(w.service.Get(ctx, k))(t)
	mustNotShowNever(t, "get", v)
	text := string(must.Get(json.Marshal(v))(t))
	if want := `"schedule":"on events: orders, extract completed or faulted"`; !strings.Contains(text, want) || strings.Contains(text, "nextExecutionTime") {
		t.Errorf("the job is shown as %s", text)
	}
	page, _, err := w.service.Search(ctx, scheduler.JobQuery{}, v1.Page{})
	must.Do(t, err)
	mustNotShowNever(t, "list", page)
	mustNotShowNever(t, "why", must.Get(w.service.Why(ctx, k, ""))(t))
	if a := must.Get(w.service.Why(ctx, k, "now"))(t); a.Answer != "the job has no schedule: it runs on events: orders, extract completed or faulted" || a.After != nil {
		t.Errorf("why answers %+v", a)
	}
	if runs := must.Get(w.service.Runs(ctx, control.RunsQuery{Key: k, Days: 100 * 366, Most: 10}))(t); len(runs) > 0 {
		t.Errorf("upcoming runs: %v", runs)
	}
	p := must.Get(w.service.Preview(ctx, []byte(body)))(t)
	if len(p.Times) > 0 || !p.Complete || p.Description != scheduler.OnEvents {
		t.Errorf("the preview is %+v", p)
	}
	if o := must.Get(w.service.Outlook(ctx, []byte(body)))(t); len(o.Times) > 0 || len(o.Days) != control.Weeks*7 {
		t.Errorf("the outlook is %+v", o)
	}
}

// mustNotShowNever fails if the JSON form of a view has the end of time.
func mustNotShowNever(t *testing.T, name string, view any) {
	t.Helper()
	if text := string(must.Get(json.Marshal(view))(t)); strings.Contains(text, "9999-") {
		t.Errorf("%s shows the end of time: %s", name, text)
	}
}
