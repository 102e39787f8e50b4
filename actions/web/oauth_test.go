package web_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/actions/actiontest"
	"github.com/carillon-sched/carillon/actions/web"
	"github.com/carillon-sched/carillon/integration/testkit/bubble"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
)

// response returns an answer with a body.
func response(status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
}

// tokenResponse returns what a token server issues.
func tokenResponse(token string, life int) *http.Response {
	return response(http.StatusOK, fmt.Sprintf(`{"access_token":%q,"token_type":"bearer","expires_in":%d}`, token, life))
}

// oauthRequest asks for a token at http://login/ and shows it to http://target/.
const oauthRequest = `{"uri":"http://target/","method":"POST","body":"x",
	"authentication":{"type":"oauth2","tokenUrl":"http://login/token","clientId":"c","secret":"s3cret"}}`

// tokenServer is a token server and a target in one transport: it issues t1,
// t2, and so on, and the target takes those that accept says.
type tokenServer struct {
	life   int
	accept func(token string) bool

	issued, asked int
	shown         []string // tokens the target saw
}

func (s *tokenServer) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Host == "login" {
		s.issued++
		return tokenResponse("t"+strconv.Itoa(s.issued), s.life), nil
	}
	s.asked++
	body, _ := io.ReadAll(req.Body)
	token := strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer ")
	s.shown = append(s.shown, token)
	if string(body) != "x" || s.accept != nil && !s.accept(token) {
		return response(http.StatusUnauthorized, "no"), nil
	}
	return response(http.StatusOK, "yes"), nil
}

func (s *tokenServer) client() *web.Client { return web.New(web.Config{Transport: s}) }

// TestOAuth2Wire checks what token servers are asked, over sockets.
func TestOAuth2Wire(t *testing.T) {
	server := listen(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "token") {
			_, _ = io.WriteString(w, `{"access_token":"t0ken","token_type":"Bearer","expires_in":"3599","ext_expires_in":"3599"}`)
		}
	})
	login := must.Get(url.Parse(server.URL + "/login"))(t)
	client := newClient(t, web.Config{LoginEndpoint: login, Version: "1"})
	for name, test := range map[string]struct{ authentication, path, authorization, form string }{
		"directory": {
			`{"type":"ActiveDirectoryOAuth","tenant":"contoso.onmicrosoft.com","audience":"https://management.core.windows.net/","clientId":"c","secret":"a&b"}`,
			"/login/contoso.onmicrosoft.com/oauth2/token", "",
			"client_id=c&client_secret=a%26b&grant_type=client_credentials&resource=https%3A%2F%2Fmanagement.core.windows.net%2F",
		},
		"header": {
			`{"type":"OAuth2","tokenUrl":"` + server.URL + `/token?x=y","clientId":"a/b","secret":"c d&"}`,
			"/token?x=y", "Basic YSUyRmI6YytkJTI2", "grant_type=client_credentials",
		},
		"body": {
			`{"type":"OAuth2","tokenUrl":"` + server.URL + `/token","clientId":"c","secret":"a&b","authStyle":"Body","scope":"r w","audience":"https://api/"}`,
			"/token", "",
			"audience=https%3A%2F%2Fapi%2F&client_id=c&client_secret=a%26b&grant_type=client_credentials&scope=r+w",
		},
	} {
		t.Run(name, func(t *testing.T) {
			before := len(server.seen())
			result := invoke(t, client, fmt.Sprintf(`{"uri":%q,"method":"GET","authentication":%s}`, server.URL, test.authentication))
			if result.Failed {
				t.Fatal(result.Message)
			}
			got := server.seen()[before:]
			if len(got) != 2 || got[1].Header.Get("Authorization") != "Bearer t0ken" {
				t.Fatalf("got %+v", got)
			}
			token := got[0]
			if diff := cmp.Diff(
				[]string{"POST", test.path, test.authorization, test.form, "application/x-www-form-urlencoded", "application/json", "Carillon/1"},
				[]string{
					token.Method, token.Path, token.Header.Get("Authorization"), token.Body, token.Header.Get("Content-Type"),
					token.Header.Get("Accept"), token.Header.Get("User-Agent"),
				},
			); diff != "" {
				t.Error(diff)
			}
			if token.Header.Get("Idempotency-Key") != "" {
				t.Error("the token server is told about the job")
			}
		})
	}
}

// TestTokenLife checks how long a token is used: until shortly before its end.
func TestTokenLife(t *testing.T) {
	for name, test := range map[string]struct {
		life   int
		margin time.Duration
	}{
		"hour":        {3600, time.Minute},
		"five":        {300, 30 * time.Second},
		"much":        {1 << 40, time.Minute},
		"nothing":     {0, 0},
		"in the past": {-5, 0},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				s := &tokenServer{life: test.life}
				action := mustRead(t, s.client(), "Http", oauthRequest)
				use := func(want int) {
					t.Helper()
					if result := actiontest.Invoke(t.Context(), action, attempt()); result.Failed {
						t.Error(result.Message)
					}
					if s.issued != want {
						t.Errorf("%d tokens issued, want %d", s.issued, want)
					}
				}
				use(1)
				if test.life <= 0 {
					use(2)
					return
				}
				life := min(time.Duration(min(test.life, 1<<20))*time.Second, 24*time.Hour)
				time.Sleep(life - test.margin - time.Nanosecond)
				use(1)
				time.Sleep(time.Nanosecond)
				use(2)
			})
		})
	}
}

// TestTokenShared checks which jobs share a token: those that ask for the same
// with the same secret.
func TestTokenShared(t *testing.T) {
	s := &tokenServer{life: 3600}
	client := s.client()
	invoke(t, client, oauthRequest)
	invoke(t, client, oauthRequest)
	byName := mustRead(t, client, "Http", strings.Replace(oauthRequest, `"s3cret"`, `{"secretRef":"s"}`, 1))
	actiontest.Invoke(t.Context(), byName, shared(map[string]string{"s": "s3cret"}))
	if s.issued != 1 {
		t.Fatalf("%d tokens for one client", s.issued)
	}
	actiontest.Invoke(t.Context(), byName, shared(map[string]string{"s": "other"}))
	for _, other := range [][2]string{
		{`"clientId":"c"`, `"clientId":"d"`},
		{"login/token", "login/"},
		{`"clientId"`, `"scope":"a","clientId"`},
		{`"clientId"`, `"audience":"a","clientId"`},
		{`"clientId"`, `"authStyle":"body","clientId"`},
	} {
		invoke(t, client, strings.Replace(oauthRequest, other[0], other[1], 1))
	}
	if s.issued != 7 {
		t.Errorf("%d tokens for seven requests", s.issued)
	}
}

// TestTokenRenewed has targets that do not take the token they are shown.
func TestTokenRenewed(t *testing.T) {
	for name, test := range map[string]struct {
		accept  func(string) bool
		success string
		shown   []string
		status  int
	}{
		"once":         {func(token string) bool { return token != "t1" }, "", []string{"t1", "t2"}, 200},
		"never":        {func(string) bool { return false }, "", []string{"t1", "t2"}, 401},
		"is a success": {func(string) bool { return false }, `,"success":{"status":["401"]}`, []string{"t1"}, 401},
	} {
		t.Run(name, func(t *testing.T) {
			s := &tokenServer{life: 3600, accept: test.accept}
			result := invoke(t, s.client(), strings.TrimSuffix(oauthRequest, "}")+test.success+"}")
			if diff := cmp.Diff(test.shown, s.shown); diff != "" || result.Status != test.status || s.issued != len(test.shown) {
				t.Errorf("%d issued, %+v\n%s", s.issued, result, diff)
			}
			if result.Failed != result.Final || result.Failed != (name == "never") {
				t.Errorf("got %+v", result)
			}
		})
	}
}

// TestTokenRenewedForAll checks that a token that one attempt renewed is not
// renewed by the next, and that the same token again is not shown again.
func TestTokenRenewedForAll(t *testing.T) {
	s := &tokenServer{life: 3600}
	client := s.client()
	action := mustRead(t, client, "Http", oauthRequest)
	actiontest.Invoke(t.Context(), action, attempt())
	s.accept = func(token string) bool { return token == "t2" }
	actiontest.Invoke(t.Context(), action, attempt())
	actiontest.Invoke(t.Context(), action, attempt())
	if diff := cmp.Diff([]string{"t1", "t1", "t2", "t2"}, s.shown); diff != "" || s.issued != 2 {
		t.Errorf("%d issued\n%s", s.issued, diff)
	}
	var asked int
	same := web.New(web.Config{Transport: tripper(func(req *http.Request) (*http.Response, error) {
		if req.URL.Host == "login" {
			return tokenResponse("same", 3600), nil
		}
		asked++
		return response(http.StatusUnauthorized, "no"), nil
	})})
	if result := invoke(t, same, oauthRequest); result.Status != 401 || result.Response != "no" || asked != 1 {
		t.Errorf("asked %d times: %+v", asked, result)
	}
}

// TestTokenFailures has token servers that issue none.
func TestTokenFailures(t *testing.T) {
	for name, test := range map[string]struct {
		status int // 0: err
		body   string
		err    error
		want   string
		final  bool
		after  time.Duration
	}{
		"invalid client": {
			status: 401, body: `{"error":"invalid_client","error_description":"AADSTS7000215: Invalid client secret provided.\r\nTrace ID: 1"}`,
			want: "401 Unauthorized: invalid_client (AADSTS7000215: Invalid client secret provided.)", final: true,
		},
		"invalid scope":  {status: 400, body: `{"error":"invalid_scope"}`, want: "400 Bad Request: invalid_scope", final: true},
		"for a while":    {status: 400, body: `{"error":"temporarily_unavailable"}`, want: "400 Bad Request: temporarily_unavailable"},
		"no JSON":        {status: 404, body: `<html>`, want: "404 Not Found", final: true},
		"server error":   {status: 500, body: ``, want: "500 Internal Server Error"},
		"busy":           {status: 429, want: "429 Too Many Requests", after: 7 * time.Second},
		"redirect":       {status: 302, body: ``, want: "302 Found: redirects are not followed"},
		"garbage":        {status: 200, body: `<html>`, want: "the answer is not a token in JSON"},
		"empty":          {status: 200, body: ``, want: "the answer is not a token in JSON"},
		"no token":       {status: 200, body: `{}`, want: "the answer has no access_token"},
		"error as 200":   {status: 200, body: `{"error":"denied"}`, want: "the answer has no access_token but an error: denied"},
		"bad token":      {status: 200, body: `{"access_token":"a\nb"}`, want: "the access_token has characters that no header can carry"},
		"other type":     {status: 200, body: `{"access_token":"a","token_type":"mac"}`, want: `the token is of type "mac", only Bearer is known`},
		"huge":           {status: 200, body: `{"access_token":"` + strings.Repeat("a", 70_000) + `"}`, want: "the answer is longer than 65536 bytes"},
		"breaks off":     {status: 200, body: "{", want: "the answer broke off: connection closed by the host"},
		"out of reach":   {err: errors.New("no way"), want: "no way"},
		"control":        {status: 400, body: `{"error":"a\u0007b"}`, want: "400 Bad Request: a b", final: true},
		"a long excuse":  {status: 400, body: `{"error":"e","error_description":"` + strings.Repeat("x", 9000) + `"}`, want: "400 Bad Request: e (" + strings.Repeat("x", 512-20), final: true},
		"unauthorized":   {status: 403, body: `{"error":5}`, want: "403 Forbidden", final: true},
		"request denied": {status: 408, body: `{}`, want: "408 Request Timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			client := web.New(web.Config{Transport: tripper(func(req *http.Request) (*http.Response, error) {
				if req.URL.Host != "login" {
					t.Errorf("%s was asked", req.URL)
				}
				if test.status == 0 {
					return nil, test.err
				}
				answer := response(test.status, test.body)
				answer.Header.Set("Retry-After", "7")
				if test.body == "{" {
					answer.Body = io.NopCloser(io.MultiReader(answer.Body, broken{}))
				}
				return answer, nil
			})})
			result := invoke(t, client, oauthRequest)
			want := "Http Action - Token request to host 'login' failed: " + test.want
			if !result.Failed || !result.SkipCircuit || result.Final != test.final || result.RetryAfter != test.after || result.Status != 0 || result.Message != want {
				t.Errorf("got  %+v\nwant %s", result, want)
			}
		})
	}
}

// broken is a body that ends too early.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// TestTokenServerHangs checks that an attempt ends in time whatever part of a
// token is late, on sockets.
func TestTokenServerHangs(t *testing.T) {
	for path, want := range map[string]string{
		"/silent": "timed out after 50ms",
		"/body":   "the answer broke off: timed out after 50ms",
	} {
		server := listen(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/body" {
				_, _ = io.WriteString(w, `{"access_token":`)
				_ = http.NewResponseController(w).Flush()
			}
			<-r.Context().Done()
		})
		at := attempt()
		at.Timeout = 50 * time.Millisecond
		request := strings.Replace(oauthRequest, "http://login/token", server.URL+path, 1)
		result := actiontest.Invoke(t.Context(), mustRead(t, newClient(t, web.Config{}), "Http", request), at)
		want := "Http Action - Token request to host '" + server.Listener.Addr().String() + "' failed: " + want
		if !result.Failed || result.Final || result.Message != want {
			t.Errorf("got  %+v\nwant %s", result, want)
		}
	}
}

// TestTokenFlight checks that a herd asks for its token once, fails together,
// and does not fail with one whose time is over.
func TestTokenFlight(t *testing.T) {
	const herd = 50
	for name, test := range map[string]struct {
		answer func(n int64) *http.Response
		failed int
		asked  int64
		hasty  bool
	}{
		"issued": {func(int64) *http.Response { return tokenResponse("t", 3600) }, 0, 1, false},
		"denied": {func(int64) *http.Response { return response(400, `{"error":"invalid_client"}`) }, herd, 1, false},
		"the first gives up": {func(n int64) *http.Response {
			if n == 1 {
				return nil
			}
			return tokenResponse("t", 3600)
		}, 1, 2, true},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				var asked atomic.Int64
				client := web.New(web.Config{Transport: tripper(func(req *http.Request) (*http.Response, error) {
					if req.URL.Host != "login" {
						return response(200, ""), nil
					}
					answer := test.answer(asked.Add(1))
					if answer == nil {
						<-req.Context().Done()
						return nil, req.Context().Err()
					}
					time.Sleep(time.Second)
					return answer, nil
				})})
				action := mustRead(t, client, "Http", oauthRequest)
				results := make([]scheduler.Result, herd)
				var wg sync.WaitGroup
				for i := range results {
					ctx, cancel := context.WithCancel(t.Context())
					if test.hasty && i == 0 {
						time.AfterFunc(time.Second/2, cancel)
					}
					wg.Go(func() {
						defer cancel()
						results[i] = actiontest.Invoke(ctx, action, attempt())
					})
					synctest.Wait()
				}
				wg.Wait()
				failed := 0
				for _, result := range results {
					if result.Failed {
						failed++
					}
				}
				if failed != test.failed || asked.Load() != test.asked {
					t.Errorf("%d failed, %d tokens asked for; want %d and %d", failed, asked.Load(), test.failed, test.asked)
				}
			})
		})
	}
}

// TestTokenWaitTimesOut has an attempt that waits for another's token.
func TestTokenWaitTimesOut(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		action := mustRead(t, web.New(web.Config{Transport: actiontest.Stuck}), "Http", oauthRequest)
		long, short := attempt(), attempt()
		short.Timeout = time.Second
		var wg sync.WaitGroup
		wg.Go(func() { actiontest.Invoke(t.Context(), action, long) })
		synctest.Wait()
		result := actiontest.Invoke(t.Context(), action, short)
		wantFailure(t, result, "target", "timed out after 1s")
		if result.Duration != time.Second {
			t.Errorf("took %v", result.Duration)
		}
		wg.Wait()
	})
}

// TestBlamelessRenewal has a target that takes no token, and a token server that has no other one.
func TestBlamelessRenewal(t *testing.T) {
	asked := 0
	server := listen(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path != "/token":
			w.WriteHeader(http.StatusUnauthorized)
		case asked == 0:
			asked++
			_, _ = io.WriteString(w, `{"access_token":"t0ken"}`)
		default:
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	result := invoke(t, newClient(t, web.Config{}), fmt.Sprintf(`{"uri":"%s/","method":"GET",
		"authentication":{"type":"OAuth2","clientId":"c","secret":"s3cret","tokenUrl":"%s/token"}}`, server.URL, server.URL))
	if !result.Failed || !result.SkipCircuit || !strings.Contains(result.Message, "Token request to host ") {
		t.Errorf("got %+v", result)
	}
}

// TestTokenServerEndless has a token server whose answer does not end.
func TestTokenServerEndless(t *testing.T) {
	gone := make(chan struct{})
	server := listen(t, func(w http.ResponseWriter, _ *http.Request) {
		defer close(gone)
		for chunk := make([]byte, 32<<10); ; {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	})
	at := attempt()
	at.Timeout = 10 * time.Second
	request := strings.Replace(oauthRequest, "http://login/token", server.URL, 1)
	result := actiontest.Invoke(t.Context(), mustRead(t, newClient(t, web.Config{}), "Http", request), at)
	if !result.Failed || !strings.HasSuffix(result.Message, "failed: the answer is longer than 65536 bytes") {
		t.Errorf("got %+v", result)
	}
	<-gone
}
