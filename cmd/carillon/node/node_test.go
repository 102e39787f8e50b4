package node_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/actions/builtin"
	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/cmd/carillon/node"
	"github.com/carillon-sched/carillon/cmd/carillon/node/nodetest"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/secrets/seal"
	"github.com/carillon-sched/carillon/store"
	"github.com/carillon-sched/carillon/store/embedded"
)

// start runs a node with a server of its own.
func start(t *testing.T, ready func() error) *nodetest.Scheduler {
	t.Helper()
	k := must.Get(seal.NewKey("k1"))(t)
	return nodetest.Start(t, node.Config{Keys: seal.NewKeyring(k)}, ready)
}

func always() error { return nil }

// get makes a request without a body, as send does.
func get(t *testing.T, url string, headers ...string) (int, io.Reader) {
	t.Helper()
	return send(t, http.MethodGet, url, "", headers...)
}

// send makes a request, with names and values of headers, and returns the status and the body, which the end of the test
// closes.
func send(t *testing.T, method, url, body string, headers ...string) (int, io.Reader) {
	t.Helper()
	req := must.Get(http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body)))(t)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	req.Host = req.Header.Get("Host")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp.StatusCode, resp.Body
}

// TestStopEndsLiveTails shows that a live tail gets what was recorded, and is
// ended by a stop, not cut off when the patience with it is over.
func TestStopEndsLiveTails(t *testing.T) {
	n := start(t, always)
	_, tail := get(t, n.API+"/history?follow=true")
	_, events := get(t, n.API+"/history", "Accept", "text/event-stream")
	n.Put(t, "once", `{"action": {"type": "http", "request": {"method": "GET", "uri": "`+n.API+`/echo"}}}`)
	r := bufio.NewReader(tail)
	if line, err := r.ReadString('\n'); err != nil || !strings.Contains(line, `"status":"Completed"`) {
		t.Fatalf("got %q, %v", line, err)
	}
	if err := n.Stop(); err != nil {
		t.Error(err)
	}
	if rest, err := io.ReadAll(r); err != nil || len(rest) > 0 {
		t.Errorf("after the stop: %q, %v", rest, err)
	}
	if _, err := io.Copy(io.Discard, events); err != nil {
		t.Errorf("events that the header asks for are cut off: %v", err)
	}
}

func TestReady(t *testing.T) {
	n := start(t, always)
	if status, _ := get(t, n.API+"/readyz"); status != http.StatusOK {
		t.Errorf("at work: got %d", status)
	}
	if err := n.Stop(); err != nil {
		t.Error(err)
	}
	if n.Node.Ready(t.Context()) == nil {
		t.Error("ready after the stop")
	}
}

// TestUncleanPathsReachTheAPI shows that a path which the mux would send on is refused by the API, beside which others are.
func TestUncleanPathsReachTheAPI(t *testing.T) {
	n := start(t, always)
	for _, path := range []string{"/jobCollections/none/../default", "//jobCollections", "/jobCollections/./default", "/echo/../jobCollections"} {
		status, body := get(t, n.API+path)
		if text, err := io.ReadAll(body); err != nil || status != http.StatusNotFound || !strings.Contains(string(text), "UnknownRoute") {
			t.Errorf("%s: %d %s %v", path, status, text, err)
		}
	}
	if status, _ := get(t, n.API+"/echo"); status != http.StatusOK {
		t.Errorf("the handler beside it: %d", status)
	}
}

// TestEchoChecksTheHost calls /echo by a name that is not the server's, as a page with a rebound name would.
func TestEchoChecksTheHost(t *testing.T) {
	s := nodetest.Start(t, node.Config{AllowHost: func(host string) bool { return host != "evil.test" }}, nil)
	for host, want := range map[string]int{"evil.test": http.StatusMisdirectedRequest, "": http.StatusOK} {
		if status, _ := get(t, s.API+"/echo", "Host", host); status != want {
			t.Errorf("host %q: got %d, want %d", host, status, want)
		}
	}
}

// TestNotConnected shows that a node without a connection says so, and not how
// it has found out.
func TestNotConnected(t *testing.T) {
	n := start(t, always)
	n.Conn.Close()
	if err := n.Node.Ready(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "not connected to NATS at nats://") {
		t.Errorf("got %v", err)
	}
	_ = n.Stop() // which may tell of the connection, too
}

// TestLargeSpec shows that a spec much too large is answered, not lost.
func TestLargeSpec(t *testing.T) {
	n := start(t, always)
	results := must.Get(n.Conn.SubscribeSync("carillon.spec-result.>"))(t)
	must.Do(t, n.Conn.Publish("carillon.spec.put.default.large", make([]byte, 3<<20)))
	m, err := results.NextMsg(20 * time.Second)
	if err != nil || m.Subject != "carillon.spec-result.rejected.default.large" || !strings.Contains(string(m.Data), "3145728") {
		t.Errorf("got %+v, %v", m, err)
	}
}

// TestReadyFails shows that an error at the last step of a start ends the node.
func TestReadyFails(t *testing.T) {
	broken := errors.New("broken")
	n := start(t, func() error { return broken })
	if err := n.Stop(); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

// TestListenerFails shows that a node does not live on without its API.
func TestListenerFails(t *testing.T) {
	s := must.Get(embedded.Start(t.Context(), embedded.Config{Dir: t.TempDir()}))(t)
	t.Cleanup(s.Close)
	nc := must.Get(s.Connect())(t)
	t.Cleanup(func() { node.CloseConn(nc) })
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	n := must.Get(node.Open(t.Context(), node.Config{Conn: nc, Listener: l, Store: store.Config{Prefix: "other"}}))(t)
	l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := n.Run(ctx, always); !errors.Is(err, net.ErrClosed) || ctx.Err() != nil {
		t.Errorf("got %v", err)
	}
}

// TestJobsReachTheEchoOnly calls the API of a scheduler that asks nobody for a token, by jobs: in every spelling of its address,
// by a redirect, and through a process in between. Only /echo answers, and the API when the job gives a token.
func TestJobsReachTheEchoOnly(t *testing.T) {
	k1 := must.Get(seal.NewKey("k1"))(t)
	guard := egress.NewGuard(netip.MustParsePrefix("127.0.0.0/8"))
	s := nodetest.Start(t, node.Config{Keys: seal.NewKeyring(k1), Delivery: builtin.Config{Guard: guard}}, nil)
	elsewhere := httptest.NewServer(http.RedirectHandler(s.API+"/jobCollections", http.StatusTemporaryRedirect))
	defer elsewhere.Close()
	u := must.Get(url.Parse(s.API))(t)
	between := httptest.NewServer(httputil.NewSingleHostReverseProxy(u))
	defer between.Close()
	status, answer := send(t, http.MethodPost, s.API+"/tokens", `{"grants": [{"role": "admin"}]}`)
	var token struct {
		Token string `json:"token"`
	}
	if err := json.NewDecoder(answer).Decode(&token); err != nil || token.Token == "" {
		t.Fatalf("%d: no token, %v", status, err)
	}
	own := `"headers": {"X-Ms-Scheduler-JobId": "", "Authorization": "Bearer ` + token.Token + `"}`
	for name, test := range map[string]struct{ uri, more, want string }{
		"echo":      {s.API + "/echo", `"method": "GET"`, "Completed"},
		"api":       {s.API + "/jobCollections", `"method": "GET"`, "403"},
		"console":   {s.API + "/", `"method": "GET"`, "403"},
		"health":    {s.API + "/healthz", `"method": "GET"`, "403"},
		"unclean":   {s.API + "/echo/../jobCollections", `"method": "GET"`, "403"},
		"localhost": {"http://localhost:" + u.Port() + "/jobCollections", `"method": "GET"`, "403"},
		"mapped":    {"http://[::ffff:127.0.0.1]:" + u.Port() + "/jobCollections", `"method": "GET"`, "403"},
		"redirect":  {elsewhere.URL, `"method": "GET"`, "403"},
		"between":   {between.URL + "/jobCollections", `"method": "GET"`, "403"},
		"write":     {s.API + "/jobCollections/default/jobs/evil", `"method": "PUT", "body": "{}", "headers": {"X-Ms-Scheduler-JobId": ""}`, "403"},
		"token":     {s.API + "/jobCollections", `"method": "GET", ` + own, "Completed"},
		"no token":  {s.API + "/jobCollections", `"method": "GET", "headers": {"Authorization": "Bearer x"}`, "401"},
	} {
		job := strings.ReplaceAll(name, " ", "-")
		s.Put(t, job, `{"action": {"type": "http", "request": {"uri": "`+test.uri+`", `+test.more+`}, "retryPolicy": {"retryType": "none"}}}`)
		_, tail := get(t, s.API+"/jobCollections/default/jobs/"+job+"/history?follow=true&after=0")
		if line, err := bufio.NewReader(tail).ReadString('\n'); err != nil || !strings.Contains(line, test.want) {
			t.Errorf("%s: got %q, %v, want %s", name, line, err, test.want)
		}
	}
}
