package integration

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"strings"
	"testing"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/actions"
	"github.com/carillon-sched/carillon/actions/web"
	"github.com/carillon-sched/carillon/cmd/carillon/listen"
	"github.com/carillon-sched/carillon/scheduler/rest"
	"github.com/carillon-sched/carillon/scheduler/service"
	"github.com/carillon-sched/carillon/store"
)

// foreignPage tries what a page of the web may try on a scheduler at a base, and writes what it got into itself: of
// another origin with and without leave to read the answers, and, with the base "", of its own.
const foreignPage = `<!doctype html><title>trying</title><pre id="out"></pre><script>
const base = %q, out = [], job = '{"action": {"type": "http", "request": {"method": "GET", "uri": "http://192.0.2.1/"}}}';
async function attempt(name, path, options) {
  try {
    const r = await fetch(base + path, options);
    out.push(name + ': ' + r.status + ' ' + await r.text());
  } catch (e) { out.push(name + ': refused'); }
}
(async () => {
  await attempt('read', '/jobCollections', {});
  await attempt('history', '/history', {mode: 'no-cors'});
  await attempt('put', '/jobCollections/default/jobs/planted', {method: 'PUT', body: job});
  await attempt('delete', '/jobCollections/secretname', {method: 'DELETE'});
  await attempt('run', '/jobCollections/default/jobs/kept/run', {method: 'POST', mode: 'no-cors'});
  await attempt('token', '/tokens', {method: 'POST', mode: 'no-cors', body: '{"grants": [{"role": "admin"}]}'});
  await attempt('form', '/doctor?fix=true', {method: 'POST', mode: 'no-cors', headers: {'Content-Type': 'text/plain'}, body: ''});
  document.getElementById('out').textContent = out.join('\n');
  document.title = 'tried';
})();
</script>`

// TestPagesInABrowser opens pages in a real browser: one of another origin, and one whose name comes to lead to the
// scheduler (DNS rebinding). Neither changes or reads anything. It needs Chromium in the PATH.
func TestPagesInABrowser(t *testing.T) {
	chromium := ""
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			chromium = path
			break
		}
	}
	if chromium == "" {
		t.Skip("NOT RUN: there is no Chromium here; on Debian: apt-get install chromium-headless-shell")
	}
	api, changed := loopbackScheduler(t)
	target, err := url.Parse(api)
	if err != nil {
		t.Fatal(err)
	}
	foreign := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, foreignPage, api) }))
	defer foreign.Close()
	// What the browser sees of a name that leads elsewhere a moment later: the page, and then the scheduler.
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = r.In.Host
	}}
	rebinding := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/page" {
			fmt.Fprintf(w, foreignPage, "")
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	defer rebinding.Close()
	for name, page := range map[string]string{"another origin": foreign.URL + "/page", "rebinding": rebinding.URL + "/page"} {
		page = strings.Replace(page, "127.0.0.1", "evil.test", 1)
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		out, err := exec.CommandContext(ctx, chromium, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir="+t.TempDir(),
			"--host-resolver-rules=MAP evil.test 127.0.0.1", "--virtual-time-budget=30000", "--dump-dom", page).Output()
		cancel()
		if err != nil {
			t.Fatal(explain(err))
		}
		text := string(out)
		if !strings.Contains(text, "<title>tried</title>") {
			t.Errorf("%s: the page did not come to its end: %s", name, text)
		}
		_, tried, _ := strings.Cut(text, `id="out">`)
		tried, _, _ = strings.Cut(tried, "</pre>")
		if strings.Count(tried, "\n") != 6 || strings.Contains(tried, "secretname") || strings.Contains(tried, ": 200 {") {
			t.Errorf("%s: the page has read: %s", name, tried)
		}
		if was := changed(); was != "" {
			t.Errorf("%s: the page has changed something: %s", name, was)
		}
	}
}

// loopbackScheduler serves an open API as "carillon dev" does, with a collection secretname and a job kept. changed tells
// what is not as it was.
func loopbackScheduler(t *testing.T) (base string, changed func() string) {
	t.Helper()
	s, err := natsserver.NewServer(&natsserver.Options{DontListen: true, JetStream: true, StoreDir: t.TempDir(), NoLog: true, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("the NATS server does not start")
	}
	nc, err := nats.Connect("", nats.InProcessServer(s))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	st, err := store.Open(t.Context(), nc, store.Config{})
	if err != nil {
		t.Fatal(err)
	}
	jobs := service.New(service.Config{Store: st, Actions: actions.New(web.New(web.Config{}))})
	if err := jobs.EnsureDefault(t.Context()); err != nil {
		t.Fatal(err)
	}
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	api := httptest.NewUnstartedServer(rest.New(rest.Config{Service: jobs, AllowHost: listen.Hosts(t.Context(), l.Addr().String(), nil)}))
	api.Listener.Close()
	api.Listener = l
	api.Start()
	t.Cleanup(api.Close)
	ask := func(method, path, body string) string {
		req, err := http.NewRequestWithContext(t.Context(), method, api.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		var text strings.Builder
		if err := resp.Write(&text); err != nil {
			t.Fatal(err)
		}
		_, body, _ = strings.Cut(text.String(), "\r\n\r\n")
		return body
	}
	ask(http.MethodPut, "/jobCollections/secretname", "")
	ask(http.MethodPut, "/jobCollections/default/jobs/kept", `{"state": "disabled", "action": {"type": "http", "request": {"method": "GET", "uri": "http://192.0.2.1/"}}}`)
	state := func() string {
		return ask(http.MethodGet, "/jobCollections", "") + ask(http.MethodGet, "/jobCollections/default/jobs", "") + ask(http.MethodGet, "/history", "")
	}
	before := state()
	if !strings.Contains(before, "secretname") || !strings.Contains(before, "kept") {
		t.Fatal(before)
	}
	return api.URL, func() string {
		if now := state(); now != before {
			return now
		}
		return ""
	}
}
