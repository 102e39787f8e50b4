package rest_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

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
	put("token", `{"type": "webhook", "webhook": {"verify": {"type": "token", "secret": "s"}, "maxBytes": 12}}`)
	put("nats", `{"type": "nats", "nats": {"subject": "orders"}}`)
	put("open", `{"type": "webhook", "webhook": {"verify": {"type": "none"}, "rateLimit": {"requests": 1000}, "challenge": "hub.challenge"}}`)
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
		{"POST", "small", hello, []string{signed}, 413, "at most 12 are allowed"},
		{"POST", "token", hello, []string{"Authorization: Bearer t"}, 401, "the sender is not verified"}, // before it reads the body
		{"POST", "token", hello, []string{"Authorization: Bearer s"}, 413, "12"},
		{"POST", "off", hello, []string{signed}, 404, "no webhook has this address"},
		{"POST", "nats", hello, []string{signed}, 404, "no webhook has this address"},
		{"POST", "absent", hello, []string{signed}, 404, "no webhook has this address"},
		{"POST", "ab.sent", hello, []string{signed}, 404, "no webhook has this address"},
		{"POST", "open", hello, nil, 421, "is not a name of this server"},
		{"POST", "open", hello, []string{ours, "Sec-Fetch-Site: cross-site"}, 403, "another origin"},
		{"POST", "open", "\xff\x00", []string{ours, "Nats-Rollup: all"}, 202, `"sequence":3`},
		{"POST", "/open", hello, nil, 421, "is not a name of this server"}, // a redirect to a webhook is none
		{"POST", "open", hello, []string{ours, "X-Ms-Scheduler-Jobid: j"}, 403, "jobs cannot use webhooks"},
		{"POST", "github", hello, []string{signed, "X-Ms-Scheduler-Jobid: j", "Authorization: Bearer x"}, 403, "jobs cannot use webhooks"},
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

// TestTimestampedWebhooks sends requests with a signed timestamp, in time and too late.
func TestTimestampedWebhooks(t *testing.T) {
	w := newHarness(t)
	const body = `{"id": "evt_1"}`
	key := []byte("0123456789abcdef01234567")
	sign := func(key []byte, text string) []byte {
		mac := hmac.New(sha256.New, key)
		_, _ = mac.Write([]byte(text))
		return mac.Sum(nil)
	}
	for scheme, send := range map[string]struct {
		secret  string
		headers func(at string) []string
	}{
		"standard": {"whsec_" + base64.StdEncoding.EncodeToString(key), func(at string) []string {
			return []string{
				"webhook-id: evt_1", "webhook-timestamp: " + at,
				"webhook-signature: v1," + base64.StdEncoding.EncodeToString(sign(key, "evt_1."+at+"."+body)),
			}
		}},
		"stripe": {"whsec_stripe", func(at string) []string {
			return []string{"Stripe-Signature: t=" + at + ",v1=" + hex.EncodeToString(sign([]byte("whsec_stripe"), at+"."+body))}
		}},
	} {
		source := fmt.Sprintf(`{"type": "webhook", "webhook": {"verify": {"type": %q, "secret": %q}}}`, scheme, send.secret)
		w.must(http.MethodPut, "/jobCollections/default/sources/"+scheme, source)
		for age, want := range map[time.Duration]int{0: 202, 10 * time.Minute: 401, -10 * time.Minute: 401} {
			at := strconv.FormatInt(w.store.Now().Add(-age).Unix(), 10)
			r := w.do(http.MethodPost, "/events/default/"+scheme, body, send.headers(at)...)
			if r.status != want || want == 202 && !strings.Contains(r.body, `"duplicate":false`) {
				t.Errorf("%s, %s old: %d %s, want %d", scheme, age, r.status, r.body, want)
			}
		}
	}
	if r := w.do(http.MethodGet, "/events", ""); strings.Count(r.body, `"sequence":`) != 2 {
		t.Errorf("the same ID of two sources: %s", r.body)
	}
}
