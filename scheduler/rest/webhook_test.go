package rest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/scheduler/rest"
)

// TestWebhooks sends the published example of GitHub to sources in all states, from anywhere: no token, another host
// name and another origin.
func TestWebhooks(t *testing.T) {
	w := newHarness(t)
	w.serve([]func(*rest.Config){func(c *rest.Config) { c.AllowHost = func(host string) bool { return host == "ours.example" } }})
	ours := "Host: ours.example"
	put := func(name, text string) {
		t.Helper()
		if r := w.do(http.MethodPut, "/jobCollections/default/sources/"+name, text, ours); r.status/100 != 2 {
			t.Fatalf("%s: %d %s", name, r.status, r.body)
		}
	}
	const hook = `{"type": "webhook", "webhook": {"verify": {"type": "github", "secret": "It's a Secret to Everybody"}}}`
	put("github", hook)
	put("off", strings.Replace(hook, "{", `{"state": "disabled", `, 1))
	put("small", strings.Replace(hook, `{"verify"`, `{"maxBytes": 12, "verify"`, 1))
	put("nats", `{"type": "nats", "nats": {"subject": "orders"}}`)
	put("open", `{"type": "webhook", "webhook": {"verify": {"type": "none"}, "challenge": "hub.challenge"}}`)
	const signed = "X-Hub-Signature-256: sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
	const hello = "Hello, World!"
	for _, test := range []struct {
		method, path, body string
		headers            []string
		status             int
		want               string
	}{
		{"POST", "github", hello, []string{signed, "X-GitHub-Delivery: one"}, 202, `"sequence":1,"duplicate":false`},
		{"POST", "github", hello, []string{signed, "X-GitHub-Delivery: one"}, 202, `"sequence":1,"duplicate":true`},
		{"POST", "github?code=x", hello, []string{signed, "Origin: https://github.com", "Sec-Fetch-Site: cross-site"}, 202, `"sequence":2`},
		{"POST", "github", hello + "!", []string{signed}, 401, "the sender is not verified"},
		{"POST", "github", hello, nil, 401, "the sender is not verified"},
		{"POST", "small", hello, []string{signed}, 413, "12"},
		{"POST", "off", hello, []string{signed}, 404, "no web hook has this address"},
		{"POST", "nats", hello, []string{signed}, 404, "no web hook has this address"},
		{"POST", "absent", hello, []string{signed}, 404, "no web hook has this address"},
		{"POST", "ab.sent", hello, []string{signed}, 404, "no web hook has this address"},
		{"POST", "open", hello, nil, 421, "is not a name of this server"},
		{"POST", "open", hello, []string{ours, "Sec-Fetch-Site: cross-site"}, 403, "another origin"},
		{"POST", "open", "\xff\x00", []string{ours, "Nats-Rollup: all"}, 202, `"sequence":3`},
		{"GET", "open?hub.challenge=%3Cb%3E", "", nil, 200, "<b>"},
		{"GET", "open", "", nil, 404, ""},
		{"GET", "github?hub.challenge=x", "", nil, 404, ""},
		{"PUT", "github", hello, []string{ours}, 405, ""},
	} {
		r := w.do(test.method, "/events/default/"+test.path, test.body, test.headers...)
		if r.status != test.status || !strings.Contains(r.body, test.want) {
			t.Errorf("%s %s %v: got %d %s, want %d %s", test.method, test.path, test.headers, r.status, r.body, test.status, test.want)
		}
	}
	r := w.do(http.MethodGet, "/events/1", "", ours)
	if !strings.Contains(r.body, `"id":"one"`) || strings.Contains(r.body, "757107ea") {
		t.Errorf("the event is %s", r.body)
	}
	if r := w.do(http.MethodGet, "/jobCollections/default/sources/github", "", ours); strings.Contains(r.body, "Everybody") {
		t.Errorf("the source shows its secret: %s", r.body)
	}
}
