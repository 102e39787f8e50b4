package edit_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/scheduler/console/consoletest"
)

// TestConflict has somebody else change a job that is being edited.
func TestConflict(t *testing.T) {
	w := consoletest.Shared(t)
	for _, as := range []string{"form", "yaml"} {
		t.Run(as, func(t *testing.T) {
			key := "default/" + as
			w.Put(key, guarded)
			p := open(t, w, key, as, storedSecrets...)
			if as == "form" {
				p.set("description", "mine", "action.request.body", "my body", "timeout", "PT1M")
			} else {
				p.set("text", strings.Replace(p.form.Get("text"), "body: hello", "body: my body", 1)+"description: mine\ntimeout: PT1M\n")
			}
			p.press("review")
			patch(t, w, key, `{"description": "theirs", "jitter": "PT5S", "action": {"request": {"uri": "https://x.example/theirs"}}}`)
			p.gets(http.StatusConflict, "save")
			p.has("Another user changed this job", "choice:description", "both changed")
			for name, want := range map[string]string{
				"choice:jitter": "theirs", "choice:action.request.uri": "theirs", "choice:action.request.body": "mine", "choice:timeout": "mine",
			} {
				if got := p.form.Get(name); got != want {
					t.Errorf("%s: %q is chosen, want %q", name, got, want)
				}
			}
			if p.form.Has("choice:description") {
				t.Error("what both have changed is chosen")
			}
			p.gets(http.StatusBadRequest, "merge")
			p.has("Choose one of the two", "my body")
			p.set("choice:description", "theirs")
			patch(t, w, key, `{"labels": {"once": "more"}}`)
			p.gets(http.StatusConflict, "merge")
			p.has("The job changed again", "choice:labels")
			if p.form.Get("choice:description") != "theirs" {
				t.Error("a choice is forgotten")
			}
			p.gets(http.StatusOK, "merge")
			p.has("Changes</h2>", "my body")
			p.gets(http.StatusSeeOther, "save")
			now := job(t, w, key)
			w.Has(now.String(),
				`"description":"theirs"`, `"body":"my body"`, `"timeout":"PT1M"`, `"jitter":"PT5S"`, `"uri":"https://x.example/theirs"`, `"once":"more"`,
			)
			if secret(now, "action.request.authentication.password") != "stored-password" {
				t.Error("a secret is lost")
			}
		})
	}
}

// TestConflictOfTypes has somebody make another action of it: its members belong together.
func TestConflictOfTypes(t *testing.T) {
	w := consoletest.Shared(t)
	w.Put("default/a", simple)
	p := open(t, w, "default/a", "form")
	p.set("action.request.uri", "http://mine.example/")
	p.press("review")
	patch(t, w, "default/a", `{"action": {"type": "NatsMessage", "request": null, "natsMessage": {"subject": "theirs"}}}`)
	p.gets(http.StatusConflict, "save")
	p.has(`name="choice:action"`)
	p.set("choice:action", "theirs")
	p.press("merge")
	p.has("No changes.", "theirs")
}

// TestConflictAtOnce takes all of theirs, or all of mine.
func TestConflictAtOnce(t *testing.T) {
	w := consoletest.Shared(t)
	for which, want := range map[string]string{"theirs": `"description":"theirs"`, "mine": `"description":"mine"`} {
		key := "default/" + which
		w.Put(key, guarded)
		p := open(t, w, key, "form", "stored-password", "typed-password")
		const password = "action.request.authentication.password"
		p.set("description", "mine", password+"~how", "text", password+"~text", "typed-password")
		p.press("review")
		patch(t, w, key, `{"description": "theirs", "timeout": "PT1M"}`)
		p.set(password+"~how", "text", password+"~text", "typed-password")
		p.gets(http.StatusConflict, "save")
		p.set(password+"~how", "text", password+"~text", "typed-password")
		p.gets(http.StatusOK, "merge:"+which)
		if which == "theirs" {
			p.has("No changes.")
			continue
		}
		p.set(password+"~how", "text", password+"~text", "typed-password")
		p.gets(http.StatusSeeOther, "save")
		now := job(t, w, key)
		if text := now.String(); !strings.Contains(text, want) || strings.Contains(text, "PT1M") || secret(now, password) != "typed-password" {
			t.Error(text)
		}
	}
}
