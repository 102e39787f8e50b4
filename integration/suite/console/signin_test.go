package console

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/integration/suite/console/stage"
	"github.com/carillon-sched/carillon/integration/suite/console/tab"
)

// made makes an access token with a role, and returns its text.
func made(t *testing.T, s *stage.Stage, asked *http.Header, role string) string {
	t.Helper()
	body, err := json.Marshal(map[string]any{"name": role, "grants": []map[string]any{{"role": role}}})
	must(t, err)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.HTTP+"/tokens", strings.NewReader(string(body)))
	must(t, err)
	if asked != nil {
		r.Header = asked.Clone()
	}
	answer, err := http.DefaultClient.Do(r)
	must(t, err)
	defer answer.Body.Close()
	var told struct {
		Token string `json:"token"`
	}
	must(t, json.NewDecoder(answer.Body).Decode(&told))
	if answer.StatusCode != http.StatusCreated || told.Token == "" {
		t.Fatalf("no token for %s: %d", role, answer.StatusCode)
	}
	return told.Token
}

// TestSignIn closes a scheduler by its first token: pages ask who it is then, take a token, and lead on to where somebody
// wanted to go. Who is signed out, or has a token that is revoked, is asked again.
func TestSignIn(t *testing.T) {
	s := own(t)
	admin := made(t, s, nil, "admin")
	page := open(t, s.HTTP, tab.Look{})
	page.Expect(http.StatusUnauthorized)

	must(t, page.Go("/"), page.Text("h1", "Sign in"))
	must(t, page.Fill("#token", "wrong"), page.Press("\r"), page.Text("[role=alert]", "token"))
	must(t, page.Fill("#token", admin), page.Press("\r"), page.Text("h1", "Overview"))
	cookie, err := tab.Eval[string](page, "document.cookie")
	must(t, err)
	if strings.Contains(cookie, admin) || strings.Contains(cookie, "carillon-token") {
		t.Errorf("a script sees the token: %s", cookie)
	}
	html, err := tab.Eval[string](page, "document.documentElement.outerHTML")
	must(t, err)
	if strings.Contains(html, admin) {
		t.Error("the page has the token")
	}

	must(t, page.Click("form[action='/console/sign-out'] button"), page.Text("h1", "Sign in"))
	must(t, page.Go("/"), page.Text("h1", "Sign in"))
}

// TestRevokedWhileLooking revokes a token while its pages are open: they say so, instead of that the connection is lost, and
// go on after a sign-in in another tab.
func TestRevokedWhileLooking(t *testing.T) {
	s := own(t)
	asked := http.Header{"Authorization": {"Bearer " + made(t, s, nil, "admin")}}
	for _, test := range []struct{ path, told string }{{"/", "#note"}, {"/console/live", "#live-problem"}} {
		page := open(t, s.HTTP, tab.Look{})
		page.Expect(http.StatusUnauthorized)
		token := made(t, s, &asked, "reader")
		must(t, page.Go("/console/sign-in"), page.Fill("#token", token), page.Press("\r"), page.Text("h1", "Overview"), page.Go(test.path))
		id, _, _ := strings.Cut(strings.TrimPrefix(token, "crl_"), "_")
		r, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, s.HTTP+"/tokens/"+id, http.NoBody)
		must(t, err)
		r.Header = asked.Clone()
		answer, err := http.DefaultClient.Do(r)
		must(t, err)
		answer.Body.Close()
		if answer.StatusCode >= http.StatusBadRequest {
			t.Fatalf("the token is not revoked: %d", answer.StatusCode)
		}
		must(t, page.Text(test.told, "this token was revoked"), page.Text(test.told, "You are signed out"))
		must(t, page.Await(`(() => { // and looks like what is wrong
			const sample = document.body.appendChild(Object.assign(document.createElement('p'), {className: 'problem'}));
			const ground = getComputedStyle(sample).backgroundColor;
			sample.remove();
			return [...document.querySelectorAll('#note, .problem')].some((e) => !e.hidden && getComputedStyle(e).backgroundColor === ground);
		})()`))

		again := fmt.Sprintf("fetch('/console/sign-in', {method: 'POST', body: new URLSearchParams({token: %q})}).then((a) => a.ok)",
			made(t, s, &asked, "reader"))
		if ok, err := tab.Eval[bool](page, again); err != nil || !ok {
			t.Fatal("the sign-in of another tab:", ok, err)
		}
		must(t, page.Await(fmt.Sprintf("!document.querySelector(%q).innerText.includes('revoked')", test.told)))
	}
}
