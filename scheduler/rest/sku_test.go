package rest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// recurring is a job that recurs at the end of the century, on the schedule that a test gives it.
func recurring(recurrence string) string {
	return strings.Replace(later, "{", `{"recurrence": {`+recurrence+`}, `, 1)
}

const authenticating = `{"startTime": "2099-01-01", "action": {"type": "Https", "request": {"uri": "https://example.org", "method": "GET",
	"authentication": {"type": "Basic", "username": "u", "password": "` + secret + `"}}}}`

// TestPlansAreQuotas: the plan of a collection says how many jobs it may have, how often they may recur and what they may do, where the
// collection says nothing else; what is too much is a conflict.
func TestPlansAreQuotas(t *testing.T) {
	w := azure(t)
	for _, plan := range []struct {
		name, often, tooOften string
		jobs                  int
	}{
		{"Free", `"frequency": "hour"`, `"frequency": "minute", "interval": 59`, 5},
		{"Standard", `"frequency": "minute"`, `"frequency": "second", "interval": 59`, 50},
	} {
		c := managed + "/" + plan.name
		w.must("PUT", c+version, `{"properties": {"sku": {"name": "`+strings.ToLower(plan.name)+`"}}}`)
		w.steps([]step{
			{"GET", c + version, "", `200 {"sku":{"name":"` + plan.name + `"},"state":"Enabled"}`},
			{"PUT", c + "/jobs/recurring" + version, recurring(plan.tooOften), `409 "code":"Conflict"|quota of collection ` + plan.name + ` (maxRecurrence)`},
			{"PUT", c + "/jobs/recurring" + version, recurring(plan.often), `201`},
		})
		for i := 1; i < plan.jobs; i++ {
			w.must("PUT", fmt.Sprintf("%s/jobs/j%d%s", c, i, version), later)
		}
		w.steps([]step{
			{"PUT", c + "/jobs/more" + version, later, `409 "Conflict"|its quota (maxJobCount) is ` + itoa(plan.jobs)},
			{"PUT", c + "/jobs/j1" + version, later, `200`},
			{"PATCH", c + version, `{"properties": {"quota": {"maxJobCount": 51}}}`, `200`},
			{"PUT", c + "/jobs/more" + version, later, `201`},
		})
	}
	w.steps([]step{
		{"PUT", managed + "/Free/jobs/j1" + version, authenticating, `409 action.request.authentication: the plan Free`},
		{"PUT", managed + "/Standard/jobs/j1" + version, authenticating, `200`},
		{"PUT", "/jobCollections/none", "", `201`},
		{"PUT", "/jobCollections/none/jobs/j", recurring(`"frequency": "second"`), `201`},
	})
}

// TestQuotaBelowWhatIsThere: a quota may be less than what the collection has. It takes nothing away, and lets nothing in.
func TestQuotaBelowWhatIsThere(t *testing.T) {
	w := azure(t)
	const c = managed + "/c"
	w.must("PUT", c+version, "")
	for i := range 3 {
		w.must("PUT", c+"/jobs/j"+itoa(i)+version, recurring(`"frequency": "minute"`))
	}
	w.steps([]step{
		{"PATCH", c + version, `{"properties": {"quota": {"maxJobCount": 1, "maxRecurrence": {"frequency": "hour"}}}}`, `200 "maxJobCount":1`},
		{"PUT", c + "/jobs/more" + version, later, `409 collection c is full, its quota (maxJobCount) is 1`},
		{"GET", c + "/jobs/j1" + version, "", `200 "state":"enabled"|"nextExecutionTime"`},
		{"PATCH", c + "/jobs/j1" + version, `{"properties": {"state": "Disabled"}}`, `200 "state":"disabled"`},
		{"PATCH", c + "/jobs/j1" + version, `{"properties": {"state": "Enabled", "description": "often"}}`, `200 "state":"enabled"`},
		{"PATCH", c + "/jobs/j1" + version, `{"properties": {"recurrence": {"interval": 2}}}`, `409 maxRecurrence`},
		{"PUT", c + "/jobs/j1" + version, later, `200`},
		{"POST", c + "/jobs/j2/run" + version, "", `200`},
		{"DELETE", c + "/jobs/j0" + version, "", `200`},
		{"DELETE", c + "/jobs/j1" + version, "", `200`},
		{"PUT", c + "/jobs/more" + version, later, `409 collection c is full`},
		{"DELETE", c + "/jobs/j2" + version, "", `200`},
		{"PUT", c + "/jobs/more" + version, later, `201`},
	})
}

// TestQuotaOfPremium: the largest plan has a thousand jobs, the smaller one as many as the standard plan.
func TestQuotaOfPremium(t *testing.T) {
	small := scheduler.Collection{Plan: scheduler.P10Premium}
	if q := small.Quota(); q.MaxJobCount != 50 || q.MaxRecurrence.Frequency != spec.Minute {
		t.Errorf("%+v", q)
	}
	c := scheduler.Collection{Plan: scheduler.P20Premium}
	if got := c.Quota().MaxJobCount; got != 1000 {
		t.Errorf("%d jobs", got)
	}
	c.MaxJobCount = 3
	if got := c.Quota().MaxJobCount; got != 3 {
		t.Errorf("%d jobs, where the collection says 3", got)
	}
}

// TestDowngrade: a collection becomes free only while it is within the plan, and the only free one of its subscription.
func TestDowngrade(t *testing.T) {
	w := azure(t)
	const c, free = managed + "/c" + version, `{"properties": {"sku": {"name": "Free"}}}`
	job := func(name string) string { return managed + "/c/jobs/" + name + version }
	w.steps([]step{
		{"PUT", c, `{"properties": {"sku": {"name": "Standard"}}}`, `201`},
		{"PUT", job("often"), recurring(`"frequency": "minute", "interval": 5`), `201`},
		{"PATCH", c, free, `409 collection c cannot have the plan Free|job often: |PT5M apart`},
		{"PUT", c, free, `409 job often: `},
		{"PUT", c + "&dryRun=true", free, `409 job often: `},
		{"DELETE", job("often"), "", `200`},
		{"PUT", job("secretive"), authenticating, `201`},
		{"PATCH", c, free, `409 job secretive: |action.request.authentication`},
		{"DELETE", job("secretive"), "", `200`},
		{"GET", c, "", `200 "sku":{"name":"Standard"}`},
	})
	for i := range 6 {
		w.must("PUT", job("j"+itoa(i)), later)
	}
	w.steps([]step{
		{"PATCH", c, free, `409 more jobs than the 5 of the plan`},
		{"DELETE", job("j0"), "", `200`},
		{"PUT", subscription + "/resourceGroups/other/providers/Microsoft.Scheduler/jobCollections/f" + version, free, `201`},
		{"PATCH", c, free, `409 its subscription has a free collection already`},
		{"PUT", managed + "/second" + version, free, `409 its subscription has a free collection already`},
		{"PUT", "/subscriptions/s2/resourceGroups/g/providers/Microsoft.Scheduler/jobCollections/f" + version, free, `201`},
		{"DELETE", subscription + "/resourceGroups/other/providers/Microsoft.Scheduler/jobCollections/f" + version, "", `200`},
		{"PATCH", c, free, `200 "sku":{"name":"Free"}`},
		{"PUT", c, free, `200 "sku":{"name":"Free"}`},
	})
}

// TestSuspended: a collection may be put suspended, as the official client of .NET does in its tests, and runs nothing then.
func TestSuspended(t *testing.T) {
	w := azure(t)
	const c, job = managed + "/c" + version, managed + "/c/jobs/j" + version
	w.steps([]step{
		{"PUT", c, `{"properties": {"state": "Suspended"}}`, `201 "state":"Suspended"`},
		{"PUT", job, later, `201 "waitsFor":"collection c, which is disabled"`},
		{"GET", c, "", `200 "state":"Suspended"`},
		{"GET", managed + version, "", `200 "state":"Suspended"`},
		{"PATCH", c, `{"properties": {"quota": {"maxJobCount": 2}}}`, `200 "state":"Suspended"`},
		{"PATCH", c, `{"properties": {"state": "Enabled"}}`, `200 "state":"Enabled"`},
	})
	if r := w.do("GET", job, ""); strings.Contains(r.body, "waitsFor") {
		t.Error(r.body)
	}
}

// TestManagedDisable: a disabled collection postpones its jobs and rewrites none: when it is enabled, those that were enabled go on.
func TestManagedDisable(t *testing.T) {
	w := azure(t)
	w.must("PUT", managed+"/c"+version, "")
	on, off := managed+"/c/jobs/on"+version, managed+"/c/jobs/off"+version
	w.must("PUT", on, later)
	w.must("PUT", off, strings.Replace(later, "{", `{"state": "disabled", `, 1))
	revision := must.Get(w.store.LastRevision(t.Context()))(t)
	w.steps([]step{
		{"POST", managed + "/c/disable" + version, "", `200`},
		{"GET", on, "", `200 "state":"enabled"|"waitsFor"`},
		{"GET", off, "", `200 "state":"disabled"`},
		{"POST", managed + "/c/enable" + version, "", `200`},
		{"GET", on, "", `200 "state":"enabled"|"nextExecutionTime":"2099`},
		{"GET", off, "", `200 "state":"disabled"`},
	})
	if after, err := w.store.LastRevision(t.Context()); err != nil || after != revision {
		t.Errorf("jobs were rewritten: revision %d, then %d, %v", revision, after, err)
	}
}
