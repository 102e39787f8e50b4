package console

import (
	"testing"

	"github.com/carillon-sched/carillon/integration/suite/console/tab"
)

// TestQueues sends a message, finds it, and deletes it: with the pages alone, which follow what happens.
func TestQueues(t *testing.T) {
	c := needed(t)
	page, other := open(t, c.stage.HTTP, tab.Look{}), open(t, c.stage.HTTP, tab.Look{})
	must(t, other.Go("/console/queues"), other.Text("#lists", "checkout"))
	must(t, page.Go("/console/queues/send?at=bodies"), page.Fill("#f-body", `{"sent":"by hand"}`), page.Fill("#f-subject", "from the form"))
	must(t, page.Click("[data-add-row]"), page.Await("document.querySelectorAll('[data-rows] tr').length === 4"))
	must(t, page.Fill("[data-rows] tr:last-child [name=pname]", "side"), page.Fill("[data-rows] tr:last-child [name=pvalue]", "north"))
	must(t, page.Click("form button.main"), page.Text("#note", "The message was sent to bodies."), page.Text("#messages", "by hand"))
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
	must(t, page.Text("#note", "Message 8 is resubmitted."), page.Await("!document.getElementById('m-8')"))
	must(t, page.Go("/console/queues/entity?at=checkout&q=mended"), page.Text("#messages", "order-7"))
	must(t, page.Go("/console/queues/rules?at=events"), page.Fill("#f-subject", "x"), page.Click("form[method=post] button.main"))
	must(t, page.Text("main", "One subscription would receive it."), page.Text("main", "The rule matches every message."))
}

// TestMarkedMessages resubmits dead letters that were ticked with keys alone.
func TestMarkedMessages(t *testing.T) {
	c := needed(t)
	page := open(t, c.stage.HTTP, tab.Look{})
	must(t, page.Go("/console/queues/entity?at=checkout&part=dead"), page.Text("#messages", "CustomerUnknown"))
	must(t, page.Press("k"), page.Press("k"), page.Press("x"), page.Press("k"), page.Press("x"))
	must(t, page.Await("document.querySelectorAll('input[name=n]:checked').length === 2"))
	must(t, page.Click(`[formaction="/console/queues/resubmit"]`), page.Text("main", "Resubmit 2 selected dead letters of checkout?"))
	must(t, page.Click("form button[class=main]"), page.Text("#note", "2 messages are resubmitted."))
}

// TestMarkedStoreMessages selects all messages of a storage queue, and moves them back; what can be done stays in view.
func TestMarkedStoreMessages(t *testing.T) {
	c := needed(t)
	page := open(t, c.stage.HTTP, tab.Look{Width: 360})
	for _, name := range []string{"picked", "picked-poison"} {
		must(t, page.Go("/console/queues/storage/new"), page.Fill("#s-name", name), page.Click("form button.main"), page.Text("#note", name+" is created."))
	}
	for range 3 {
		must(t, page.Click("a.button.main"), page.Fill("#text", "failed"), page.Click("main form button.main"), page.Text("#messages", "failed"))
	}
	must(t, page.Click("#messages [data-line]:last-child input[form=marked]"), page.Text("#marked output", "1 selected"))
	must(t, page.Await("getComputedStyle(document.querySelector('#marked')).position === 'sticky'"))
	must(t, page.Press("j"), page.Press("x"), page.Text("#marked output", "2 selected")) // keys go on where a pointer began
	must(t, page.Await("document.querySelector('#marked [data-all]').indeterminate"), page.Click("#marked [data-all]"))
	must(t, page.Text("#marked output", "3 selected"), page.Click("#marked [formaction$='/move']"))
	must(t, page.Text("main", "Move 3 selected messages of picked-poison?"), page.Await("document.querySelector('#to').value === 'picked'"))
	must(t, page.Click("main form button.main"), page.Text("#note", "3 messages are now in picked."))
	must(t, page.Go("/console/queues/storage/drop?account=devstoreaccount1&queue=picked"), page.Text("main", "with its 3 messages"))
	must(t, page.Click("main form button.danger"), page.Text("#note", "picked is deleted."))
	must(t, page.Go("/console/queues/storage/drop?account=devstoreaccount1&queue=picked-poison"), page.Click("main form button.danger"))
}

// TestManageQueues makes a topic, a subscription and a rule, looks whether a message passes, and removes all of it.
func TestManageQueues(t *testing.T) {
	c := needed(t)
	page := open(t, c.stage.HTTP, tab.Look{Width: 360})
	must(t, page.Go("/console/queues"), page.Click(`a[href="/console/queues/new?kind=topic"]`), page.Text("h1", "New topic"))
	must(t, page.Fill("#s-name", "browsed"), page.Fill("#s-ttl", "1d"), page.Click("form button.main"), page.Text("#note", "browsed is created."))
	must(t, page.Click(`a[href^="/console/queues/new?kind=subscription"]`), page.Fill("#s-name", "mine"), page.Click("form button.main"))
	must(t, page.Text("#note", "browsed/Subscriptions/mine is created."))
	must(t, page.Go("/console/queues/rule?at=browsed/Subscriptions/mine&name=$Default"))
	must(t, page.Await("document.querySelector('#r-sql').offsetParent === null")) // all messages: there is nothing to write
	must(t, page.Click("input[value=sql]"), page.Await("document.querySelector('#r-sql').offsetParent !== null"))
	must(t, page.Fill("#r-sql", "price > 10"), page.Click("form button.main"), page.Text("#note", "Rule $Default is saved."))
	must(t, page.Fill("[data-rows] [name=pname]", "price"), page.Fill("[data-rows] [name=pvalue]", "12"))
	must(t, page.Click("section form[method=post] button.main"), page.Text("main", "It does not pass."), page.Text("main", "price is 12 (string)"))
	must(t, page.Go("/console/queues/drop?at=browsed"), page.Click("form button.danger"), page.Text("#note", "browsed is deleted."))
}
