package console

import (
	"fmt"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/suite/console/stage"
	"github.com/carillon-sched/carillon/integration/suite/console/tab"
)

// herd puts jobs that all run at the same minute of the day.
func herd(t *testing.T, s *stage.Stage, n int) {
	t.Helper()
	for i := range n {
		must(t, s.Put(t.Context(), "default", fmt.Sprintf("herd-%02d", i), map[string]any{
			"recurrence": map[string]any{"cron": "0 9 * * *"},
			"action":     map[string]any{"type": "http", "request": map[string]any{"method": "GET", "uri": s.HTTP + "/echo/herd"}},
		}))
	}
}

// TestLoadProposals chooses all proposals, looks at their dry run, carries them out, and counts again, by keys where keys do.
func TestLoadProposals(t *testing.T) {
	s := own(t)
	herd(t, s, 30)
	page := open(t, s.HTTP, tab.Look{})
	peak := func() int {
		t.Helper()
		const rows = "[...document.querySelectorAll('#report table tbody th[scope=row]')].map((e) => Number(e.parentElement.cells[2].textContent))"
		must(t, page.Await("(window.peak = Math.max(..."+rows+")) > 0")) // while it is counted there are none
		n, err := tab.Eval[int](page, "window.peak")
		must(t, err)
		return n
	}
	must(t, page.Go("/console/load"), page.Await("document.querySelector('svg.heat')"))
	before := peak()
	must(t, page.Click("[data-all]"), page.Await("document.querySelectorAll('input[name=pick]:checked').length > 10"),
		page.Click("form[action='/console/load/review'] button.main"), page.Text("h1", "dry run"), page.Text("main", "H 9 * * *"))
	accessible(t, page, "a dry run")
	must(t,
		page.Click("form[action='/console/load/apply'] button.main"), page.Text("h1", "results"), page.Click("main form .buttons a"),
		page.Await("document.querySelector('svg.heat')"))
	if after := peak(); before != 30 || after >= before/2 {
		t.Errorf("the peak was %d, and is %d", before, after)
	}
}

// TestCalendarLeads goes from the week to a day and to the next one, and follows the form as it is filled in.
func TestCalendarLeads(t *testing.T) {
	s := own(t)
	herd(t, s, 3)
	page := open(t, s.HTTP, tab.Look{Zone: "Asia/Calcutta"})
	week := time.Now().AddDate(0, 0, 7).Format(time.DateOnly) // the next one: of this one everything may be over
	must(t, page.Go("/console/calendar?view=week&date="+week), page.Await("document.querySelector('table.week')"),
		page.Await("document.querySelector('table.week').innerText.includes('14:00')"))
	// 9:00 UTC is 14:30 in India, also on the first page that the browser asks for.
	must(t, page.Await("[...document.querySelectorAll('table.week tbody tr')].find((r) => r.cells[0].innerText === '14:00').innerText.includes('3')"))
	must(t, page.Click("table.week thead th:last-child a"), page.Await("document.querySelector('table.day')"), page.Text("#h1400", "14:30 default/herd-00"),
		page.Click("a[rel=next]"), page.Text("#h1400", "14:30 default/herd-02"))
	must(t, page.Fill("#zone", "UTC"), page.Text("#h0900", "09:00 default/herd-00"), page.Await("location.search.includes('zone=UTC')"),
		page.Fill("#job", "herd-01"), page.Press("\r"), page.Await("!document.querySelector('#h0900').innerText.includes('herd-00')"), page.Text("#h0900", "herd-01"))
}
