package edit_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/scheduler/console/consoletest"
	"github.com/carillon-sched/carillon/scheduler/console/jobform"
)

// TestSecrets keeps, replaces, names and removes secrets: none is ever in a page.
func TestSecrets(t *testing.T) {
	w := consoletest.Shared(t)
	w.OK(w.Service.PutSecret(t.Context(), "shared-one", []byte(`{"value": "c2VjcmV0"}`)))
	w.Put("default/a", guarded)
	secrets := append([]string{"typed-password", "typed-in-header"}, storedSecrets...)
	const password, header = "action.request.authentication.password", "action.request.headers#1"
	p := open(t, w, "default/a", "form", secrets...)
	p.has("Stored, not shown", "shared-one")
	if p.form.Get(password+"~how") != "keep" || p.form.Get(header+"~how") != "keep" {
		t.Fatal(p.form)
	}
	p.set(password+"~how", "text", password+"~text", "typed-password", header+"~value", "typed-in-header")
	for range 2 { // with a problem elsewhere, and without
		p.set("timeout", "x")
		p.gets(http.StatusBadRequest, "review")
		p.has("Type it again")
		p.set(password+"~text", "typed-password", header+"~value", "typed-in-header", "timeout", "")
	}
	p.press("review")
	p.has("A secret is set or removed here")
	p.set(password+"~text", "typed-password", header+"~value", "typed-in-header")
	p.gets(http.StatusSeeOther, "save")
	now := job(t, w, "default/a")
	if secret(now, password) != "typed-password" || secret(now, "action.request.headers.Api-Key") != "typed-in-header" {
		t.Error("what was typed is not stored")
	}

	p = open(t, w, "default/a", "form", secrets...)
	p.set(password+"~how", "ref", password+"~ref", "shared-one")
	p.press("remove:" + header)
	p.set("action.request.webhook.secret~how", "none")
	p.save()
	now = job(t, w, "default/a")
	w.Has(now.String(), `"password":{"secretRef":"shared-one"}`, "!webhook")
	if secret(now, "action.request.headers.Api-Key") != "" {
		t.Error("a secret whose row is gone is still there")
	}
}

// TestSecretOfAnotherType changes the way of authentication: the secret of the one before is not sent in another way.
func TestSecretOfAnotherType(t *testing.T) {
	w := consoletest.Shared(t)
	w.Put("default/a", guarded)
	p := open(t, w, "default/a", "form", append([]string{"typed-secret"}, storedSecrets...)...)
	p.set("action.request.authentication.type", "OAuth2")
	p.press("retype:action.request.authentication.type")
	const secretOf = "action.request.authentication.secret"
	p.set("action.request.authentication.tokenUrl", "https://login.example/token", "action.request.authentication.clientId", "me",
		secretOf+"~how", "text", secretOf+"~text", "typed-secret")
	p.press("review")
	p.set(secretOf+"~text", "typed-secret")
	p.gets(http.StatusSeeOther, "save")
	now := job(t, w, "default/a")
	if secret(now, secretOf) != "typed-secret" || secret(now, "action.request.authentication.password") != "" {
		t.Error(now)
	}
}

// listed is a job with secrets in a list.
const listed = `{"recurrence": {"frequency": "day"}, "action": {"type": "Http", "request": {"method": "GET", "uri": "http://x.example/"}, "errorAction": [
	{"type": "Http", "request": {"method": "PUT", "uri": "http://y.example/", "headers": {"Api-Key": "stored-first"}}},
	{"type": "Http", "request": {"method": "PUT", "uri": "http://y.example/other", "body": "a",
		"authentication": {"type": "Basic", "username": "me", "password": "stored-second"}}}]}}`

// TestSecretsInLists changes elements of a list: their secrets stay.
func TestSecretsInLists(t *testing.T) {
	w := consoletest.Shared(t)
	for _, as := range []string{"form", "yaml"} {
		t.Run(as, func(t *testing.T) {
			key := "default/" + as
			w.Put(key, listed)
			p := open(t, w, key, as, "stored-first", "stored-second")
			if as == "form" {
				p.set("action.errorAction[1].request.body", "b")
			} else {
				p.set("text", strings.Replace(p.form.Get("text"), "body: a", "body: b", 1))
			}
			p.save()
			inList(t, w, key, `"body":"b"`, "stored-first", "stored-second")
			p = open(t, w, key, as, "stored-first", "stored-second")
			if as == "form" {
				p.set("action.errorAction[1].request.uri", "http://elsewhere.example/")
			} else {
				p.set("text", strings.Replace(p.form.Get("text"), "http://y.example/other", "http://elsewhere.example/", 1))
			}
			p.gets(http.StatusBadRequest, "review")
			p.has("belongs to http://y.example")
		})
	}
}

// inList checks what is stored of listed.
func inList(t *testing.T, w *consoletest.Harness, key, text string, secrets ...string) {
	t.Helper()
	now := job(t, w, key)
	w.Has(now.String(), text)
	for i, path := range []string{"action.errorAction[0].request.headers.Api-Key", "action.errorAction[1].request.authentication.password"} {
		if got := jobform.At(now, path).Text(); i < len(secrets) && got != secrets[i] {
			t.Errorf("%s is %q, want %q", path, got, secrets[i])
		}
	}
}

// TestSecretsOfMovedElements moves elements of a list: no secret goes with another one, or is lost without a word.
func TestSecretsOfMovedElements(t *testing.T) {
	w := consoletest.Shared(t)
	w.Put("default/a", listed)
	secrets := []string{"stored-first", "stored-second"}
	p := open(t, w, "default/a", "form", secrets...)
	p.press("remove:action.errorAction[0]")
	p.gets(http.StatusBadRequest, "review")
	p.has("A stored secret cannot move to another target")

	p = open(t, w, "default/a", "yaml", secrets...)
	p.set("text", `{"recurrence": {"frequency": "day"}, "action": {"type": "Http", "request": {"method": "GET", "uri": "http://x.example/"}, "errorAction": [
		{"type": "Http", "request": {"method": "PUT", "uri": "http://y.example/other", "body": "a", "authentication": {"type": "Basic", "username": "me"}}},
		{"type": "Http", "request": {"method": "PUT", "uri": "http://y.example/", "headers": {}}}]}}`)
	p.gets(http.StatusBadRequest, "review")
	p.has("A stored secret cannot move to another target")

	p = open(t, w, "default/a", "form", secrets...) // one that is new has no secret of one that was at its place
	p.press("remove:action.errorAction[1]")
	p.press("add:action.errorAction")
	const fresh = "action.errorAction[2]"
	p.set(fresh+".type", "Http")
	p.press("retype:" + fresh + ".type")
	p.set(fresh+".request.uri", "http://y.example/", fresh+".request.method", "PUT")
	p.save()
	inList(t, w, "default/a", `"method":"PUT"`, "stored-first", "")
}

// TestSecretsOfListsInConflict has somebody else turn a list around meanwhile.
func TestSecretsOfListsInConflict(t *testing.T) {
	w := consoletest.Shared(t)
	w.Put("default/a", listed)
	p := open(t, w, "default/a", "form", "stored-first", "stored-second", "other-secret")
	p.set("action.errorAction[1].request.body", "b")
	p.press("review")
	patch(t, w, "default/a", `{"action": {"errorAction": [
		{"type": "Http", "request": {"method": "PUT", "uri": "http://y.example/other", "body": "a",
			"authentication": {"type": "Basic", "username": "me", "password": "other-secret"}}},
		{"type": "Http", "request": {"method": "PUT", "uri": "http://y.example/", "body": "new"}}]}}`)
	p.gets(http.StatusConflict, "save")
	if got := p.press("merge:mine"); got == http.StatusOK && strings.Contains(p.body, `value="save"`) {
		t.Errorf("what is another element now would have its secret:\n%s", mainOf(p.body))
	}
}

// TestSecretsOfOneAndMany makes a list of the one errorAction, and one of the list: its secret is not lost without a word,
// and may be typed, or left out with what it belongs to.
func TestSecretsOfOneAndMany(t *testing.T) {
	const (
		head = `{"recurrence": {"frequency": "day"}, "action": {"type": "Http", "request": {"method": "GET", "uri": "http://x.example/"}, "errorAction": `
		one  = `{"type": "Http", "request": {"method": "PUT", "uri": "http://y.example/", "headers": {%s"Accept": "text/plain"}}}`
		bare = `{"type": "Http", "request": {"method": "PUT", "uri": "http://y.example/"}}`
	)
	with := func(secret string) string {
		if secret != "" {
			secret = `"Api-Key": "` + secret + `", `
		}
		return fmt.Sprintf(one, secret)
	}
	w := consoletest.Shared(t)
	for _, tc := range []struct{ name, was, is string }{
		{"many", "%s", "[%s]"},
		{"one", "[%s]", "%s"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			key := "default/" + tc.name
			w.Put(key, head+fmt.Sprintf(tc.was, with("stored-first"))+"}}")
			p := open(t, w, key, "yaml", "stored-first", "typed-again")
			p.set("text", head+fmt.Sprintf(tc.is, with(""))+"}}")
			p.gets(http.StatusBadRequest, "review")
			p.has("A stored secret cannot move to another target")
			for _, now := range []string{with("typed-again"), bare} {
				p = open(t, w, key, "yaml", "stored-first", "typed-again")
				p.set("text", head+fmt.Sprintf(tc.is, now)+"}}")
				if got := p.press("review"); got != http.StatusOK || strings.Contains(p.body, "typed-again") {
					t.Errorf("%s: %d %s", now, got, mainOf(p.body))
				}
			}
		})
	}
	w.Put("default/form", head+with("stored-first")+"}}")
	p := open(t, w, "default/form", "form", "stored-first")
	p.press("add:action.errorAction")
	const row = "action.errorAction[0].request.headers#1"
	if got := strings.Count(p.body, `<a href="#f-`+row+`">`); got != 1 || !strings.Contains(p.body, "Fix 1 problem:") {
		t.Errorf("%d\n%s", got, mainOf(p.body))
	}
	p.press("remove:action.errorAction[1]")
	p.set(row+"~how", "text", row+"~value", "typed-again")
	p.press("review")
	p.gets(http.StatusOK, "save") // without what no page keeps
	p.has("This differs from the reviewed change")
	p.set(row+"~how", "text", row+"~value", "typed-again")
	p.press("review")
	p.set(row+"~value", "typed-again")
	p.gets(http.StatusSeeOther, "save")
	if got := secret(job(t, w, "default/form"), "action.errorAction.request.headers.Api-Key"); got != "typed-again" {
		t.Errorf("%q in %s", got, job(t, w, "default/form"))
	}
}
