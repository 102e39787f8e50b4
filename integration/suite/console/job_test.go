package console

import (
	"fmt"
	"testing"

	"github.com/carillon-sched/carillon/integration/suite/console/stage"
	"github.com/carillon-sched/carillon/integration/suite/console/tab"
)

// aJob puts a job that runs by hand alone, and opens its page. What it calls answers when it is let to.
func aJob(t *testing.T) (s *stage.Stage, page *tab.Tab, let func()) {
	t.Helper()
	s = own(t)
	url, let := gate(t)
	must(t, s.Put(t.Context(), "default", "report", map[string]any{
		"startTime": "2030-01-01T00:00:00Z", "timeZone": "Europe/Berlin", "recurrence": map[string]any{"cron": "30 2 * * *"},
		"action": map[string]any{
			"type": "http", "request": map[string]any{"method": "POST", "uri": url},
			"retryPolicy": map[string]any{"retryType": "none"},
		},
	}))
	page = open(t, s.HTTP, tab.Look{})
	must(t, page.Go("/console/jobs/default/report"))
	return s, page, let
}

// TestJobRuns runs a job from its page: that it runs, and what became of it, appear without anything else being done. So does
// what others do with it.
func TestJobRuns(t *testing.T) {
	s, page, let := aJob(t)
	must(t,
		page.Text("#job-status", "Waits for its next run"),
		page.Click(`form[action$="/run"] button`),
		page.Text("#note", "Started."),
		page.Text("#job-status", "Running"),
	)
	let()
	must(t,
		page.Text("#job-history", "completed"),
		page.Text("#job-timeline-text", "1 completed"),
		page.Text("#job-status", "Waits for its next run"),
	)
	api(t, s, "POST", "/jobCollections/default/jobs/report/disable", map[string]any{})
	must(t,
		page.Text("#job-status", "Disabled. Due runs are skipped"),
		page.Text("#job-next", "If the job were enabled"),
		page.Click(`form[action$="/enable"] button`),
		page.Text("#job-status", "Waits for its next run"),
		page.Click("#job-pause summary"),
		page.Click(`#job-pause button[value="1h"]`),
		page.Text("#job-status", "Paused until"),
		page.Await("!document.querySelector('#job-pause').open"),
		page.Click(`form[action$="/resume"] button`),
		page.Text("#job-status", "Waits for its next run"),
		page.Click("#job-more summary"),
		page.Click(`form[action$="/disable"] button`),
		page.Text("#note", "Disabled."),
		page.Text("#job-status", "Disabled. Due runs are skipped"),
		page.Await("!document.querySelector('#job-more').open && document.querySelector('.t-change')"),
	)
	accessible(t, page, "a job whose edits are marks in its timeline")
	must(t, page.Click("#job-more summary"))
	accessible(t, page, "the menu of a job")
}

// TestJobComesBack runs a job while its page is hidden: what became of it is told when it is looked at again, and the events
// go on where they were.
func TestJobComesBack(t *testing.T) {
	s, page, let := aJob(t)
	let()
	run := func() {
		api(t, s, "POST", "/jobCollections/default/jobs/report/run", map[string]any{})
	}
	run()
	must(t, page.Text("#job-timeline-text", "1 completed"), page.Text("#job-history", "completed"))
	_, err := tab.Eval[bool](page, `(() => {
		const Before = window.EventSource;
		window.EventSource = class extends Before { constructor(url) { super(url); window.asked = new URL(url).searchParams.get('after'); } };
		return true;
	})()`)
	must(t, err)
	for range 2 {
		last := recorded(t, s, 1, 1<<30)[0]
		hide(t, page, true)
		run()
		must(t, s.Await(t.Context(), func() bool { return recorded(t, s, 1, 1<<30)[0] > last }))
		hide(t, page, false)
		must(t, page.Await(fmt.Sprintf("window.asked === '%d'", last)))
		must(t, page.Await("document.querySelectorAll('#job-history .runs > li').length === document.querySelectorAll('#job-timeline .t-completed').length - 1"))
		must(t, page.Await(fmt.Sprintf("document.querySelectorAll('#job-history .runs > li').length === %d", len(recorded(t, s, 1, 1<<30)))))
	}
}

// TestJobAsked asks everything that the page of a job has fields for, without leaving it.
func TestJobAsked(t *testing.T) {
	_, page, _ := aJob(t)
	must(t,
		page.Fill("#job-at", "-2h"),
		page.Press("\r"),
		page.Text("#job-answer", "did not exist yet"),
		page.Fill("#job-at", "soon"),
		page.Press("\r"),
		page.Text("#job-answer", "soon"),
		page.Fill("#job-text", "status eq failed"),
		page.Text("#job-history", "No matching records"),
		page.Await("location.search.includes('status')"),
		page.Fill("#job-text", "nonsense"),
		page.Text("#job-history", "is not of the form"),
		page.Click("#job-next a[data-into]"),
		page.Await("document.querySelectorAll('#job-next tbody tr:not(.change)').length === 100"),
		page.Await("document.querySelectorAll('#job-next tr.change').length > 0"),
	)
}

// TestJobByKeys goes through the history of a job without a pointer.
func TestJobByKeys(t *testing.T) {
	_, page, let := aJob(t)
	let()
	must(t,
		page.Click(`form[action$="/run"] button`),
		page.Text("#job-history", "completed"),
		page.Await("document.activeElement.blur() === undefined"),
		page.Press("j"),
		page.Await("document.activeElement.tagName === 'SUMMARY'"),
		page.Press("\r"),
		page.Await("document.querySelector('#job-history details').open"),
		page.Text("#job-history details", "Attempt 1"),
		page.Press("/"),
		page.Await("document.activeElement.id === 'job-text'"),
	)
}

// TestJobCopied shows what is to be copied, and deletes the job after it has asked.
func TestJobCopied(t *testing.T) {
	s, page, _ := aJob(t)
	must(t,
		page.Click("#job-more summary"),
		page.Click("[data-dialog=job-copy]"),
		page.Text("#job-copies", "carillon apply --server"),
		page.Text("#job-copies", "nats pub --force-stdin"),
	)
	accessible(t, page, "what is to be copied")
	must(t,
		page.Press("\u001b"),
		page.Await("!document.querySelector('#job-copy').open"),
		page.Click("[data-dialog=job-delete]"),
		page.Await("document.querySelector('#job-delete').open"),
		page.Click("#job-delete [data-close]"),
		page.Await("!document.querySelector('#job-delete').open"),
	)
	other := open(t, s.HTTP, tab.Look{})
	other.Expect(404) // what it asks for of a job that has gone
	must(t, other.Go("/console/jobs/default/report"), other.Text("#job-status", "Waits for its next run"))
	must(t,
		page.Click(`form[action$="/disable"] button`), // which makes it another one than the page began with
		page.Text("#job-status", "Disabled. Due runs are skipped"),
		page.Click("#job-more summary"),
		page.Click("[data-dialog=job-delete]"),
		page.Click("#job-delete button"),
		page.Await("location.pathname === '/console/jobs'"),
		other.Text("#note", "This job was deleted."),
	)
}

// TestRunPage reruns a failed run from its page: the rerun appears before it has ended. The timeline has every step, and the
// last success is a link.
func TestRunPage(t *testing.T) {
	_, page, let := aJob(t)
	must(t, page.Click(`form[action$="/run"] button`), page.Text("#job-status", "Running"),
		page.Click("#job-cancel summary"), page.Click("#job-cancel button"), page.Text("#job-history", "canceled"))
	at, err := tab.Eval[string](page, "document.querySelector('#job-history a[href*=\"/runs/\"]').getAttribute('href')")
	must(t, err, page.Go(at), page.Text(".steps", "Attempt 1"), page.Text("main", "No success in the kept history"))
	accessible(t, page, "a run")
	must(t, page.Click(`form[action$="/resubmit"] button`), page.Text("#note", "Started again."),
		page.Text("#job-occurrence .beside", "running"))
	let()
	must(t, page.Text("#job-occurrence .runs", "completed"), page.Await("!document.querySelector('#job-occurrence .beside')"),
		page.Text("main", "Last success"))
}
