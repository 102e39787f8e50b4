package console

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/integration/console/stage"
	"github.com/carillon-sched/carillon/integration/console/tab"
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
