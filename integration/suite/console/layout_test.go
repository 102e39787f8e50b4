package console

import (
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/integration/suite/console/tab"
)

// wideLook is the window of an operator.
var wideLook = tab.Look{Width: 1440, Height: 900}

// TestLayout measures pages in a wide window: nothing is clipped, the table of jobs has a line of 36 pixels for each job, and
// links are underlined where they are pointed at.
func TestLayout(t *testing.T) {
	page := open(t, needed(t).stage.HTTP, wideLook)
	for _, path := range []string{"/", "/console/load?wait=true", "/console/queues", "/console/collections"} {
		must(t, page.Go(path))
		const clipped = "[...document.querySelectorAll('.scroll')].filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.innerText).join()"
		if got, err := tab.Eval[string](page, clipped); err != nil || got != "" {
			t.Errorf("%s: clipped is %.300s (%v)", path, got, err)
		}
	}
	must(t, page.Go("/console/jobs"))
	wide(t, page, wideLook, "the jobs")
	const odd = `[...document.querySelectorAll('table.jobs tbody tr')].filter((r) => !r.querySelector('.labels') &&
		Math.abs(r.getBoundingClientRect().height - 36) > 0.5).map((r) => r.getBoundingClientRect().height + ' ' + r.innerText).join()`
	if got, err := tab.Eval[string](page, odd); err != nil || got != "" {
		t.Errorf("rows of another height: %s (%v)", got, err)
	}
	const link = "document.querySelector('table.jobs td.name a')"
	const style = "getComputedStyle(" + link + ").textDecorationLine + ' ' + getComputedStyle(" + link + ").fontSize"
	if got, err := tab.Eval[string](page, style); err != nil || got != "none 13px" {
		t.Errorf("a link is %s (%v)", got, err)
	}
	must(t, page.Point("table.jobs td.name a"), page.Await(style+" === 'underline 13px'"))
	const at = "((s) => { const r = document.querySelector(s).getBoundingClientRect(); return document.elementFromPoint(r.right - 2, r.top + 4); })"
	must(t, page.Await(at+"('table.jobs td.when').matches('a.stretch')"), page.Await(at+"('table.jobs td.pick').matches('td')"))
	must(t, page.Go("/"), page.Await(at+"('.cards .card').matches('a.stretch')"))
}

// TestPhone shows the menu in one row, with the item of the page in view.
func TestPhone(t *testing.T) {
	page := open(t, needed(t).stage.HTTP, tab.Look{Width: 360})
	const row = `(() => {
		const menu = document.querySelector('.top nav').getBoundingClientRect();
		const item = document.querySelector('.top nav [aria-current]').getBoundingClientRect();
		return menu.height < 2 * item.height && item.left >= 0 && item.right <= innerWidth;
	})()`
	for _, path := range []string{"/", "/console/load", "/console/queues"} {
		must(t, page.Go(path), page.Await(row))
	}
	accessible(t, page, "/console/queues")
}

// TestNothingYet shows a console without jobs: what to do first is apart from the figures, and commands are as large as other code.
// Then its first job is paused, as all pages say.
func TestNothingYet(t *testing.T) {
	s := own(t)
	page := open(t, s.HTTP, wideLook)
	must(t, page.Go("/"), page.Await("document.querySelector('.empty')"))
	const apart = "document.querySelector('.cards').getBoundingClientRect().top - document.querySelector('.empty').getBoundingClientRect().bottom"
	if got, err := tab.Eval[float64](page, apart); err != nil || got < 8 {
		t.Errorf("the figures are %f pixels below (%v)", got, err)
	}
	const size = "getComputedStyle(document.querySelector('.empty pre')).fontSize === getComputedStyle(document.querySelector('.empty pre code')).fontSize"
	if got, err := tab.Eval[bool](page, size); err != nil || !got {
		t.Errorf("code in a block of code has another size (%v)", err)
	}
	must(t, s.Put(t.Context(), "default", "rests", map[string]any{
		"pausedUntil": "2090-01-01T00:00:00Z", "recurrence": map[string]any{"frequency": "hour"},
		"action": map[string]any{"type": "http", "request": map[string]any{"method": "GET", "uri": s.HTTP + "/echo"}},
	}))
	must(t, s.Await(t.Context(), func() bool { return strings.Contains(api(t, s, "GET", "/", nil), "One job is paused.") }))
	for _, path := range []string{"/console/jobs", "/console/collections/default/disable?none=1"} {
		must(t, page.Go(path), page.Text("#held", "One job is paused."))
		accessible(t, page, path)
	}
	must(t, page.Text("main", "none: unknown parameter"), page.Text("main", "One enabled job stops."))
}
