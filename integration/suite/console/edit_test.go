package console

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/integration/suite/console/stage"
	"github.com/carillon-sched/carillon/integration/suite/console/tab"
)

// edited puts a job with a secret on a scheduler of the test's own.
func edited(t *testing.T) *stage.Stage {
	t.Helper()
	s := own(t)
	must(t, s.Put(t.Context(), "default", "night", map[string]any{
		"recurrence": map[string]any{"cron": "0 3 * * *"}, "timeZone": "Europe/Berlin",
		"action": map[string]any{"type": "http", "request": map[string]any{
			"method": "POST", "uri": s.HTTP + "/echo/night", "body": "close",
			"authentication": map[string]any{"type": "Basic", "username": "me", "password": "stored-password"},
		}},
	}))
	return s
}

const nightly = "/jobCollections/default/jobs/night"

// stores checks that the stored job has texts.
func stores(t *testing.T, s *stage.Stage, texts ...string) {
	t.Helper()
	got := api(t, s, "GET", nightly, nil)
	for _, text := range texts {
		if !strings.Contains(got, text) {
			t.Errorf("%s is not in %s", text, got)
		}
	}
}

const review, save = `.edit-end button[value=review]`, `#review button[value=save]`

// TestEditForm changes a job as a form: rows come and go, a typed secret stays in its field, and the change is shown before
// it is saved.
func TestEditForm(t *testing.T) {
	s := edited(t)
	page := open(t, s.HTTP, tab.Look{})
	must(t, page.Go("/console/jobs/default/night/edit"))
	must(t, page.Fill(`[name="description"]`, "Closes the shop."))
	must(t, page.Click(`[value="add:labels"]`), page.Await(`document.activeElement?.name === 'labels#0~name'`))
	must(t, page.Type(`[name="labels#0~name"]`, "team"), page.Type(`[name="labels#0~value"]`, "billing"))
	must(t, page.Click(`[name="action.request.authentication.password~how"][value=text]`))
	must(t, page.Type(`[name="action.request.authentication.password~text"]`, "typed-password"))
	must(t, page.Click(`[value="add:action.request.headers"]`), page.Await(`document.activeElement?.name === 'action.request.headers#0~name'`))
	must(t, page.Type(`[name="action.request.headers#0~name"]`, "Accept"), page.Type(`[name="action.request.headers#0~value"]`, "text/plain"))
	if kept, err := tab.Eval[string](page, `document.querySelector('[name="action.request.authentication.password~text"]').value`); err != nil || kept != "typed-password" {
		t.Errorf("the secret that was typed is %q now (%v)", kept, err)
	}
	page.Expect(400)
	must(t, page.Fill(`[name="timeout"]`, "soon"), page.Click(review), page.Await(`document.querySelector('[name="timeout"][aria-invalid=true]')`))
	must(t, page.Await(`document.activeElement.name === 'timeout' && document.getElementById(document.activeElement.getAttribute('aria-describedby').split(' ').pop()).innerText.includes('soon')`))
	must(t, page.Text("#edit-told", "soon"))
	must(t, page.Fill(`[name="timeout"]`, "PT2M"), page.Click(review), page.Text("#review", "A secret is set or removed here"))
	must(t, page.Text("#review", "Closes the shop."), page.Text("#review", "Unchanged."))
	accessible(t, page, "a review")
	must(t, page.Click(save), page.Await(`location.pathname === '/console/jobs/default/night'`), page.Text("#note", "default/night is saved"))
	stores(t, s, `"description":"Closes the shop."`, `"team":"billing"`, `"Accept":"text/plain"`, `"timeout":"PT2M"`)
}

// TestEditYAML types YAML with suggestions, by keys alone.
func TestEditYAML(t *testing.T) {
	s := edited(t)
	page := open(t, s.HTTP, tab.Look{})
	must(t, page.Go("/console/jobs/default/night/edit?as=yaml"))
	end := `{ const e = document.querySelector('#yaml-text'); e.focus(); e.setSelectionRange(e.value.length, e.value.length); true }`
	if _, err := tab.Eval[bool](page, end); err != nil {
		t.Fatal(err)
	}
	const enter = "\r"
	must(t, page.Type("#yaml-text", "over"), page.Text("#yaml-list", "overlap"), page.Press(enter))
	must(t, page.Text("#yaml-list", "allow"), page.Type("#yaml-text", "al"), page.Await(`document.querySelectorAll('#yaml-list li').length === 1`))
	must(t, page.Press(enter), page.Await(`document.querySelector('#yaml-list').hidden`))
	must(t, page.Await(`document.querySelector('#yaml-text').value.endsWith('overlap: allow')`))
	must(t, page.Press(enter), page.Type("#yaml-text", "tim"), page.Text("#yaml-list", "timeout"), page.Press(escape))
	must(t, page.Await(`document.querySelector('#yaml-list').hidden && document.activeElement.id === 'yaml-text'`))
	must(t, page.Type("#yaml-text", "eout: soon"))
	lines, err := tab.Eval[int64](page, `document.querySelector('#yaml-text').value.split('\n').length`)
	must(t, err, page.Await(fmt.Sprintf(`document.querySelectorAll('.yaml-lines li').length === %d`, lines)))
	page.Expect(400)
	must(t, page.Click(review), page.Await(fmt.Sprintf(`document.querySelector('#line-%d.bad')`, lines)))
	must(t, page.Click(`#edit-told a`), page.Await(`document.activeElement.id === 'yaml-text' && getSelection().toString().includes('timeout: soon')`))
	must(t, page.Type("#yaml-text", "timeout: PT1M"), page.Click(review), page.Text("#review", "PT1M"), page.Click(save))
	must(t, page.Await(`location.pathname === '/console/jobs/default/night'`))
	stores(t, s, `"overlap":"allow"`, `"timeout":"PT1M"`)
}

// TestEditJSON types JSON with suggestions.
func TestEditJSON(t *testing.T) {
	s := edited(t)
	page := open(t, s.HTTP, tab.Look{})
	must(t, page.Go("/console/jobs/default/night/edit?as=yaml"))
	const enter = "\r"
	must(t, page.Fill("#yaml-text", `{"recurrence": {"cron": "0 3 * * *"}, "ti`), page.Text("#yaml-list", "timeZone"), page.Text("#yaml-list", "timeout"))
	must(t, page.Type("#yaml-text", "meZ"), page.Await(`document.querySelectorAll('#yaml-list li').length === 1`), page.Press(enter))
	must(t, page.Await(`document.querySelector('#yaml-text').value.endsWith('"timeZone": ')`))
	must(t, page.Type("#yaml-text", `"Asia/Tokyo", "action": {"ty`), page.Text("#yaml-list", "type"), page.Press(enter), page.Type("#yaml-text", `"ht`))
	must(t, page.Text("#yaml-list", "Http"), page.Press(enter), page.Await(`/"type": "Https?$/.test(document.querySelector('#yaml-text').value)`))
	must(t, page.Type("#yaml-text", `", "request": {"method": "POST", "uri": "`+s.HTTP+`/echo/night", "bo`), page.Text("#yaml-list", "body"), page.Press(enter))
	must(t, page.Type("#yaml-text", `"json"}}}`), page.Click(review), page.Text("#review", "Asia/Tokyo"), page.Click(save))
	must(t, page.Await(`location.pathname === '/console/jobs/default/night'`))
	stores(t, s, `"timeZone":"Asia/Tokyo"`, `"body":"json"`)
}

// TestEditWithoutScripts goes from one way to edit to the other and back: what was typed stays.
func TestEditWithoutScripts(t *testing.T) {
	s := edited(t)
	page := open(t, s.HTTP, tab.Look{NoScripts: true})
	must(t, page.Go("/console/jobs/default/night/edit"), page.Type(`[name="description"]`, "Closes the shop."))
	must(t, page.Click(`.tabs [value="as:yaml"]`), page.Await(`document.querySelector('#yaml-text')?.value.includes('description: Closes the shop.')`))
	must(t, page.Type("#yaml-text", "\ntimeout: PT3M\n"), page.Click(`.tabs [value="as:form"]`))
	must(t, page.Await(`document.querySelector('[name="timeout"]')?.value === 'PT3M' && document.querySelector('[name="description"]').value === 'Closes the shop.'`))
	must(t, page.Click(review), page.Text("#review", "PT3M"), page.Click(save), page.Await(`location.pathname === '/console/jobs/default/night'`))
	stores(t, s, `"timeout":"PT3M"`, "Closes the shop.")
}

// TestEditConflict has somebody else change the job meanwhile.
func TestEditConflict(t *testing.T) {
	s := edited(t)
	page := open(t, s.HTTP, tab.Look{})
	must(t, page.Go("/console/jobs/default/night/edit"))
	must(t, page.Fill(`[name="description"]`, "Mine."), page.Click(review), page.Text("#review", "Mine."))
	api(t, s, "PATCH", nightly, map[string]any{"description": "Theirs.", "jitter": "PT5S"})
	page.Expect(409)
	must(t, page.Click(save), page.Text("#conflict", "Theirs."))
	accessible(t, page, "a conflict")
	must(t, page.Click(`[name="choice:description"][value=mine]`), page.Click(`#conflict button[value=merge]`), page.Text("#review", "Mine."))
	must(t, page.Click(save), page.Await(`location.pathname === '/console/jobs/default/night'`))
	stores(t, s, `"description":"Mine."`, `"jitter":"PT5S"`)
}

// TestEditLost stops the scheduler while somebody types: what was typed stays.
func TestEditLost(t *testing.T) {
	s := edited(t)
	page := open(t, s.HTTP, tab.Look{})
	must(t, page.Go("/console/jobs/default/night/edit"))
	must(t, page.Fill(`[name="description"]`, "Mine."))
	_ = s.Stop()
	page.Expect(0)
	must(t, page.Click(review), page.Text("#edit-told", "Your input is kept"))
	if got, err := tab.Eval[string](page, `document.querySelector('[name="description"]').value`); err != nil || got != "Mine." {
		t.Errorf("%q %v", got, err)
	}
	_ = page.Wrong() // the connection is refused, as it is to be here
}

// TestEditSignedOut closes the scheduler while somebody types: the page says so, and keeps what was typed, also the secret.
func TestEditSignedOut(t *testing.T) {
	s := edited(t)
	page := open(t, s.HTTP, tab.Look{})
	must(t, page.Go("/console/jobs/default/night/edit"))
	must(t, page.Fill(`[name="description"]`, "Mine."), page.Click(`[name="action.request.authentication.password~how"][value=text]`))
	must(t, page.Type(`[name="action.request.authentication.password~text"]`, "typed-password"))
	admin := made(t, s, nil, "admin")
	page.Expect(401)
	must(t, page.Click(review), page.Text("#edit-told", "You are signed out"))
	const signIn = `fetch('/console/sign-in', {method: 'POST', body: new URLSearchParams({token: %q, next: '/console/sign-in'})}).then((r) => r.ok)`
	if ok, err := tab.Eval[bool](page, fmt.Sprintf(signIn, admin)); err != nil || !ok { // as in another tab
		t.Fatal(ok, err)
	}
	must(t, page.Click(review), page.Text("#review", "Mine."), page.Text("#review", "A secret is set or removed here"))
}

// TestEditAccessible has axe look at what an edit comes by: mistakes, rows and lists, a review, a conflict, and suggestions.
func TestEditAccessible(t *testing.T) {
	withAxe(t)
	s := edited(t)
	for labels, at := range []tab.Look{tab.Looks[0], tab.Looks[3]} { // each colour and each width once
		width := strconv.FormatInt(at.Width, 10)
		added := "labels#" + strconv.Itoa(labels) + "~value" // the first conflict leaves a label
		page := open(t, s.HTTP, at)
		again := func() { // in a tab of its own: one with something typed asks before it is left
			page = open(t, s.HTTP, at)
			page.Expect(400, 409)
		}
		page.Expect(400, 409)
		check := func(state string) {
			t.Helper()
			look(t, page, state+", "+width, at.Dark, allRules)
			wide(t, page, at, state)
		}
		must(t, page.Go("/console/jobs/default/night/edit"), page.Click(`[value="add:labels"]`), page.Await(`document.getElementsByName('`+added+`')[0]`))
		must(t, page.Type(`[name="`+added+`"]`, "nameless"), page.Click(`[value="add:action.errorAction"]`))
		must(t, page.Await(`document.getElementsByName('action.errorAction[0].type')[0]`), page.Fill(`[name="timeout"]`, "soon"))
		must(t, page.Click(`.edit-end button`), page.Await(`document.querySelector('#edit-told .problem')`))
		check("mistakes")
		again()
		must(t, page.Go("/console/jobs/default/night/edit?as=yaml"), page.Fill("#yaml-text", "ov"), page.Text("#yaml-list", "overlap"))
		check("suggestions")
		again()
		must(t, page.Go("/console/jobs/default/night/edit"), page.Fill(`[name="description"]`, "Mine "+width))
		must(t, page.Click(`.edit-end button`), page.Text("#review", "Mine"))
		check("a review")
		change := map[string]any{"description": "Theirs " + width, "labels": map[string]string{"of": width}}
		api(t, s, "PATCH", nightly, change)
		must(t, page.Click(save), page.Text("#conflict", "Theirs"))
		check("a conflict")
	}
}
