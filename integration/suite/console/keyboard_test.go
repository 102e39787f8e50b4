package console

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/carillon-sched/carillon/integration/suite/console/tab"
)

const escape = "\u001b"

// TestHelp opens the list of keys, and closes it, by keys alone. The focus is back where it was then.
func TestHelp(t *testing.T) {
	page := open(t, needed(t).stage.HTTP, tab.Look{})
	must(t, page.Go("/"), page.Press("\t"))
	if at, err := page.Focused(); err != nil || !strings.HasPrefix(at, "A Skip") {
		t.Errorf("the first stop is %q (%v), want the link to the content", at, err)
	}
	must(t, page.Press("?"), page.Await("document.querySelector('#help').open"))
	accessible(t, page, "the list of keys")
	must(t, page.Press("j", "/")) // which do nothing behind it
	must(t, page.Press(escape), page.Await("!document.querySelector('#help').open"))
	if at, err := page.Focused(); err != nil || !strings.HasPrefix(at, "A Skip") {
		t.Errorf("the focus is on %q (%v)", at, err)
	}
	must(t, page.Press("\r"), page.Await("document.activeElement.id === 'content'"))
}

// TestSingleKeysOff turns single keys off, as somebody does who speaks to the browser: they do nothing then, on no page, until
// they are turned on again.
func TestSingleKeysOff(t *testing.T) {
	page := open(t, needed(t).stage.HTTP, tab.Look{})
	must(t, page.Go("/console/jobs"), page.Click("[data-dialog=help]"), page.Click("[data-single]"))
	must(t, page.Press(escape), page.Await("!document.querySelector('#help').open"))
	for _, path := range []string{"/console/jobs", "/console/live"} {
		must(t, page.Go(path), page.Press("gj", "j", "/", "?"))
		left, err := tab.Eval[bool](page, fmt.Sprintf("location.pathname !== %q || document.querySelector('#help').open ||"+
			"!!document.querySelector('[data-current]') || document.activeElement !== document.body", path))
		if err != nil || left {
			t.Errorf("%s: a single key did something (%v)", path, err)
		}
	}
	must(t, page.Click("[data-dialog=help]"), page.Await("!document.querySelector('[data-single]').checked"), page.Click("[data-single]"))
	must(t, page.Press(escape), page.Await("!document.querySelector('#help').open"), page.Press("gj"))
	must(t, page.Await("location.pathname === '/console/jobs'"))
}

// TestByKeys goes from the first page to a job, runs it, and comes back, by keys alone.
func TestByKeys(t *testing.T) {
	s := own(t)
	for _, name := range []string{"apple", "banana", "banquet"} {
		must(t, s.Put(t.Context(), "default", name, quiet("enabled")))
	}
	page := open(t, s.HTTP, tab.Look{})
	const value, current = "document.querySelector('#q').value", "document.querySelector('[data-current]')?.dataset.job"
	must(t, page.Go("/"), page.Press("gj"), page.Await("location.pathname === '/console/jobs'"))
	must(t, page.Press("/"), page.Await("document.activeElement.id === 'q'"))
	must(t, page.Press("ban/"), page.Await(value+" === 'ban/'")) // the key that led here is not typed, and is a letter as others are here
	must(t, page.Await("location.search === '?q=ban%2F' && "+shownJobs+" === ''"))
	must(t, page.Press("\b"), page.Await(shownJobs+" === 'default/banana default/banquet'"))
	must(t, page.Press(escape), page.Await("document.activeElement === document.body && "+value+" === 'ban'"))
	must(t, page.Press("j"), page.Await(current+" === 'default/banana'"))
	must(t, page.Press("j", "j"), page.Await(current+" === 'default/banquet'"))
	must(t, page.Press("k"), page.Await(current+" === 'default/banana' && document.activeElement.innerText.includes('banana')"))
	must(t, page.Press("/"), page.Await("document.activeElement.id === 'q' && getSelection().toString() === 'ban'"))
	must(t, page.Press(escape, "j", "\r"), page.Await("location.pathname.startsWith('/console/jobs/default/ban')"))
	must(t, page.Press("gq"), page.Await("location.pathname === '/console/queues'"))
	must(t, page.Press("go"), page.Await("location.pathname === '/'"))
}

// TestPalette finds a page, a job, a run and an action of a page by a part of its name, and goes there, by keys alone.
func TestPalette(t *testing.T) {
	s := own(t)
	for _, name := range []string{"apple", "banana", "banquet"} {
		job := quiet("enabled")
		job["action"] = map[string]any{"type": "http", "request": map[string]any{"method": "GET", "uri": s.HTTP + "/echo"}}
		must(t, s.Put(t.Context(), "default", name, job))
	}
	page := open(t, s.HTTP, tab.Look{})
	const field = "#palette input"
	const picked = "document.querySelector('#palette [aria-selected=true]')?.innerText"
	const shown = "document.querySelector('#palette').open"
	again := func() error { return errors.Join(page.Click("[data-dialog=palette]"), page.Await(shown)) }
	must(t, page.Go("/console/collections/default"), page.Press("/"), page.Await(shown+" && document.activeElement.role === 'combobox'"))
	must(t, page.Type(field, "calen"), page.Await(picked+".includes('Calendar')"))
	accessible(t, page, "the palette")
	must(t, page.Press("\r"), page.Await("location.pathname === '/console/calendar'"))
	must(t, again(), page.Type(field, "AN"), page.Text("#palette-list", "default/banquet"), page.Text("#palette-list", "Search the list of jobs: AN"))
	must(t, page.Press(kb.ArrowUp, kb.ArrowUp), page.Await(picked+".includes('default/banquet')"))
	must(t, page.Press("\r"), page.Await("location.pathname === '/console/jobs/default/banquet'"))
	must(t, again(), page.Await(picked+".includes('Overview')")) // Enter by mistake runs nothing
	must(t, page.Type(field, "run now"), page.Await(picked+".includes('Run now')"), page.Press("\r"))
	must(t, page.Text("#note", "Started."), page.Text("#job-history", "completed"))
	id, err := tab.Eval[string](page, "document.querySelector('#job-history .facts code').textContent")
	must(t, err)
	page.Expect(404)
	must(t, again(), page.Fill(field, "default/banquet@2020-01-01T00:00:00Z"), page.Await("document.querySelectorAll('#palette li').length === 0"))
	must(t, page.Fill(field, id), page.Await(picked+".includes("+strconv.Quote(id)+")"), page.Press("\r"))
	must(t, page.Await("location.pathname.startsWith('/console/jobs/default/banquet/runs/')"), again())
	must(t, page.Press(escape), page.Await("!"+shown))
}

// TestFocusStays runs, stops and pauses a job by keys: the focus is where it was then, or where the button was that has gone.
func TestFocusStays(t *testing.T) {
	s := own(t)
	must(t, s.Put(t.Context(), "default", "apple", quiet("enabled")))
	page := open(t, s.HTTP, tab.Look{})
	at := func(action string) string {
		return fmt.Sprintf("document.activeElement?.form?.action.endsWith('/apple/%s') && !document.activeElement.disabled", action)
	}
	press := func(action, note string) {
		must(t, page.Await(fmt.Sprintf("(document.querySelector('form[action$=\"/apple/%s\"] button:enabled')?.focus(), %s)", action, at(action))))
		must(t, page.Press("\r"), page.Text("#note", note))
	}
	must(t, page.Go("/console/jobs/default/apple"))
	press("run", "Started")
	must(t, page.Await(at("run")))
	const more = "document.activeElement === document.querySelector('#job-more summary')"
	const first = `document.querySelector('form[action$="/apple/disable"]').addEventListener('submit', (e) => setTimeout(() => e.target.remove())), true`
	for _, gone := range []string{"true", first} { // the events of the job may take the button away before the answer comes
		must(t, page.Await("(document.querySelector('#job-more summary').focus(), "+more+")"), page.Press("\r"), page.Await(gone))
		press("disable", "Disabled")
		must(t, page.Await("!document.querySelector('#job-more').open && "+more))
		press("enable", "Enabled")
	}

	const summary = "document.activeElement === document.querySelector('#job-pause summary')"
	menu := "(document.querySelector('#job-pause summary').focus(), " + summary + ")"
	must(t, page.Await(menu), page.Press("\r", "\t"), page.Await("document.activeElement.name === 'until'"))
	must(t, page.Press(escape), page.Await("!document.querySelector('#job-pause').open && "+summary))
	must(t, page.Press("\r", "\t", "\r"), page.Await("!document.querySelector('#job-pause').open && "+summary))
}
