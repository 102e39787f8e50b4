package console

import (
	"fmt"
	"strings"
	"testing"

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
	press("disable", "Disabled")
	must(t, page.Await(at("enable")))
	must(t, page.Press("\r"), page.Text("#note", "Enabled"), page.Await(at("disable")))

	const summary = "document.activeElement === document.querySelector('#job-pause summary')"
	menu := "(document.querySelector('#job-pause summary').focus(), " + summary + ")"
	must(t, page.Await(menu), page.Press("\r", "\t"), page.Await("document.activeElement.name === 'until'"))
	must(t, page.Press(escape), page.Await("!document.querySelector('#job-pause').open && "+summary))
	must(t, page.Press("\r", "\t", "\r"), page.Await("!document.querySelector('#job-pause').open && "+summary))
}
