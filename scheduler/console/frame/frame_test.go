package frame_test

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/words"
)

var pages = frame.Templates(fstest.MapFS{"page.html": {Data: []byte(
	`{{define "main"}}<p>{{.}}</p><input value="{{.}}"><a href="{{.}}">x</a>{{end}}{{define "part"}}<i>{{.}}</i>{{end}}`,
)}}, "page.html")

// section has a page that shows what it is asked for, one for each error, and something that can be changed.
func section(changed *int) frame.Section {
	show := func(c *frame.Request) error {
		return c.Show(&frame.Page{Title: "A page", Template: pages, Data: c.Query("text")})
	}
	return frame.Section{Name: "overview", Path: "/", Right: auth.ReadAny, Routes: []frame.Route{
		{Method: http.MethodGet, Path: "/{$}", Right: auth.ReadAny, Do: show},
		{Method: http.MethodGet, Path: "/console/jobs/{c}", Right: auth.Read, Do: show},
		{Method: http.MethodPost, Path: "/console/jobs/{c}", Right: auth.Operate, Do: func(c *frame.Request) error {
			*changed++
			c.Note("It is <b>done</b>." + c.Query("more"))
			return c.Redirect("/")
		}},
		{Method: http.MethodGet, Path: "/console/invalid", Right: auth.Known, Do: func(*frame.Request) error {
			return scheduler.Invalid("a.<b>", "is <i>wrong</i>")
		}},
		{Method: http.MethodGet, Path: "/console/defect", Right: auth.Known, Do: func(*frame.Request) error { return errors.New("secret detail") }},
		{Method: http.MethodGet, Path: "/console/unavailable", Right: auth.Known, Do: func(*frame.Request) error {
			return fmt.Errorf("store: %w", scheduler.ErrUnavailable)
		}},
		{Method: http.MethodGet, Path: "/console/panic", Right: auth.Known, Do: func(*frame.Request) error { panic("secret detail") }},
		{Method: http.MethodGet, Path: "/console/beside", Right: auth.Known, Do: func(c *frame.Request) error {
			failed := make(chan error)
			go func() {
				_, err := frame.Guarded(c, func() (int, error) { panic("secret detail") })
				failed <- err
			}()
			return <-failed
		}},
	}}
}

// known are the tokens of the tests.
var known = map[string]auth.Grant{
	"admin-token":  {Role: auth.Admin},
	"reader-token": {Role: auth.Reader, Collections: []string{"a"}},
}

func identify(r *http.Request) (*auth.Principal, error) {
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	grant, ok := known[token]
	if !ok {
		return nil, &auth.Unknown{Reason: "no token, or none that is known"}
	}
	return &auth.Principal{Name: token, Via: auth.ViaToken, Grants: []auth.Grant{grant}}, nil
}

// console is one with a section, and how often that was changed.
func console() (*frame.Frame, *int) {
	changed := new(int)
	return frame.New(frame.Config{
		Sections: []frame.Section{section(changed)}, Identify: identify, AllowHost: func(host string) bool { return host == "here.example" },
		Ready: context.Context.Err, // it is, as long as it may look
	}), changed
}

// ask sends a request, with the headers of lines "Name: value".
func ask(f http.Handler, method, target, body string, lines ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://here.example"+target, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Set(name, value)
	}
	if host := r.Header.Get("Host"); host != "" {
		r.Host = host
	}
	w := httptest.NewRecorder()
	f.ServeHTTP(w, r)
	return w
}

// cookies are those that an answer sets.
func cookies(w *httptest.ResponseRecorder) []*http.Cookie {
	all, _ := http.ParseSetCookie(w.Header().Get("Set-Cookie"))
	if all == nil {
		return nil
	}
	return []*http.Cookie{all}
}

const (
	admin  = "Cookie: carillon-token=admin-token"
	reader = "Cookie: carillon-token=reader-token"
)

// TestAnswers has who asks for what, and what comes of it.
func TestAnswers(t *testing.T) {
	tests := map[string]struct {
		method, target string
		headers        []string
		status         int
		want           string // in the body
	}{
		"nobody known":              {"GET", "/", nil, 401, "Access token"},
		"a token that is not taken": {"GET", "/", []string{"Cookie: carillon-token=old"}, 401, "none that is known"},
		"a cookie":                  {"GET", "/?text=hello", []string{admin}, 200, "<p>hello</p>"},
		"a header":                  {"GET", "/?text=hello", []string{"Authorization: Bearer admin-token"}, 200, "<p>hello</p>"},
		"HEAD":                      {"HEAD", "/", []string{admin}, 200, ""},
		"markup": {
			"GET", "/?text=" + url.QueryEscape(`"><script>alert(1)</script>`),
			[]string{admin},
			200, `<p>&#34;&gt;&lt;script&gt;alert(1)&lt;/script&gt;</p>`,
		},
		"a script as link":       {"GET", "/?text=javascript:alert(1)", []string{admin}, 200, `href="#ZgotmplZ"`},
		"a collection":           {"GET", "/console/jobs/a", []string{reader}, 200, ""},
		"another collection":     {"GET", "/console/jobs/b", []string{reader}, 403, "reader"},
		"no operator":            {"POST", "/console/jobs/a", []string{reader}, 403, "operator"},
		"nothing there":          {"GET", "/console/nowhere", []string{admin}, 404, "Page not found: /console/nowhere"},
		"another method":         {"DELETE", "/console/jobs/a", []string{admin}, 405, "GET, HEAD, POST"},
		"what is wrong":          {"GET", "/console/invalid", []string{admin}, 400, "<code>a.&lt;b&gt;</code>: is &lt;i&gt;wrong&lt;/i&gt;"},
		"a defect":               {"GET", "/console/defect", []string{admin}, 500, "defect"},
		"a heading for a defect": {"GET", "/console/defect", []string{admin}, 500, "<h1>Something went wrong</h1>"},
		"a heading for rights":   {"GET", "/console/jobs/b", []string{reader}, 403, "<h1>Not allowed</h1>"},
		"a panic":                {"GET", "/console/panic", []string{admin}, 500, "defect"},
		"a panic beside":         {"GET", "/console/beside", []string{admin}, 500, "defect"},
		"no store":               {"GET", "/console/unavailable", []string{admin}, 503, "Your input is kept"},
		"a part that is wrong":   {"GET", "/console/invalid", []string{admin, "X-Carillon-Part: 1"}, 400, `<div class="problem"`},
		"a part without rights":  {"GET", "/", []string{"X-Carillon-Part: 1"}, 401, `<div class="problem"`},
		"another host":           {"GET", "/", []string{admin, "Host: rebound.example"}, 421, "--allowed-host"},
		"a page elsewhere":       {"POST", "/console/jobs/a", []string{admin, "Sec-Fetch-Site: cross-site"}, 403, ""},
		"a part elsewhere":       {"GET", "/", []string{admin, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: image"}, 403, ""},
		"a frame elsewhere":      {"GET", "/", []string{admin, "Sec-Fetch-Site: same-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: iframe"}, 403, ""},
		"a link elsewhere": {
			"GET", "/?text=hello",
			[]string{admin, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"},
			200, "<p>hello</p>",
		},
		"an origin elsewhere": {"POST", "/console/jobs/a", []string{admin, "Origin: https://evil.example"}, 403, ""},
	}
	for name, test := range tests {
		f, changed := console()
		r := ask(f, test.method, test.target, "", test.headers...)
		body := r.Body.String()
		if r.Code != test.status || !strings.Contains(body, test.want) {
			t.Errorf("%s: %d, want %d with %q: %s", name, r.Code, test.status, test.want, body)
		}
		if strings.Contains(body, "secret detail") {
			t.Errorf("%s tells the inside of a defect", name)
		}
		if *changed != 0 {
			t.Errorf("%s changes something", name)
		}
		policy := r.Header().Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") || r.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: headers %v", name, r.Header())
		}
	}
}

// TestChange changes something by a form of this origin, and the next page says so, once.
func TestChange(t *testing.T) {
	f, changed := console()
	r := ask(f, "POST", "/console/jobs/a", "a=b", admin, "Origin: http://here.example", "Sec-Fetch-Site: same-origin")
	if r.Code != http.StatusSeeOther || r.Header().Get("Location") != "/" || *changed != 1 {
		t.Fatalf("%d to %q, changed %d times", r.Code, r.Header().Get("Location"), *changed)
	}
	note := cookies(r)[0]
	if !note.HttpOnly || note.SameSite != http.SameSiteLaxMode {
		t.Errorf("the cookie %v", note)
	}
	next := ask(f, "GET", "/", "", admin+"; "+note.Name+"="+note.Value)
	if body := next.Body.String(); !strings.Contains(body, "It is &lt;b&gt;done&lt;/b&gt;.") {
		t.Errorf("nothing is said: %s", body)
	}
	if gone := cookies(next); len(gone) != 1 || gone[0].MaxAge >= 0 {
		t.Errorf("it is said again: %v", gone)
	}
	long := cookies(ask(f, "POST", "/console/jobs/a?more="+url.QueryEscape(strings.Repeat("ü", 3000)), "a=b", admin))[0]
	if len(long.Value) > 4000 || !strings.HasPrefix(long.Value, "It+is+") {
		t.Errorf("what is long is not kept by browsers: %d bytes, %.40s", len(long.Value), long.Value)
	}
}

// TestSignIn gives tokens, and where to go on.
func TestSignIn(t *testing.T) {
	tests := map[string]struct {
		token, next string
		status      int
		to          string
	}{
		"taken":             {"admin-token", "/console/jobs/a?b=c", 303, "/console/jobs/a?b=c"},
		"with space around": {"  admin-token\n", "/", 303, "/"},
		"not taken":         {"other", "/", 401, ""},
		"nothing":           {"", "/", 401, ""},
		"too long":          {strings.Repeat("x", 4001), "/", 401, ""},
		"no token at all":   {"a b; path=/", "/", 401, ""},
		"another site":      {"admin-token", "https://evil.example/", 303, "/"},
		"without scheme":    {"admin-token", "//evil.example/", 303, "/"},
		"backslash":         {"admin-token", `/\evil.example/`, 303, "/"},
		"a header":          {"admin-token", "/console/\r\nSet-Cookie: a=b", 303, "/"},
		"out of it":         {"admin-token", "/metrics", 303, "/"},
	}
	for name, test := range tests {
		f, _ := console()
		r := ask(f, "POST", "/console/sign-in", url.Values{"token": {test.token}, "next": {test.next}}.Encode())
		if r.Code != test.status || r.Header().Get("Location") != test.to {
			t.Errorf("%s: %d to %q", name, r.Code, r.Header().Get("Location"))
		}
		kept := cookies(r)
		if (test.status == 303) != (len(kept) == 1) {
			t.Fatalf("%s: cookies %v", name, kept)
		}
		if len(kept) == 1 && (!kept[0].HttpOnly || kept[0].SameSite != http.SameSiteLaxMode || kept[0].Value != "admin-token") {
			t.Errorf("%s: the cookie %v", name, kept[0])
		}
		if strings.Contains(r.Body.String(), "admin-token") {
			t.Errorf("%s: the page has the token", name)
		}
	}
}

// TestAssets are kept for ever under their addresses, and compressed for who takes that.
func TestAssets(t *testing.T) {
	f, _ := console()
	page := ask(f, "GET", "/", "", admin).Body.String()
	_, rest, _ := strings.Cut(page, `<link rel="stylesheet" href="`)
	path, _, _ := strings.Cut(rest, `"`)
	plain := ask(f, "GET", path, "")
	small := ask(f, "GET", path, "", "Accept-Encoding: br, gzip;q=0.5")
	if !strings.Contains(plain.Header().Get("Cache-Control"), "immutable") || small.Header().Get("Content-Encoding") != "gzip" {
		t.Fatalf("headers %v and %v", plain.Header(), small.Header())
	}
	z := must.Get(gzip.NewReader(small.Body))(t)
	data, err := io.ReadAll(z)
	if want := plain.Body.String(); err != nil || string(data) != want || !strings.Contains(want, ":root") {
		t.Errorf("%d bytes are not the %d (%v)", len(data), len(want), err)
	}
	if r := ask(f, "GET", "/console/assets/other/frame/console.css", ""); strings.Contains(r.Header().Get("Cache-Control"), "immutable") {
		t.Error("what another version asks for is kept for ever")
	}
	for _, path := range []string{"/console/assets/x/frame/nothing.css", "/console/assets/x/..%2fframe.go", "/console/assets/x/frame/"} {
		if r := ask(f, "GET", path, ""); r.Code != http.StatusNotFound {
			t.Errorf("%s: %d", path, r.Code)
		}
	}
}

// TestInstants has times in a text, but not in the ID of an occurrence, which users copy.
func TestInstants(t *testing.T) {
	for text, want := range map[string]string{
		"since 2026-03-08T10:00:00Z":                       `since <time datetime="2026-03-08T10:00:00Z" data-instant>2026-03-08 10:00:00 UTC</time>`,
		"carillon resubmit a/b a/b@2026-03-08T10:00:00.5Z": "carillon resubmit a/b a/b@2026-03-08T10:00:00.5Z",
	} {
		if got := string(frame.Instants(text)); got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
}

// TestWords has times, lengths and numbers as people read them.
func TestWords(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "now", -12 * time.Second: "12 s ago", 3 * time.Minute: "in 3 min", -5 * time.Hour: "5 h ago", 72 * time.Hour: "in 3 d",
	} {
		if got := frame.Distance(d); got != want {
			t.Errorf("%s: %q, want %q", d, got, want)
		}
	}
	for d, want := range map[time.Duration]string{
		1500 * time.Microsecond: "1.5 ms", 12 * time.Microsecond: "12 µs", 2 * time.Second: "2 s", 5 * time.Minute: "5 min",
		90 * time.Minute: "1 h 30 min", -time.Hour: "-1 h", 25*time.Hour + 500*time.Millisecond: "25 h 1 s", 2*time.Hour + 3*time.Second: "2 h 3 s",
	} {
		if got := frame.Took(d); got != want {
			t.Errorf("%s: %q, want %q", d, got, want)
		}
	}
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1\u202f000", -1234567: "-1\u202f234\u202f567"} {
		if got := words.Number(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

// TestSignOut has the browser forget the token: a cookie that is left, though empty, would count as a token that is not taken.
func TestSignOut(t *testing.T) {
	f, _ := console()
	r := ask(f, "POST", "/console/sign-out", "", admin)
	if kept := cookies(r); r.Code != http.StatusSeeOther || len(kept) != 1 || kept[0].Name != "carillon-token" || kept[0].MaxAge >= 0 {
		t.Errorf("%d, %v", r.Code, kept)
	}
}

// TestSecureCookies has browsers keep the token from plain HTTP where they came by HTTPS, also through a proxy.
func TestSecureCookies(t *testing.T) {
	for name, test := range map[string]struct {
		headers []string
		want    bool
	}{
		"plain HTTP":             {[]string{"Origin: http://here.example"}, false},
		"a form sent by HTTPS":   {[]string{"Origin: https://here.example", "Sec-Fetch-Site: same-origin"}, true},
		"a proxy that says so":   {[]string{"X-Forwarded-Proto: https"}, true},
		"a proxy for plain HTTP": {[]string{"X-Forwarded-Proto: http"}, false},
	} {
		f, _ := console()
		r := ask(f, "POST", "/console/sign-in", "token=admin-token", test.headers...)
		if kept := cookies(r); len(kept) != 1 || kept[0].Secure != test.want {
			t.Errorf("%s: %d, %v", name, r.Code, kept)
		}
	}
}

// TestFont serves the bundled font under the address that the style sheet names, for ever.
func TestFont(t *testing.T) {
	f, _ := console()
	css := ask(f, "GET", "/console/assets/x/frame/console.css", "").Body.String()
	_, after, _ := strings.Cut(css, "url(")
	at, _, _ := strings.Cut(after, ")")
	r := ask(f, "GET", at, "")
	h := r.Header()
	if r.Code != http.StatusOK || h.Get("Content-Type") != "font/woff2" || !strings.Contains(h.Get("Cache-Control"), "immutable") || r.Body.Len() > 50<<10 {
		t.Errorf("%q: %d, %v, %d bytes", at, r.Code, h, r.Body.Len())
	}
	page := ask(f, "GET", "/", "", admin)
	if !strings.Contains(page.Body.String(), `<link rel="preload" href="`+at+`"`) || !strings.Contains(page.Header().Get("Content-Security-Policy"), "font-src 'self';") {
		t.Errorf("a page does not load %s: %v", at, page.Header())
	}
}

// TestAssetsAskNobody has assets cost a browser whose token is not taken any more none of its guesses.
func TestAssetsAskNobody(t *testing.T) {
	asked := 0
	f := frame.New(frame.Config{Sections: []frame.Section{section(new(int))}, Identify: func(*http.Request) (*auth.Principal, error) {
		asked++
		return nil, &auth.Unknown{Reason: "old"}
	}})
	_, rest, _ := strings.Cut(ask(f, "GET", "/console/sign-in", "", admin).Body.String(), `<link rel="stylesheet" href="`)
	path, _, _ := strings.Cut(rest, `"`)
	if r := ask(f, "GET", path, "", admin); r.Code != http.StatusOK || asked != 1 {
		t.Errorf("%d, asked %d times", r.Code, asked)
	}
}

// TestUnlocked takes no tokens where nobody can be asked for one.
func TestUnlocked(t *testing.T) {
	f := frame.New(frame.Config{Sections: []frame.Section{section(new(int))}, Unlocked: true})
	for _, method := range []string{"GET", "POST"} {
		if r := ask(f, method, "/console/sign-in", "token=x"); r.Code != http.StatusNotFound || len(cookies(r)) != 0 {
			t.Errorf("%s: %d, %v", method, r.Code, cookies(r))
		}
	}
}

// TestNearby asks for addresses as people write them: the root of all pages, and a page with a slash at its end. No other leads
// anywhere.
func TestNearby(t *testing.T) {
	f, _ := console()
	for _, test := range []struct{ method, path, to string }{
		{"GET", "/console/", "/"},
		{"GET", "/console/jobs/a/", "/console/jobs/a"},
		{"GET", "/console/jobs/a/?x=%2F%2Fb&y", "/console/jobs/a?x=%2F%2Fb&y"},
		{"GET", "/console/jobs/a%2F%2Fb/", ""},
		{"POST", "/console/jobs/a/", ""},
		{"GET", "/console/nothing/", ""},
		{"GET", "/console/nothing", ""},
		{"GET", "/elsewhere/", ""},
	} {
		w := ask(f, test.method, test.path, "", admin)
		if to := w.Header().Get("Location"); to != test.to || (w.Code == http.StatusSeeOther) != (test.to != "") {
			t.Errorf("%s %s: %d %q, want %q", test.method, test.path, w.Code, to, test.to)
		}
	}
}

// TestSignInLeadsNowhereElse gives a sign-in paths that are no pages to go on at.
func TestSignInLeadsNowhereElse(t *testing.T) {
	f, _ := console()
	for next, want := range map[string]string{
		"/console/jobs/a?q=1": "/console/jobs/a?q=1", "/console/sign-out": "/", "/console/sign-in?next=/console/sign-in": "/",
	} {
		form := url.Values{"token": {"admin-token"}, "next": {next}}.Encode()
		if w := ask(f, http.MethodPost, "/console/sign-in", form); w.Header().Get("Location") != want {
			t.Errorf("%s leads to %q, want %q", next, w.Header().Get("Location"), want)
		}
	}
}
