package console

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/integration/suite/console/tab"
)

// quiet is a job that runs in a far year.
func quiet(state string) map[string]any {
	return map[string]any{
		"startTime": "2090-01-01T00:00:00Z", "state": state,
		"action": map[string]any{"type": "http", "request": map[string]any{"method": "GET", "uri": "http://api.example.com/"}},
	}
}

// shownJobs are the names in the table, in their order.
const shownJobs = "[...document.querySelectorAll('tr[data-job]')].map((r) => r.dataset.job).join(' ')"

// TestFindWhileTyping finds jobs as somebody types, by keys alone, and the address says what is shown.
func TestFindWhileTyping(t *testing.T) {
	s := own(t)
	for _, name := range []string{"apple", "banana", "cherry"} {
		must(t, s.Put(t.Context(), "default", name, quiet("enabled")))
	}
	page := open(t, s.HTTP, tab.Look{})
	must(t, page.Go("/console/jobs"), page.Await(shownJobs+" === 'default/apple default/banana default/cherry'"))
	must(t, page.Press("/"), page.Await("document.activeElement.id === 'q'"))
	must(t, page.Press("NAN"), page.Await("document.querySelector('#q').value === 'NAN'")) // and no slash
	must(t, page.Await(shownJobs+" === 'default/banana'"), page.Await("location.search === '?q=NAN'"))
	must(t, page.Go("/console/jobs?q=NAN"), page.Await(shownJobs+" === 'default/banana'"), page.Await("document.querySelector('#q').value === 'NAN'"))
	must(t, page.Go("/console/jobs?order=descending"), page.Await(shownJobs+" === 'default/cherry default/banana default/apple'"))
	must(t, page.Press("j", "j", "x", "k", "x"))
	must(t, page.Text(".picked", "2 selected"), page.Await("[...document.querySelectorAll('input[name=job]:checked')].map((b) => b.value).join(' ') === 'default/cherry default/banana'"))
}

// TestStatesFollow shows a state that changes elsewhere, and moves no row and no tick.
func TestStatesFollow(t *testing.T) {
	s := own(t)
	for _, name := range []string{"apple", "banana"} {
		must(t, s.Put(t.Context(), "default", name, quiet("enabled")))
	}
	page := open(t, s.HTTP, tab.Look{})
	must(t, page.Go("/console/jobs?state=enabled"), page.Await(shownJobs+" === 'default/apple default/banana'"))
	must(t, page.Click("input[value='default/apple']"))
	must(t, s.Put(t.Context(), "default", "apple", quiet("disabled")))
	must(t, page.Text("[id='job-default.apple'] [data-live=state]", "disabled"))
	must(t, page.Await(shownJobs+" === 'default/apple default/banana'"), page.Await("document.querySelector('input[value=\"default/apple\"]').checked"))
}

// TestIndexBehind has the table be as it is while the index is behind: it asks again by itself until it is told that there is no need,
// and moves no row while one is ticked.
func TestIndexBehind(t *testing.T) {
	const behind = `(() => {
		const found = document.querySelector('#found');
		document.querySelector('#counted').dataset.again = '1';
		found.dispatchEvent(new CustomEvent('carillon:new'));
		return true;
	})()`
	s := own(t)
	must(t, s.Put(t.Context(), "default", "banana", quiet("enabled")))
	page := open(t, s.HTTP, tab.Look{})
	must(t, page.Go("/console/jobs"), page.Await(shownJobs+" === 'default/banana'"))
	must(t, s.Put(t.Context(), "default", "apple", quiet("enabled")))
	must(t, page.Await(behind), page.Await(shownJobs+" === 'default/apple default/banana'"))
	must(t, page.Await("!document.querySelector('[data-again]')"), page.Await("location.search === ''"))

	must(t, page.Click("input[value='default/banana']"), s.Put(t.Context(), "default", "aardvark", quiet("enabled")))
	must(t, page.Await(behind), page.Text(".count", "3 jobs"), page.Await("!document.querySelector('[data-again]')"))
	must(t, page.Await(shownJobs+" === 'default/apple default/banana'"), page.Text(".picked", "1 selected"))
	must(t, page.Click("input[value='default/banana']"), page.Await("document.activeElement.blur() === undefined"))
	must(t, page.Point("h1"), page.Await(shownJobs+" === 'default/aardvark default/apple default/banana'"))
}

// TestPauseByEnter pauses what is ticked until a time that is typed, with Enter, and finds it as paused.
func TestPauseByEnter(t *testing.T) {
	s := own(t)
	for _, name := range []string{"apple", "banana"} {
		must(t, s.Put(t.Context(), "default", name, quiet("enabled")))
	}
	page := open(t, s.HTTP, tab.Look{})
	must(t, page.Go("/console/jobs"), page.Click("input[value='default/apple']"), page.Fill("#until", "tomorrow 8:00"), page.Press("\r"))
	must(t, page.Text("h1", "Pause until tomorrow 8:00: one job"), page.Click("form[action$=start] button"), page.Text("#progress", "Finished"))
	must(t, page.Go("/console/jobs?state=paused"), page.Await(shownJobs+" === 'default/apple'"), page.Text("[data-live=state]", "paused ends in"))
}

// TestManyAtOnce disables all that match, and deletes what is ticked, each confirmed first.
func TestManyAtOnce(t *testing.T) {
	s := own(t)
	for i := range 60 {
		must(t, s.Put(t.Context(), "default", fmt.Sprintf("many-%02d", i), quiet("enabled")))
	}
	must(t, s.Put(t.Context(), "default", "other", quiet("enabled")))
	page := open(t, s.HTTP, tab.Look{})
	must(t, page.Go("/console/jobs?q=many"), page.Text(".count", "60 jobs"), page.Await("document.querySelector('button[value=disable]').disabled"))
	must(t, page.Click("input[name=all]"), page.Click("button[value=disable]"))
	must(t, page.Text("h1", "Disable: 60 jobs"), page.Click("form[action$=start] button"))
	must(t, page.Text("#progress", "Finished"), page.Text(".counts", "60"))

	must(t, page.Go("/console/jobs?state=enabled"), page.Await(shownJobs+" === 'default/other'"))
	must(t, page.Click("input[value='default/other']"), page.Click("button[value=delete]"))
	page.Expect(422)
	must(t, page.Text("h1", "Delete: one job"), page.Type("#typed", "all"), page.Click("form[action$=start] button"))
	must(t, page.Text(".wrong", "No job was changed"), page.Fill("#typed", "1"), page.Click("form[action$=start] button"))
	must(t, page.Text("#progress", "Finished"))
	must(t, page.Go("/console/jobs?state=enabled"), page.Text("#found", "No job matches"))
}

// TestSavedViews saves a filter by name, opens it again, and removes it. A name is text, whatever it has.
func TestSavedViews(t *testing.T) {
	s := own(t)
	for _, name := range []string{"apple", "banana"} {
		must(t, s.Put(t.Context(), "default", name, quiet("enabled")))
	}
	const name = "<img src=x onerror=\"document.title='taken'\">"
	page := open(t, s.HTTP, tab.Look{})
	must(t, page.Go("/console/jobs?q=nan&sort=next"), page.Await(shownJobs+" === 'default/banana'"))
	must(t, page.Click("[data-views] summary"), page.Fill("#view", name), page.Press("\r"), page.Text("[data-views] li", name))
	accessible(t, page, "saved views")
	must(t, page.Go("/console/jobs"), page.Click("[data-views] summary"), page.Click("[data-views] li a"))
	must(t, page.Await(shownJobs+" === 'default/banana'"), page.Await("location.search === '?q=nan&sort=next'"))
	sound(t, page, "a saved view")
	must(t, page.Click("[data-views] summary"), page.Click("[data-views] li button"), page.Await("!document.querySelector('[data-views] li')"))
	must(t, page.Go("/console/live"), page.Await("document.querySelector('[data-views]') && !document.querySelector('[data-views] li')"))
	const broken = "(localStorage.setItem('carillon-views:/console/live', '{\"a\": 1}'), true)"
	must(t, page.Await(broken), page.Go("/console/live"), page.Await("!document.querySelector('[data-views] li')"))
}

// TestSparks shows the last runs of each job after the page is there, adds those that come later, and asks only for the jobs that ran.
func TestSparks(t *testing.T) {
	s := own(t)
	job := quiet("enabled")
	job["action"] = map[string]any{
		"type": "http", "retryPolicy": map[string]any{"retryType": "none"},
		"request": map[string]any{"method": "GET", "uri": s.HTTP + "/echo/status/500"},
	}
	must(t, s.Put(t.Context(), "default", "apple", quiet("enabled")), s.Put(t.Context(), "default", "banana", job))
	run := func() { api(t, s, "POST", "/jobCollections/default/jobs/banana/run", map[string]any{}) }
	page := open(t, s.HTTP, tab.Look{Width: 1400, Height: 900})
	must(t, page.Go("/console/jobs"))
	const spark = "document.querySelector('[id=\"job-default.%s\"] .spark')?.getAttribute('aria-label') "
	run()
	must(t, page.Await(fmt.Sprintf(spark, "banana")+"=== 'The last run. 1 faulted.'"))
	const asked = "performance.getEntriesByType('resource').filter((e) => e.name.includes('runs=1')).map((e) => e.name.match(/apple/g)?.length ?? 0).join('')"
	run()
	must(t, page.Await(fmt.Sprintf(spark, "banana")+"=== 'The last 2 runs. 2 faulted.'"), page.Await(fmt.Sprintf(spark, "apple")+"=== undefined"))
	if got, err := tab.Eval[string](page, asked); err != nil || len(got) < 2 || strings.Trim(got[1:], "0") != "" {
		t.Errorf("asked for apple as often as %s (%v)", got, err)
	}
	sound(t, page, "the last runs")
	accessible(t, page, "the last runs")
}

// TestSharedViews shares a filter and the choice of columns as an administrator. A reader opens it and cannot remove it; the administrator can.
func TestSharedViews(t *testing.T) {
	s := own(t)
	for _, name := range []string{"apple", "banana"} {
		must(t, s.Put(t.Context(), "default", name, quiet("enabled")))
	}
	admin := made(t, s, nil, "admin")
	reader := made(t, s, &http.Header{"Authorization": {"Bearer " + admin}}, "reader")
	width := func(column string) string { return "document.querySelector('th." + column + "').offsetWidth" }
	signIn := func(token string) *tab.Tab {
		page := open(t, s.HTTP, tab.Look{})
		page.Expect(http.StatusUnauthorized)
		must(t, page.Go("/"), page.Fill("#token", token), page.Press("\r"), page.Text("h1", "Overview"))
		page.Expect()
		return page
	}
	const name, menu = "<img src=x onerror=\"document.title='taken'\">", "[data-views] summary"
	editor := signIn(admin)
	must(t, editor.Go("/console/jobs?q=nan&sort=next"), editor.Click("form.filters details summary"), editor.Click("[name=hide][value=labels]"))
	must(t, editor.Await(width("tags")+" === 0"), editor.Click(menu), editor.Fill("#view", name), editor.Click("#shared [name=share]"))
	must(t, editor.Text("#note", "is shared"), editor.Await("location.search === '?hide=labels&q=nan&sort=next'"))
	must(t, editor.Click(menu), editor.Text("#shared li", name))
	accessible(t, editor, "shared views")

	viewer := signIn(reader)
	must(t, viewer.Go("/console/jobs"), viewer.Click(menu), viewer.Text("#shared li", name), viewer.Await("!document.querySelector('#shared button')"))
	must(t, viewer.Click("#shared li a"), viewer.Await(shownJobs+" === 'default/banana'"))
	must(t, viewer.Await(width("tags")+" === 0 && "+width("when")+" > 0"))
	sound(t, viewer, "a shared view")

	must(t, editor.Click("#shared li button"), editor.Text("#note", "is removed"), editor.Click(menu))
	must(t, editor.Await("document.querySelector('#shared [name=share]') && !document.querySelector('#shared li')"))
}

// TestSelectionIsKept has an operation that cannot be: the selection is as it was, in the list as it was, and again after the
// operation has been called off.
func TestSelectionIsKept(t *testing.T) {
	s := own(t)
	for _, name := range []string{"apple", "banana", "cherry"} {
		must(t, s.Put(t.Context(), "default", name, quiet("enabled")))
	}
	const list = "location.pathname + location.search === '/console/jobs?order=descending&q=an&sort=next'"
	const kept = "document.querySelector('input[value=\"default/banana\"]')?.checked && document.querySelector('#until').value"
	page := open(t, s.HTTP, tab.Look{})
	must(t, page.Go("/console/jobs?q=an&sort=next&order=descending"), page.Click("input[value='default/banana']"))
	must(t, page.Fill("#until", "yesterday"), page.Click("button[value=pause]"), page.Text("#note", "yesterday"))
	must(t, page.Await(list), page.Await(kept+" === 'yesterday'"), page.Text(".picked", "1 selected"))
	must(t, page.Fill("#until", "2h"), page.Click("button[value=pause]"), page.Text("h1", "one job"))
	must(t, page.Click("main form a.button"), page.Await(list), page.Await(kept+" === '2h'"))
	must(t, page.Go("/console/jobs"), page.Await("!document.querySelector('input[name=job]:checked')"))
}
