package console

import (
	"testing"

	"github.com/carillon-sched/carillon/integration/suite/console/tab"
)

// TestOverviewLives runs a job while somebody looks at the first page: that it runs, and that it has run, appear without
// anything being done, and what was opened stays open.
func TestOverviewLives(t *testing.T) {
	s := own(t)
	page := open(t, s.HTTP, tab.Look{})
	must(t,
		page.Go("/"),
		page.Text("#running", "No attempts are running"),
		page.Text("#replicas", "carillon-embedded"),
		page.Text("#audit", "There were no jobs to check"),
		page.Click("main section > details summary"),
		page.Text("#figures", "No runs in this period"),
	)
	url, let := gate(t)
	must(t, s.Put(t.Context(), "default", "slow", map[string]any{
		"action": map[string]any{
			"type": "http", "request": map[string]any{"method": "GET", "uri": url},
			"retryPolicy": map[string]any{"retryType": "none"},
		},
	}))
	must(t, s.Put(t.Context(), "default", "failing", map[string]any{
		"action": map[string]any{
			"type": "http", "request": map[string]any{"method": "GET", "uri": s.HTTP + "/echo/status/500"},
			"retryPolicy": map[string]any{"retryType": "none"},
		},
	}))
	must(t,
		page.Text("#running", "default/slow"),
		page.Text("#targets", "failing"),
	)
	let()
	must(t,
		page.Text("#running", "No attempts are running"),
		page.Await("document.querySelector('.card.bad .value')?.textContent === '1'"),
		page.Text("#runs", "1 completed, 1 faulted"),
		page.Text("#failures", "default/failing"),
		page.Text("#failures .why", "500 Internal Server Error"),
		page.Await("document.querySelectorAll('#runs .bar-completed').length > 0 && document.querySelectorAll('#runs .bar-failed').length > 0"),
		page.Await("document.querySelectorAll('#lateness .line-most').length === 1"),
		page.Text("#figures", "Failed attempts"),
		page.Await("document.querySelector('main section > details').open"),
	)
	must(t,
		page.Click("#failures .why"), // leads to the run
		page.Text("main", "500 Internal Server Error"),
		page.Await("location.pathname.startsWith('/console/jobs/default/failing/runs/')"),
		page.Go("/"),
		page.Click("#failures a[href^='/console/failures/']"), // leads to the group
		page.Text("main", "Pause jobs…"),
	)
	accessible(t, page, "a failure group")
	must(t,
		page.Click("#facts a[href^='/console/targets/']"),
		page.Text("#now", "failing"),
		page.Text("main", "default/failing"),
	)
	accessible(t, page, "a target")
	must(t,
		page.Click("main a[href^='/console/jobs?target=']"),
		page.Text("#found tbody", "failing"),
		page.Go("/"),
		page.Click("nav a[href='/?since=24h']"),
		page.Await("location.search === '?since=24h' && document.querySelectorAll('#runs .chart-slot').length === 144"),
		page.Drag("#runs .chart-plot", 0.5, 0.75), // zooms in: from 12 to 6 hours ago
		page.Await("document.querySelectorAll('#runs .chart-slot').length === 72 && document.querySelectorAll('[data-since][aria-current]').length === 0"),
		page.Await("new Date(Date.parse(new URLSearchParams(location.search).get('until')) - 6 * 3600e3).getTime() === Date.parse(new URLSearchParams(location.search).get('since'))"),
		page.Click(".top nav a[href^='/console/live?since=']"), // the next page has the same range
		page.Await("location.pathname === '/console/live' && new URLSearchParams(location.search).has('until')"),
		page.Text("main", "No matching records"),
		page.Click("nav a[data-since='1h']"),
		page.Text("#attempts", "failing"),
		page.Click(".range summary"),
		page.Fill("#range-since", "2h"),
		page.Press("\r"),
		page.Await("location.search === '?since=2h'"),
	)
}
