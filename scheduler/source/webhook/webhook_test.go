package webhook_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/source"
	"github.com/carillon-sched/carillon/scheduler/source/webhook"
)

// newSource reads a source with the fields of verify.
func newSource(t *testing.T, verify string) *source.Source {
	t.Helper()
	doc := must.Get(document.Parse([]byte(`{"type": "webhook", "webhook": {"rateLimit": {"requests": 9}, "verify": ` + verify + `}}`)))(t)
	return must.Get(source.Read(scheduler.Key{Collection: "sales", Job: "orders"}, doc, nil))(t)
}

// headers parses lines of "name: value".
func headers(lines string) http.Header {
	h := http.Header{}
	for line := range strings.SplitSeq(lines, "\n") {
		if name, value, ok := strings.Cut(line, ": "); ok {
			h.Add(name, value)
		}
	}
	return h
}

// The published examples of the schemes.
const (
	// https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
	github          = `{"type": "github", "secret": "It's a Secret to Everybody"}`
	githubSignature = "X-Hub-Signature-256: sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
	// https://docs.svix.com/receiving/verifying-payloads/how-manual, and the same in the tests of the libraries:
	// https://github.com/standard-webhooks/standard-webhooks/blob/main/libraries/go/webhook_symmetric_test.go
	standard        = `{"type": "standard", "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}`
	standardID      = "Webhook-Id: msg_p5jXN8AQM9LWM0D4loKWxJek\nWebhook-Timestamp: 1614265330\n"
	standardHeaders = standardID + "Webhook-Signature: v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	standardBody    = `{"test": 2432232314}`
	// https://github.com/stripe/stripe-dotnet/blob/316d26b3209c4f8e4ba8f3b84aeac677f02750e2/src/StripeTests/Services/Events/EventUtilityTest.cs
	// and event_test_signature.json in src/StripeTests/Resources.
	stripeLibrary   = `{"type": "stripe", "secret": "webhook_secret"}`
	stripeAt        = 1533204620
	stripeSignature = "Stripe-Signature: t=1533204620,v1=2220f87ef101a04665f11cdf770523143f875572008577fa0f20882ddb9cc3c7," +
		"v0=63f3a72374a733066c4be69ed7f8e5ac85c22c9f0a6a612ab9a025a9e4ee7eef"
	stripeEvent = `{
  "id": "evt_123",
  "object": "event",
  "account": "acct_123",
  "api_version": "2017-05-25",
  "created": 1533204620,
  "data": {
    "object": {
      "id": "cus_123",
      "object": "customer",
      "created": 123456789,
      "email": "test@stripe.com",
      "livemode": false,
      "metadata": {}
    }
  },
  "livemode": false,
  "pending_webhooks": 1,
  "request": {
    "id": "req_123",
    "idempotency_key": "idempotency-key-123"
  },
  "type": "customer.created"
}
`
	// RFC 2202, case 2, and RFC 4231, case 2.
	rfcBody = "what do ya want for nothing?"
)

// TestVerify verifies right and wrong requests of each scheme.
func TestVerify(t *testing.T) {
	at := time.Unix(1614265330, 0)
	ago := time.Unix(stripeAt, 0).Sub(at)
	mac := hmac.New(sha256.New, []byte("whsec_test"))
	_, _ = mac.Write([]byte(`1614265330.{"id": "evt_1"}`))
	signature := hex.EncodeToString(mac.Sum(nil))
	stripe, event := `{"type": "stripe", "secret": "whsec_test"}`, `{"id": "evt_1"}`
	key := must.Get(base64.StdEncoding.DecodeString("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))(t)
	mac = hmac.New(sha256.New, key)
	_, _ = mac.Write([]byte("a.b.1614265330."))
	dotted := base64.StdEncoding.EncodeToString(mac.Sum(nil))
	hash := func(rest string) string { return `{"type": "hmac", "secret": "Jefe", "header": "X-Sig", ` + rest + `}` }
	for _, test := range []struct {
		name, verify, headers, body string
		late                        time.Duration
		ok                          bool
	}{
		{"github", github, githubSignature, "Hello, World!", 0, true},
		{"github: another body", github, githubSignature, "Hello, World?", 0, false},
		{"github: no header", github, "", "Hello, World!", 0, false},
		{"github: empty", github, "X-Hub-Signature-256: sha256=", "Hello, World!", 0, false},
		{"github: no prefix", github, strings.Replace(githubSignature, "sha256=", "", 1), "Hello, World!", 0, false},
		{"standard", standard, standardHeaders, standardBody, 0, true},
		{"standard: two secrets", standard, strings.Replace(standardHeaders, "v1,", "v1,AAAA v1a,g0hM v1,", 1), standardBody, 0, true},
		{"standard: in time", standard, standardHeaders, standardBody, time.Minute, true},
		{"standard: too late", standard, standardHeaders, standardBody, time.Minute + time.Second, false},
		{"standard: too early", standard, standardHeaders, standardBody, -time.Minute - time.Second, false},
		{"standard: another time", standard, strings.Replace(standardHeaders, "1614265330", "1614265331", 1), standardBody, 0, false},
		{"standard: another id", standard, strings.Replace(standardHeaders, "msg_", "msg-", 1), standardBody, 0, false},
		{"standard: an id with a dot", standard, "Webhook-Id: a.b\nWebhook-Timestamp: 1614265330\nWebhook-Signature: v1," + dotted, "", 0, false},
		{"standard: another version", standard, strings.Replace(standardHeaders, "v1,", "v2,", 1), standardBody, 0, false},
		{"standard: no signature", standard, standardID, standardBody, 0, false},
		{"stripe: of its library", stripeLibrary, stripeSignature, stripeEvent, ago, true},
		{"stripe: of its library, another body", stripeLibrary, stripeSignature, stripeEvent + "x", ago, false},
		{"stripe: of its library, late", stripeLibrary, stripeSignature, stripeEvent, ago + 400*time.Second, false},
		{"stripe", stripe, "Stripe-Signature: t=1614265330,v1=00,v1=" + signature + ",v0=1", event, 0, true},
		{"stripe: too late", stripe, "Stripe-Signature: t=1614265330,v1=" + signature, event, time.Hour, false},
		{"stripe: another time", stripe, "Stripe-Signature: t=1614265331,v1=" + signature, event, 0, false},
		{"stripe: v0 only", stripe, "Stripe-Signature: t=1614265330,v0=" + signature, event, 0, false},
		{"stripe: no time", stripe, "Stripe-Signature: v1=" + signature, event, 0, false},
		{"sha1", hash(`"algorithm": "sha1"`), "X-Sig: effcdf6ae5eb2fa2d27416d5f184df9c259a7c79", rfcBody, 0, true},
		{"sha256", hash(`"prefix": "v0="`), "X-Sig: v0=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843", rfcBody, 0, true},
		{"sha256 in base64", hash(`"encoding": "base64"`), "X-Sig: W9zBRr9gdU5qBCQmCJV1x1oAPwidJzmDnexYuWTsOEM=", rfcBody, 0, true},
		{"sha256 for sha512", hash(`"algorithm": "sha512"`), "X-Sig: 5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843", rfcBody, 0, false},
		{"basic", `{"type": "basic", "user": "u", "password": "p"}`, "Authorization: Basic dTpw", "", 0, true},
		{"basic: another user", `{"type": "basic", "user": "v", "password": "p"}`, "Authorization: Basic dTpw", "", 0, false},
		{"basic: another password", `{"type": "basic", "user": "u", "password": "q"}`, "Authorization: Basic dTpw", "", 0, false},
		{"token", `{"type": "token", "secret": "s"}`, "Authorization: bearer s", "", 0, true},
		{"token: another scheme", `{"type": "token", "secret": "s"}`, "Authorization: Basic s", "", 0, false},
		{"token in a header", `{"type": "token", "secret": "s", "header": "X-Gitlab-Token"}`, "X-Gitlab-Token: s", "", 0, true},
		{"wrong token", `{"type": "token", "secret": "s", "header": "X-Gitlab-Token"}`, "X-Gitlab-Token: t", "", 0, false},
		{"no token", `{"type": "token", "secret": "s", "header": "X-Gitlab-Token"}`, "", "", 0, false},
		{"none", `{"type": "none"}`, "", "", 0, true},
	} {
		w := newSource(t, test.verify).Webhook
		secret, _ := w.Verify.Secret.Literal()
		err := webhook.Verify(w, secret, headers(test.headers), []byte(test.body), at.Add(test.late))
		if (err == nil) != test.ok || err != nil && !errors.Is(err, webhook.ErrUnverified) {
			t.Errorf("%s: %v", test.name, err)
		}
		if w.Verify.Scheme != source.None && webhook.Verify(w, "", headers(test.headers), []byte(test.body), at) == nil {
			t.Errorf("%s: verified with an empty secret", test.name)
		}
	}
}

// TestHeaders keeps what describes the event, and neither credentials nor what NATS would obey.
func TestHeaders(t *testing.T) {
	const all = "Content-Type: text/plain\nX-GitHub-Event: push\nX-GitHub-Delivery: 72d3162e\nX-Hub-Signature: s\nAuthorization: a\n" +
		"Cookie: c\nNats-Rollup: all\nNats-Msg-Id: mine\nCarillon-Trace: x\nX-Forwarded-For: ::1\nX-Sum: s\nCe-Id: 7\n" +
		"Cf-Connecting-Ip: ::1\nX-Real-Ip: ::1\nX-Amzn-Oidc-Data: x\nX-Ms-Client-Principal: x\nX-Goog-Iap-Jwt-Assertion: x\nX-Goog-Authenticated-User-Id: x\n" +
		"Webhook-Signature: s\nAccept: */*\nUser-Agent: hooks/1\nContent-Encoding: gzip\n" + githubSignature
	rest := map[string][]string{
		"content-type": {"text/plain"}, "x-github-event": {"push"}, "x-github-delivery": {"72d3162e"}, "ce-id": {"7"},
		"user-agent": {"hooks/1"}, "content-encoding": {"gzip"},
	}
	for verify, id := range map[string]string{
		github: "72d3162e", `{"type": "stripe", "secret": "s"}`: "evt_1", `{"type": "hmac", "secret": "s", "header": "x-sum"}`: "7",
	} {
		want := map[string][]string{"Nats-Msg-Id": {id}}
		maps.Copy(want, rest)
		if !strings.Contains(verify, "x-sum") {
			want["x-sum"] = []string{"s"}
		}
		s := newSource(t, verify)
		got := webhook.Headers(s, headers(all), []byte(`{"id": "evt_1"}`))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", verify, diff)
		}
		if e := must.Get(scheduler.NewEvent(s.Topic(), got, nil))(t); e.ID != id {
			t.Errorf("%s: the event has the ID %q", verify, e.ID)
		}
	}
}
