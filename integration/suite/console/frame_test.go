package console

import (
	"testing"

	"github.com/carillon-sched/carillon/integration/suite/console/tab"
)

// TestSaid has a script say something while the page is scrolled: it is in sight, what has the focus is not below it, and it
// goes back to its place by itself. What is bad stays until something else is said.
func TestSaid(t *testing.T) {
	c := needed(t)
	const (
		seen  = "(() => { const r = document.getElementById('note').getBoundingClientRect(); return r.top >= 0 && r.bottom < 200; })()"
		apart = "document.activeElement.getBoundingClientRect().top >= document.getElementById('note').getBoundingClientRect().bottom"
		focus = "(() => { const b = document.querySelectorAll('[name=job]')[20]; b.focus(); scrollBy(0, b.getBoundingClientRect().top - 2); " +
			"return scrollY > 300 && document.activeElement === b; })()"
	)
	for _, look := range []tab.Look{tab.Looks[0], tab.Looks[2]} {
		page := open(t, c.stage.HTTP, look)
		must(t,
			page.Go("/console/jobs"), page.Await(focus),
			page.Await("(carillon.say('Started.'), true)"), page.Text("#note", "Started."), page.Await(seen), page.Await(apart),
			page.Await("!document.getElementById('note').classList.contains('told')"),
			page.Await("(carillon.say('The connection is lost.', true), true)"), page.Await(seen), page.Await(apart),
			page.Await("(carillon.say(''), document.documentElement.style.getPropertyValue('--told') === '0px')"),
		)
	}
}

// TestFirstPage opens a page in a browser that has never been here: its times are on the browser's clock, also those that the
// server writes.
func TestFirstPage(t *testing.T) {
	c := needed(t)
	page := open(t, c.stage.HTTP, tab.Look{Zone: "America/New_York", Fresh: true})
	must(t, page.Go("/console/jobs/partners/nightly"), page.Text("#job-next", "Your time zone (America/New_York)"),
		page.Await("document.body.dataset.clock === 'America/New_York'"))
}
