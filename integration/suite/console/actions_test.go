package console

import (
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/integration/suite/console/tab"
)

// TestRunFromItsPage runs jobs from their pages, and sees there what became of them. A script of the command, examples.txtar,
// runs every type of action.
func TestRunFromItsPage(t *testing.T) {
	c := needed(t)
	page := open(t, c.stage.HTTP, tab.Look{})
	for _, row := range []struct{ job, outcome, told string }{
		{"template", "completed", "200"},
		{"service-bus-queue", "completed", "carillon-examples"},
		{"nats-request", "failed", "prices.refresh"},
	} {
		const byHand = "[...document.querySelectorAll('#job-history li')].find((e) => e.querySelector('summary').innerText.includes('manual'))"
		start(t, page, "/console/jobs/default/"+row.job)
		must(t, page.Await(byHand+"?.querySelector('summary').innerText.includes('"+row.outcome+"')"))
		must(t, page.Await("("+byHand+").querySelector('details').open = true"))
		must(t, page.Await("("+byHand+").innerText.includes('"+row.told+"')"))
	}
}

// start runs a job from its page. One that runs at the moment by its schedule cannot be run, which the page says: it is tried
// again then.
func start(t *testing.T, page *tab.Tab, at string) {
	t.Helper()
	page.Expect(409)
	for said := ""; !strings.Contains(said, "Started."); {
		must(t, page.Go(at), page.Click(`form[action$="/run"] button`), page.Await("document.querySelector('#note')?.innerText.trim()"))
		var err error
		if said, err = tab.Eval[string](page, "document.querySelector('#note').innerText"); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(said, "Started.") && !strings.Contains(said, "conflict") {
			t.Fatal(said)
		}
	}
}

// TestStorageQueues puts a message into a storage queue, puts back one that failed, deletes one, and clears the queue.
func TestStorageQueues(t *testing.T) {
	s := own(t)
	must(t, s.FillQueues(t.Context()))
	page := open(t, s.HTTP, tab.Look{})
	const letters = "/console/queues/storage?account=devstoreaccount1&queue=letters"
	must(t, page.Go(letters+"-poison"), page.Text("#messages", `"letter":1`), page.Click("#messages tbody tr:first-child form[action$='/move'] button"))
	must(t, page.Text("#note", "The message is now in letters."))
	must(t, page.Go(letters), page.Click("a.button.main"), page.Text("h1", "Send a message to letters"))
	must(t, page.Fill("#text", "typed by hand"), page.Click("main form button.main"), page.Text("#note", "The message was sent to letters."))
	must(t, page.Text("#messages", "typed by hand"), page.Fill("#q", "typed"), page.Await("document.querySelectorAll('#messages [data-line]').length === 1"))
	must(t, page.Click("#messages [data-line] a"), page.Text("#body", "typed by hand"))
	accessible(t, page, "a message of a storage queue")
	must(t, page.Click("[data-dialog=delete]"), page.Click("#delete button.danger"), page.Text("#note", "The message is deleted."))
	must(t, page.Go(letters), page.Click("a[href*='/clear']"), page.Click("main button.danger"), page.Text("#note", "deleted"))
	must(t, page.Text("#messages", "No"), page.Await("document.querySelectorAll('#messages [data-line]').length === 0"))
}

// TestPurge puts all dead letters back, and purges the queue.
func TestPurge(t *testing.T) {
	s := own(t)
	must(t, s.FillQueues(t.Context()))
	page := open(t, s.HTTP, tab.Look{})
	const checkout = "/console/queues/entity?at=checkout"
	must(t, page.Go(checkout+"&part=dead"), page.Text("#messages", "CustomerUnknown"))
	must(t, page.Click("#messages a[href*='/resubmit']"), page.Click("main form button[class]"), page.Text("#note", "8"))
	must(t, page.Go(checkout+"&part=dead"), page.Await("document.querySelectorAll('#messages [data-line]').length === 0"))
	must(t, page.Go(checkout), page.Click("#messages a[href*='/purge']"), page.Text("main", "58"), page.Click("main button.danger"))
	must(t, page.Text("#note", "58 messages are deleted"), page.Await("document.querySelectorAll('#messages [data-line]').length === 0"))
}

// TestManyLabelled gives jobs a label, finds them by it, and runs them.
func TestManyLabelled(t *testing.T) {
	s := own(t)
	for _, name := range []string{"apple", "banana", "cherry"} {
		job := quiet("enabled")
		job["action"] = map[string]any{"type": "http", "request": map[string]any{"method": "GET", "uri": s.HTTP + "/echo"}}
		must(t, s.Put(t.Context(), "default", name, job))
	}
	page := open(t, s.HTTP, tab.Look{})
	tick := func() {
		t.Helper()
		must(t, page.Click("input[value='default/apple']"), page.Click("input[value='default/cherry']"), page.Text(".picked", "2 selected"))
	}
	must(t, page.Go("/console/jobs"), page.Await(shownJobs+" === 'default/apple default/banana default/cherry'"))
	tick()
	must(t, page.Fill("#tag", "team=billing"), page.Click("button[value=label]"), page.Text("h1", "2 jobs"))
	accessible(t, page, "what is confirmed")
	must(t, page.Click("form[action$=start] button"), page.Text("#progress", "Finished"))
	accessible(t, page, "what was done")
	must(t, page.Go("/console/jobs?label=team%3Dbilling"), page.Await(shownJobs+" === 'default/apple default/cherry'"))
	tick()
	must(t, page.Click("button[value=run]"), page.Text("h1", "Run now: 2 jobs"), page.Click("form[action$=start] button"), page.Text("#progress", "Finished"))
	must(t, page.Go("/console/jobs?sort=last&order=descending"))
	for _, name := range []string{"apple", "cherry"} {
		must(t, page.Text("[id='job-default.apple'] [data-live=last]", "completed"), page.Text("[id='job-default."+name+"'] [data-live=last]", "completed"))
	}
	must(t, page.Text("[id='job-default.banana'] [data-live=last]", "never"))
}
