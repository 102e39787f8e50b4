package console

import (
	"testing"

	"github.com/carillon-sched/carillon/integration/console/tab"
)

// TestQueues sends a message, finds it, and deletes it: with the pages alone, which follow what happens.
func TestQueues(t *testing.T) {
	c := needed(t)
	page, other := open(t, c.stage.HTTP, tab.Look{}), open(t, c.stage.HTTP, tab.Look{})
	must(t, other.Go("/console/queues"), other.Text("#lists", "checkout"))
	must(t, page.Go("/console/queues/send?at=bodies"), page.Fill("#f-body", `{"sent":"by hand"}`), page.Fill("#f-subject", "from the form"))
	must(t, page.Click("[data-add-row]"), page.Await("document.querySelectorAll('[data-rows] tr').length === 4"))
	must(t, page.Fill("[data-rows] tr:last-child [name=pname]", "side"), page.Fill("[data-rows] tr:last-child [name=pvalue]", "north"))
	must(t, page.Click("form button.main"), page.Text("#note", "The message is in bodies."), page.Text("#messages", "by hand"))
	must(t, other.Await(`document.getElementById('e-bodies').querySelector('td.number').textContent === '4'`))

	must(t, page.Fill("#q", "BY HAND"), page.Await("document.querySelectorAll('#messages [data-line]').length === 1"))
	must(t, page.Await("location.search.includes('q=BY')"), page.Press("\u001b"), page.Press("j"), page.Press("\r"))
	must(t, page.Text("h1", "Message 4 of bodies"), page.Text("#body", `"sent": "by hand"`), page.Text("main", "side"))
	must(t, page.Click(`#body nav a[href*="view=hex"]`), page.Text("#body-text", "00000000"), page.Await("location.search.includes('view=hex')"))
	must(t, page.Click("[data-dialog=delete]"), page.Await("document.querySelector('#delete').open"))
	must(t, page.Click("#delete button.danger"), page.Text("#note", "Message 4 is deleted."))
	must(t, other.Await(`document.getElementById('e-bodies').querySelector('td.number').textContent === '3'`))
}

// TestDeadLetters resubmits a dead letter that was edited, and asks the rules of a topic about one.
func TestDeadLetters(t *testing.T) {
	c := needed(t)
	page := open(t, c.stage.HTTP, tab.Look{})
	must(t, page.Go("/console/queues/entity?at=checkout&part=dead"), page.Text("#messages", "CustomerUnknown"))
	must(t, page.Go("/console/queues/resubmit?at=checkout&part=dead&n=8"), page.Fill("#f-body", "mended"), page.Click("form button.main"))
	must(t, page.Text("#note", "Message 8 is back."), page.Await("!document.getElementById('m-8')"))
	must(t, page.Go("/console/queues/entity?at=checkout&q=mended"), page.Text("#messages", "order-7"))
	must(t, page.Go("/console/queues/rules?at=events"), page.Fill("#f-subject", "x"), page.Click("form[method=post] button.main"))
	must(t, page.Text("main", "One subscription would get it."), page.Text("main", "The rule takes every message."))
}
