package edit_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/scheduler/console/consoletest"
)

// TestSecrets keeps, replaces, names and removes secrets: none is ever in a page.
func TestSecrets(t *testing.T) {
	w := consoletest.New(t)
	if _, _, err := w.Service.PutSecret(t.Context(), "shared-one", []byte(`{"value": "c2VjcmV0"}`)); err != nil {
		t.Fatal(err)
	}
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
		if got := p.press("review"); got != http.StatusBadRequest {
			t.Fatalf("%d", got)
		}
		p.has("Type it again")
		p.set(password+"~text", "typed-password", header+"~value", "typed-in-header", "timeout", "")
	}
	p.press("review")
	p.has("A secret is written there")
	p.set(password+"~text", "typed-password", header+"~value", "typed-in-header")
	if got := p.press("save"); got != http.StatusSeeOther {
		t.Fatalf("%d %s", got, mainOf(p.body))
	}
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
	if text := now.String(); !strings.Contains(text, `"password":{"secretRef":"shared-one"}`) || strings.Contains(text, "webhook") {
		t.Error(text)
	}
	if secret(now, "action.request.headers.Api-Key") != "" {
		t.Error("a secret whose row is gone is still there")
	}
}

// TestSecretOfAnotherType changes the way of authentication: the secret of the one before is not sent in another way.
func TestSecretOfAnotherType(t *testing.T) {
	w := consoletest.New(t)
	w.Put("default/a", guarded)
	p := open(t, w, "default/a", "form", append([]string{"typed-secret"}, storedSecrets...)...)
	p.set("action.request.authentication.type", "OAuth2")
	p.press("retype:action.request.authentication.type")
	const secretOf = "action.request.authentication.secret"
	p.set("action.request.authentication.tokenUrl", "https://login.example/token", "action.request.authentication.clientId", "me",
		secretOf+"~how", "text", secretOf+"~text", "typed-secret")
	p.press("review")
	p.set(secretOf+"~text", "typed-secret")
	if got := p.press("save"); got != http.StatusSeeOther {
		t.Fatalf("%d %s", got, mainOf(p.body))
	}
	now := job(t, w, "default/a")
	if secret(now, secretOf) != "typed-secret" || secret(now, "action.request.authentication.password") != "" {
		t.Error(now)
	}
}

// TestSecretsInLists refuses to lose a secret with a list that is replaced.
func TestSecretsInLists(t *testing.T) {
	w := consoletest.New(t)
	w.Put("default/a", `{"recurrence": {"frequency": "day"}, "action": {"type": "Http", "request": {"method": "GET", "uri": "http://x.example/"}, "errorAction": [
		{"type": "Http", "request": {"method": "PUT", "uri": "http://y.example/", "headers": {"Api-Key": "stored-in-list"}}},
		{"type": "NatsMessage", "natsMessage": {"subject": "a"}}]}}`)
	for _, as := range []string{"form", "yaml"} {
		p := open(t, w, "default/a", as, "stored-in-list")
		if as == "form" {
			p.set("action.errorAction[1].natsMessage.subject", "b")
		} else {
			p.set("text", strings.Replace(p.form.Get("text"), "subject: a", "subject: b", 1))
		}
		if got := p.press("review"); got != http.StatusBadRequest {
			t.Fatalf("%s: %d %s", as, got, mainOf(p.body))
		}
		p.has("A stored secret stays at its place only")
	}
	p := open(t, w, "default/a", "form", "stored-in-list")
	p.set("description", "something else")
	p.save()
	p = open(t, w, "default/a", "form", "stored-in-list", "typed-again")
	const row = "action.errorAction[0].request.headers#0"
	p.set("action.errorAction[1].natsMessage.subject", "b", row+"~how", "text", row+"~value", "typed-again")
	p.press("review")
	p.set(row+"~value", "typed-again")
	if got := p.press("save"); got != http.StatusSeeOther {
		t.Fatalf("%d %s", got, mainOf(p.body))
	}
}
