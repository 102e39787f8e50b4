package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
)

// guarded is a `carillon serve` that asks for tokens. It has the collections partners, Partners and other, with a job
// "report" in each, and everything that tells of one but partners has the word victim in it.
type guarded struct {
	*serving

	api, admin, token string // the address, and tokens of an admin and of an operator of partners
}

func newGuarded(t *testing.T, args ...string) *guarded {
	t.Helper()
	at := aloneServer(t)
	g := &guarded{serving: serveOn(t, append(args, "--nats-url", at, "--auth", "--log-level", "debug")...)}
	g.api = g.address(t)
	out := func(args ...string) string {
		var stdout, stderr strings.Builder
		term := &terminal.Terminal{Out: &stdout, Err: &stderr, Lookup: func(name string) (string, bool) {
			v, ok := map[string]string{"CARILLON_TOKEN": g.admin, "CARILLON_SERVER": g.api}[name]
			return v, ok
		}}
		if code := run(append(args, "--server", g.api), term); code != terminal.ExitOK {
			t.Fatalf("%v: exit code %d, %s", args, code, stderr.String())
		}
		return strings.TrimSpace(stdout.String())
	}
	g.admin = out("token", "create", "--role", "admin", "--nats-url", at)
	g.token = out("token", "create", "--role", "operator", "--collection", "partners", "--name", "ci")
	for collection, word := range map[string]string{"partners": "own", "Partners": "victim", "other": "victim"} {
		file := filepath.Join(t.TempDir(), "report.yaml")
		text := "startTime: 2099-01-01\nlabels: {of: " + word + "}\naction: {type: http, request: {method: GET, uri: 'https://" + word + ".example/'}}\n"
		must.Do(t, os.WriteFile(file, []byte(text), 0o600))
		out("collection", "create", collection)
		out("apply", "-c", collection, file)
		out("disable", collection+"/report")
	}
	return g
}

// raw sends bytes, as no client would, and returns all that is answered until the server ends the connection, or says
// nothing for a second.
func (g *guarded) raw(t *testing.T, text string) string {
	t.Helper()
	conn := must.Get(net.Dial("tcp", strings.TrimPrefix(g.api, "http://")))(t)
	defer conn.Close()
	_, _ = io.WriteString(conn, text) // the server may end it before all is sent
	var all strings.Builder
	for part := make([]byte, 64<<10); ; {
		_ = conn.SetReadDeadline(time.Now().Add(time.Second))
		n, err := conn.Read(part)
		all.Write(part[:n])
		if err != nil {
			return all.String()
		}
	}
}

// request is one with the token of partners' operator, as bytes.
func (g *guarded) request(method, path, more, body string) string {
	return method + " " + path + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + g.token + "\r\nConnection: close\r\n" + more +
		fmt.Sprintf("Content-Length: %d\r\n\r\n", len(body)) + body
}

// TestOperatorStaysInItsCollection spells the paths of other collections in all ways that something on the way might
// read otherwise, and writes to others by what stands in documents.
func TestOperatorStaysInItsCollection(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	arm := scheduler.Scope{}.Provider() + "/jobCollections/"
	const version = "?api-version=2016-03-01"
	for _, name := range []string{
		"other", "Partners", "PARTNERS", "OTHER", "othe%72", "other%20", "%20other", "other%00", "partners%00other", "partners;a=other",
		"partners%2f..%2fother", "partners%2F..%2Fother", "partners/../other", "partners/%2e%2e/other", "./other", "/other", "partners//../other",
		"..%2fjobCollections%2fother", "p%d0%b0rtners", "%ef%bd%8fther", "other%2fjobs%2freport%3f", "partners%252f..%252fother",
	} {
		for _, rest := range []string{"", "/jobs", "/jobs/report", "/JOBS/report", "/history", "/runs.ics", "/jobs/report/why", "/audit", "/jobs/report/history"} {
			for _, path := range []string{
				"/jobCollections/" + name + rest, arm + name + rest + version, strings.ToUpper(arm) + name + rest + version,
			} {
				if got := g.raw(t, g.request("GET", path, "", "")); strings.Contains(got, "HTTP/1.1 2") || strings.Contains(got, "victim") ||
					strings.Contains(got, "HTTP/1.1 5") || !strings.HasPrefix(got, "HTTP/1.1 ") {
					t.Errorf("GET %s: %s", path, got)
				}
			}
		}
	}
	for _, path := range []string{
		"/jobs", "/jobs?labelSelector=of%3Dvictim", "/jobs?prefix=report", "/history", "/history?earlier=true", "/forecast", "/forecast?collection=other",
		"/runs.ics", "/audit", "/jobCollections", "/api/v2/schedules/", "/api/v2/job_templates/other.report/schedules/",
		"/subscriptions/" + scheduler.DefaultSubscription + "/providers/Microsoft.Scheduler/jobCollections" + version, "/secrets", "/tokens",
		"/jobs?%24skiptoken=b3RoZXI", "/debug/pprof/", "/metrics",
	} {
		if got := g.raw(t, g.request("GET", path, "", "")); strings.Contains(got, "victim") || strings.Contains(got, "Partners") ||
			strings.Contains(got, `"name":"other`) || strings.Contains(got, "HTTP/1.1 5") {
			t.Errorf("GET %s: %s", path, got)
		}
	}
	const job = `"action":{"type":"http","request":{"method":"GET","uri":"https://mine.example/"}},"state":"disabled"`
	const rule = `"rrule":"DTSTART:20990101T000000Z RRULE:FREQ=DAILY;INTERVAL=1"`
	for _, one := range [][3]string{
		{"PUT", "/jobCollections/partners/jobs/x", `{"name":"other/x",` + job + `}`},
		{"PUT", "/jobCollections/partners/jobs/x", `{"id":"/jobCollections/other/jobs/x","name":"other/x","properties":{` + job + `}}`},
		{"PATCH", "/jobCollections/partners/jobs/report", `{"collection":"other"}`},
		{"PATCH", "/jobCollections/partners/jobs/report", `{"id":"/jobCollections/other/jobs/report","properties":{"description":"x"}}`},
		{"POST", "/jobCollections/partners/jobs", `{"name":"other/x",` + job + `}`},
		{"POST", "/jobCollections/partners/jobs/report/resubmit", `{"occurrence":"other/report@2099-01-01T00:00:00Z"}`},
		{"POST", "/api/v2/schedules/", `{"name":"x","unified_job_template":"other.report",` + rule + `}`},
		{"PUT", "/jobCollections/partners", `{"properties":{"quota":{"maxJobCount":9}}}`},
		{"PUT", "/jobCollections/mine", `{}`},
		{"PUT", "/secrets/x", `{"value":"x"}`},
		{"POST", "/doctor?fix=true", ``},
		{"POST", "/tokens", `{"grants":[{"role":"admin"}]}`},
	} {
		if got := g.raw(t, g.request(one[0], one[1], "", one[2])); !strings.HasPrefix(got, "HTTP/1.1 4") {
			t.Errorf("%v: %s", one, got)
		}
	}
	// What is there and what is not look the same, also to a condition.
	for _, method := range []string{"GET", "PUT", "PATCH", "DELETE"} {
		there := g.raw(t, g.request(method, "/jobCollections/other/jobs/report", "If-None-Match: *\r\n", "{}"))
		none := g.raw(t, g.request(method, "/jobCollections/other/jobs/nothing", "If-None-Match: *\r\n", "{}"))
		if one, two, _ := strings.Cut(there, "\r\n"); one != strings.SplitN(none, "\r\n", 2)[0] || strings.Contains(two, "Etag") {
			t.Errorf("%s: %s, but %s", method, there, none)
		}
	}
	g.end(t)
	for _, token := range []string{g.token, g.admin} {
		if secret := token[strings.LastIndex(token, "_")+1:]; strings.Contains(g.log.String(), secret) {
			t.Error("the log has a token")
		}
	}
}

// TestTwistedRequests sends requests that servers read differently, or that are too much. Nothing is smuggled: of each
// connection one request is answered at most.
func TestTwistedRequests(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	const smuggled = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
	begin := "POST /preview HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + g.token + "\r\n"
	chunks := "0\r\n\r\n" + smuggled
	for name, text := range map[string]string{
		"a length and chunks":      begin + fmt.Sprintf("Content-Length: %d\r\nTransfer-Encoding: chunked\r\n\r\n%s", len(chunks), chunks),
		"chunks after a bare LF":   begin + "X: a\nTransfer-Encoding: chunked\r\n\r\n" + chunks,
		"two lengths":              begin + "Content-Length: 0\r\nContent-Length: 5\r\n\r\n" + smuggled,
		"two encodings":            begin + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n" + chunks,
		"an unknown encoding":      begin + "Transfer-Encoding: xchunked\r\n\r\n" + chunks,
		"a space before the colon": begin + "Transfer-Encoding : chunked\r\n\r\n" + chunks,
		"a signed length":          begin + "Content-Length: +5\r\n\r\n" + smuggled,
		"two hosts":                "GET /jobs HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n" + smuggled,
		"no host":                  "GET /jobs HTTP/1.1\r\n\r\n" + smuggled,
		"a huge header":            "GET /jobs HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("a", 200<<10) + "\r\n\r\n" + smuggled,
		"a huge body":              begin + fmt.Sprintf("Content-Length: %d\r\n\r\n%s", 8<<20, strings.Repeat(" ", 8<<20)) + smuggled,
	} {
		if got := g.raw(t, text); strings.Count(got, "HTTP/1.1 ") > 1 || strings.Contains(got, "HTTP/1.1 2") {
			t.Errorf("%s: %s", name, got)
		}
	}
	for name, one := range map[string][2]string{
		"another host in the line": {"GET http://evil.example/jobs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", "421"},
		"a body that is packed":    {g.request("PUT", "/jobCollections/partners/jobs/x", "Content-Encoding: gzip\r\n", "\x1f\x8b\x08"), "400"},
		"a deep document":          {g.request("PUT", "/jobCollections/partners/jobs/x", "", strings.Repeat("[", 15000)), "400"},
		"a token given twice":      {g.request("GET", "/jobs", "Authorization: Bearer x\r\n", ""), "401"},
		"a user and a password":    {"GET /jobs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Basic YTpi\r\n\r\n", "401"},
	} {
		if got := g.raw(t, one[0]); !strings.HasPrefix(got, "HTTP/1.1 "+one[1]) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestCrowdsKeepNobodyOut guesses tokens, and has connections that ask again and again and take no answer, until all are
// taken.
func TestCrowdsKeepNobodyOut(t *testing.T) {
	t.Parallel()
	const connections = 4
	g := newGuarded(t, "--http-connections", strconv.Itoa(connections))
	// A slow machine guesses little faster than an address may.
	for guesses, refused := 0, 0; refused < 10; guesses++ {
		switch status, _ := statusWith(t, g.api+"/jobs", fmt.Sprintf("crl_guess%05d", guesses)); {
		case status == http.StatusTooManyRequests:
			refused++
		case status != http.StatusUnauthorized || guesses > 2000:
			t.Fatalf("guess %d was answered %d after %d were refused", guesses, status, refused)
		}
	}
	if status, body := statusWith(t, g.api+"/jobs", g.token); status != http.StatusOK {
		t.Errorf("who has a token, from the address of the guesses: %d: %s", status, body)
	}
	full := make(chan struct{}, connections)
	for range connections {
		conn := must.Get(net.Dial("tcp", strings.TrimPrefix(g.api, "http://")))(t)
		t.Cleanup(func() { conn.Close() })
		go func() {
			// The answer repeats the path.
			long := []byte("GET /" + strings.Repeat("a", 32<<10) + " HTTP/1.1\r\nHost: localhost\r\n\r\n")
			for {
				_ = conn.SetWriteDeadline(time.Now().Add(time.Second)) // then all is full, there and back
				if _, err := conn.Write(long); err != nil {
					full <- struct{}{}
					return
				}
			}
		}()
	}
	for range connections {
		<-full
	}
	if status, body := statusWith(t, g.api+"/jobs", g.token); status != http.StatusOK {
		t.Errorf("while others take no answers: %d: %s", status, body)
	}
}
