package web_test

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/actions/web"
	"github.com/carillon-sched/carillon/integration/testkit/bubble"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// shared is an attempt that knows some shared secrets.
func shared(secrets map[string]string) scheduler.Attempt {
	at := attempt()
	at.Shared = func(name string) (string, error) {
		text, ok := secrets[name]
		if !ok {
			return "", errors.New("not found")
		}
		return text, nil
	}
	return at
}

// properties reads an action and returns what is shown of its request.
func properties(t *testing.T, client *web.Client, request string, stored bool) (shown document.Value, problems error) {
	t.Helper()
	v := must.Get(document.Parse([]byte(`{"action":{"request":` + request + `}}`)))(t)
	r := document.NewReader()
	r.Stored = stored
	o, _ := r.Object(v, "").Object("action")
	client.ReadAction("Http", o)
	action, _ := v.Member("action")
	shown, _ = action.Member("request")
	return shown, r.Err()
}

func TestBasic(t *testing.T) {
	server := listen(t, nil)
	client := newClient(t, web.Config{})
	request := fmt.Sprintf(`{"uri":%q,"method":"GET","authentication":{"TYPE":"basic","username":"Aladdin","password":%%s}}`, server.URL)
	if result := invoke(t, client, fmt.Sprintf(request, `"open sesame"`)); result.Failed {
		t.Error(result.Message)
	}
	for _, got := range server.seen() {
		if auth := got.Header.Get("Authorization"); auth != "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==" { // the example of RFC 7617
			t.Errorf("authorization: %s", auth)
		}
	}
}

// TestRedirectAuthentication checks that what proves the sender stays with the
// host it was given for, also on the way back.
func TestRedirectAuthentication(t *testing.T) {
	for name, test := range map[string]struct{ member, header string }{
		"basic":   {`"authentication":{"type":"Basic","username":"u","password":"p4ss"}`, "Authorization"},
		"OAuth2":  {`"authentication":{"type":"OAuth2","tokenUrl":"http://login/","clientId":"c","secret":"s3cret"}`, "Authorization"},
		"webhook": {`"webhook":{"secret":"` + webhookSecret + `"}`, "Webhook-Signature"},
		"header":  {`"headers":{"X-Plain":{"secretRef":"x"}}`, "X-Plain"},
	} {
		t.Run(name, func(t *testing.T) {
			next := map[string]string{"http://a/": "http://a/same", "http://a/same": "http://b/", "http://b/": "http://a/back"}
			var got []string
			client := web.New(web.Config{Transport: tripper(func(req *http.Request) (*http.Response, error) {
				if req.URL.Host == "login" {
					return tokenResponse("t0ken", 3600), nil
				}
				if req.Header.Get(test.header) != "" {
					got = append(got, req.URL.String())
				}
				if to := next[req.URL.String()]; to != "" {
					return &http.Response{StatusCode: http.StatusTemporaryRedirect, Header: http.Header{"Location": {to}}}, nil
				}
				return &http.Response{StatusCode: http.StatusUnauthorized}, nil // for which no token is renewed any more
			})})
			action := mustRead(t, client, "Http", `{"uri":"http://a/","method":"POST","body":"x",`+test.member+`}`)
			result := action.Invoke(t.Context(), shared(map[string]string{"x": "s3cret"}))
			if result.Status != http.StatusUnauthorized || !result.Final {
				t.Errorf("got %+v", result)
			}
			if diff := cmp.Diff([]string{"http://a/", "http://a/same"}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestSecretHeaders checks which headers can be written but not read, and that
// any may be a shared secret.
func TestSecretHeaders(t *testing.T) {
	server := listen(t, nil)
	client := newClient(t, web.Config{})
	request := fmt.Sprintf(`{"uri":%q,"method":"GET","headers":{"authorization":"Bearer s3cret","Cookie":"a=s3cret; b=c","X-Api-Key":"s3cret",
		"x-access-token":"s3cret","X-Secret":"s3cret","x-session":"s3cret","X-Token-V2":"s3cret","X-Author":"plain","X-Password":"s3cret","X-Hub-Signature":"s3cret","X-Tenant":{"secretRef":"tenant"},
		"Private-Key":{"SECRETREF":"key"},"Idempotency-Key":"plain","X-Idempotency-Key":"plain","Accept":"plain"}}`, server.URL)
	shown := must.Get(properties(t, client, request, false))(t)
	headers, _ := shown.Member("headers")
	want := `{"X-Author":"plain","X-Tenant":{"secretRef":"tenant"},"Private-Key":{"secretRef":"key"},` +
		`"Idempotency-Key":"plain","X-Idempotency-Key":"plain","Accept":"plain"}`
	if diff := cmp.Diff(want, headers.String()); diff != "" {
		t.Error(diff)
	}
	action := mustRead(t, client, "Http", request)
	if result := action.Invoke(t.Context(), shared(map[string]string{"tenant": "north", "key": "k3y"})); result.Failed {
		t.Fatal(result.Message)
	}
	got := server.seen()[0].Header
	for name, value := range map[string]string{
		"Authorization": "Bearer s3cret", "Cookie": "a=s3cret; b=c", "X-Api-Key": "s3cret", "X-Access-Token": "s3cret", "X-Session": "s3cret", "X-Token-V2": "s3cret",
		"X-Tenant": "north", "Private-Key": "k3y", "Idempotency-Key": "plain", "Accept": "plain",
	} {
		if got.Get(name) != value {
			t.Errorf("%s: got %q, want %q", name, got.Get(name), value)
		}
	}
	host := server.Listener.Addr().String()
	wantFailure(t, action.Invoke(t.Context(), shared(map[string]string{"tenant": "a\nb", "key": "k3y"})), host,
		"the secret for header X-Tenant has line breaks or control characters")
	wantFailure(t, action.Invoke(t.Context(), shared(map[string]string{"tenant": "north"})), host, `shared secret "key": not found`)
}

// TestConfides has who is shown the secrets of an action.
func TestConfides(t *testing.T) {
	client := web.New(web.Config{})
	for members, want := range map[string][]scheduler.Recipient{
		`"uri":"HTTP://H/a?b"`:                                  {{Address: "http://h"}},
		`"uri":"https://h:443/"`:                                {{Address: "https://h"}},
		`"uri":"http://h:443/"`:                                 {{Address: "http://h:443"}},
		`"uri":"https://[::1]:80/"`:                             {{Address: "https://[::1]:80"}},
		`"uri":"https://h/","headers":{"Host":"Other.Example"}`: {{Address: "https://h as other.example"}},
		`"uri":"https://h/","headers":{"host":"H"}`:             {{Address: "https://h"}},
		`"uri":"https://h/","authentication":{"type":"OAuth2","tokenUrl":"https://l/","clientId":"c","secret":"s","scope":"x y","audience":"a"}`: {
			{Address: "https://h"}, {Role: "token server", Address: "https://l/ for scope x y for audience a"},
		},
		`"uri":"https://h/","authentication":{"type":"Basic","username":"u","password":"p"}`: {{Address: "https://h"}},
		`"uri":"https://h/","authentication":{"type":"OAuth2","tokenUrl":"https://L/t?u=v","clientId":"c","secret":"s"}`: {
			{Address: "https://h"}, {Role: "token server", Address: "https://l/t"},
		},
		`"uri":"https://h/","authentication":{"type":"ActiveDirectoryOAuth","tenant":"n","audience":"a","clientId":"c","secret":"s"}`: {
			{Address: "https://h"}, {Role: "token server", Address: "https://login.microsoftonline.com/n/oauth2/token for resource a"},
		},
	} {
		action := mustRead(t, client, "Http", `{"method":"GET",`+members+`}`)
		if diff := cmp.Diff(want, action.(scheduler.SecretDestination).Recipients()); diff != "" {
			t.Errorf("%s: %s", members, diff)
		}
	}
}

// The test vector of the Standard Webhooks libraries, and a second secret.
const (
	webhookSecret   = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	webhookPrevious = "whsec_YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXo="
	webhookID       = "msg_p5jXN8AQM9LWM0D4loKWxJek"
	webhookTime     = 1614265330
	webhookBody     = `{"test": 2432232314}`
	webhookSigned   = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
)

// signed runs an attempt at the vector's time and returns its headers.
func signed(t *testing.T, webhook string, secrets map[string]string) (headers []http.Header, result scheduler.Result) {
	t.Helper()
	bubble.Test(t, func(t *testing.T) {
		client := web.New(web.Config{Transport: tripper(func(req *http.Request) (*http.Response, error) {
			headers = append(headers, req.Header)
			if req.URL.Path == "/moved" {
				return &http.Response{StatusCode: http.StatusSeeOther, Header: http.Header{"Location": {"/"}}}, nil
			}
			return &http.Response{StatusCode: http.StatusOK}, nil
		})})
		time.Sleep(time.Until(time.Unix(webhookTime, 900_000_000)))
		at := shared(secrets)
		at.Key = webhookID
		path := "/"
		if secrets["moved"] != "" {
			path = "/moved"
		}
		request := fmt.Sprintf(`{"uri":"http://h%s","method":"POST","body":%q,"webhook":%s}`, path, webhookBody, webhook)
		result = mustRead(t, client, "Http", request).Invoke(t.Context(), at)
	})
	return headers, result
}

func TestWebhook(t *testing.T) {
	const previous = "v1,EQ9VtNndYSlPrWnoqCluBWAXZCnZYmQrQ628A2ecSBA="
	for name, test := range map[string]struct{ webhook, want string }{
		"literal":  {`{"secret":"` + webhookSecret + `"}`, webhookSigned},
		"by name":  {`{"secret":{"secretRef":"new"}}`, webhookSigned},
		"rotating": {`{"previousSecret":{"secretRef":"old"},"secret":{"secretRef":"new"}}`, webhookSigned + " " + previous},
	} {
		t.Run(name, func(t *testing.T) {
			headers, result := signed(t, test.webhook, map[string]string{"new": webhookSecret, "old": webhookPrevious})
			if result.Failed {
				t.Fatal(result.Message)
			}
			got := [3]string{headers[0].Get("webhook-id"), headers[0].Get("webhook-timestamp"), headers[0].Get("webhook-signature")}
			if diff := cmp.Diff([3]string{webhookID, strconv.Itoa(webhookTime), test.want}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestWebhookRedirect checks that a request that lost its body is signed anew.
func TestWebhookRedirect(t *testing.T) {
	headers, result := signed(t, `{"secret":"`+webhookSecret+`"}`, map[string]string{"moved": "yes"})
	if result.Failed || len(headers) != 2 {
		t.Fatalf("%d requests: %+v", len(headers), result)
	}
	const empty = "v1,v48jdbgvh29KJz2Qc+ghw8G6vG3nAKnujWBg8oM/62A="
	if got := headers[1].Get("webhook-signature"); headers[0].Get("webhook-signature") != webhookSigned || got != empty {
		t.Errorf("got %s", got)
	}
}

func TestWebhookBadSecret(t *testing.T) {
	headers, result := signed(t, `{"secret":{"secretRef":"new"}}`, map[string]string{"new": "whsec_AAAA"})
	wantFailure(t, result, "h", "the secret of webhook has a key of 3 bytes, must be 24 to 64")
	if headers != nil {
		t.Errorf("%d requests", len(headers))
	}
}
