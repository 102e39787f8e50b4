package rest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/scheduler/forecast"
)

// foreseen asks for a forecast.
func (w *harness) foreseen(query string) (r forecast.Report) {
	w.t.Helper()
	res := w.do(http.MethodGet, "/forecast"+query, "")
	if err := json.Unmarshal([]byte(res.body), &r); err != nil || res.status != http.StatusOK {
		w.t.Fatalf("%s: %d %s", query, res.status, res.body)
	}
	return r
}

// TestForecast foresees a herd. Package forecast tests that what it proposes lowers the peak.
func TestForecast(t *testing.T) {
	w := newHarness(t)
	w.must(http.MethodPut, "/jobCollections/other", "{}")
	const jobs = 60
	for i := range jobs {
		schedule := `"recurrence": {"cron": "0 9 * * *"}`
		if i%2 == 0 {
			schedule = `"startTime": "2026-01-01T09:00:00Z", "recurrence": {"frequency": "Day"}`
		}
		w.must(http.MethodPut, fmt.Sprintf("/jobCollections/default/jobs/job-%d", i), `{`+schedule+`,
			"action": {"type": "Http", "request": {"uri": "https://target.example/", "method": "GET"}}}`)
	}
	w.must(http.MethodPut, "/jobCollections/other/jobs/off", strings.Replace(later, "{", `{"state": "disabled",`, 1))
	w.must(http.MethodPut, "/jobCollections/other/jobs/counted", `{"startTime": "2099-03-02T09:30:00Z", "recurrence": {"frequency": "Minute", "count": 3},
		"action": {"type": "Http", "request": {"uri": "https://other.example:8443/", "method": "GET"}}}`)
	const query = "?hours=24&from=2099-03-02T00:00Z&proposals=500"
	r := w.foreseen(query)
	if r.Peak != jobs || r.Runs != jobs+3 || r.PerMinute[9*60] != jobs || r.PerMinute[9*60+32] != 1 || r.LeftOut.Disabled != 1 || len(r.Targets) != 2 ||
		r.Targets[1].Target != "other.example:8443" || len(r.Proposals) < jobs/2 || r.PeakAfter > jobs/3 {
		t.Fatalf("%+v", r)
	}
	if only := w.foreseen(query + "&collection=other"); only.Runs != 3 {
		t.Errorf("of one collection: %+v", only)
	}
	w.must(http.MethodPost, "/jobCollections/other/disable", "")
	if r := w.foreseen(query + "&collection=other"); r.Runs != 0 || r.LeftOut.Closed != 2 {
		t.Errorf("of a collection that is disabled: %+v", r.LeftOut)
	}
	w.steps([]step{
		{"GET", "/forecast?hours=0&from=soon&proposals=10001", "", `400 "path":"hours"|"path":"from"|"path":"proposals"`},
		{"GET", "/forecast?from=2020-01-01", "", `400 is in the past`},
		{"GET", "/forecast?from=9999-01-01", "", `400 years away`},
		{"GET", "/forecast?collection=none", "", `404 "ResourceNotFound"`},
		{"GET", "/forecast?collection=1st", "", `400 "path":"collection"`},
	})
}
