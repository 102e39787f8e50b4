package hostile

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/group"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// foreignPage tries what a page of the web may try on a scheduler at a base, with a NATS server at an address, and tells its own server
// at /tried what it got: of another origin with and without leave to read the answers, and, with the base "", of its own.
const foreignPage = `<!doctype html><title>trying</title><body><iframe name="away"></iframe><script>
const base = %q, nats = %q, out = [];
const job = '{"action": {"type": "http", "request": {"method": "GET", "uri": "http://192.0.2.1/"}}}';
async function attempt(name, path, options) {
  try {
    const r = await fetch(base + path, options);
    out.push(name + ': ' + r.status + ' ' + await r.text());
  } catch (e) { out.push(name + ': refused'); }
}
// event waits for the first of some events of something that is not a fetch.
function event(name, target, told, ...others) {
  return new Promise((done) => {
    const say = (what) => { out.push(name + ': ' + what); done(); };
    target.addEventListener(told, (e) => say('told ' + (e.data ?? '')));
    for (const other of others) target.addEventListener(other, () => say(other));
  });
}
function element(tag, attributes) {
  return document.body.appendChild(Object.assign(document.createElement(tag), attributes));
}
async function form(name, path, enctype, field, value) {
  const f = element('form', {action: base + path, method: 'post', enctype: enctype, target: 'away'});
  f.appendChild(Object.assign(document.createElement('input'), {name: field, value: value}));
  const frame = document.querySelector('iframe'), sent = new Promise((done) => frame.addEventListener('load', done, {once: true}));
  f.submit();
  await sent;
  let text = 'refused';
  try { text = 'told ' + frame.contentDocument.body.textContent; } catch (e) { }
  out.push(name + ': ' + text);
}
async function script(name, path) {
  globalThis.seen = [];
  window.onerror = (message) => globalThis.seen.push(message);
  await event(name, element('script', {src: base + path}), 'none', 'load', 'error');
  out.push(name + ' left: ' + globalThis.seen.join());
}
(async () => {
  const simple = (body, type) => ({method: 'POST', mode: 'no-cors', body: body, headers: {'Content-Type': type}});
  await attempt('read', '/jobCollections', {});
  await attempt('read with credentials', '/jobCollections', {credentials: 'include'});
  await attempt('history', '/history', {mode: 'no-cors'});
  await attempt('put', '/jobCollections/default/jobs/planted', {method: 'PUT', body: job});
  await attempt('patch', '/jobCollections/default/jobs/kept', {method: 'PATCH', body: '{"state": "enabled"}'});
  await attempt('delete', '/jobCollections/secretname', {method: 'DELETE'});
  await attempt('preflighted', '/jobCollections/default/jobs', {method: 'POST', body: job, headers: {'Content-Type': 'application/json', 'X-A': 'b'}});
  await attempt('overridden', '/jobCollections/secretname', {...simple('', 'text/plain'), headers: {'X-HTTP-Method-Override': 'DELETE'}});
  await attempt('run', '/jobCollections/default/jobs/kept/run', {method: 'POST', mode: 'no-cors'});
  await attempt('create', '/jobCollections/default/jobs', simple(job, 'text/plain'));
  await attempt('create of a form', '/jobCollections/default/jobs', simple(job, 'application/x-www-form-urlencoded'));
  await attempt('token', '/tokens', simple('{"grants": [{"role": "admin"}]}', 'text/plain'));
  await attempt('doctor', '/doctor?fix=true', simple('', 'text/plain'));
  await attempt('register', '/subscriptions/s/providers/Microsoft.Scheduler/register?api-version=2016-03-01', {method: 'POST'});
  await attempt('schedule', '/api/v2/schedules/', simple('{"unified_job_template": "default.kept"}', 'text/plain'));
  out.push('beacon: ' + navigator.sendBeacon(base + '/jobCollections/default/jobs/kept/enable'));
  await form('form', '/jobCollections/default/jobs', 'text/plain', '{"description": "', '", ' + job.slice(1));
  await form('form of an enable', '/jobCollections/default/jobs/kept/enable', 'application/x-www-form-urlencoded', 'a', 'b');
  await script('script', '/jobCollections');
  const tail = new EventSource(base + '/history?follow=true');
  await event('events', tail, 'open', 'error');
  tail.close();
  for (const at of [base.replace('http', 'ws') || 'ws://' + location.host, 'ws://' + nats]) {
    await event('web socket', new WebSocket(at + '/'), 'message', 'open', 'error');
  }
  try {
    await fetch('http://' + nats, simple('PUB carillon.spec.delete.default.kept 0\r\n\r\n', 'text/plain'));
    out.push('NATS over HTTP: told');
  } catch (e) { out.push('NATS over HTTP: refused'); }
  await fetch('/tried', {method: 'POST', body: out.join('\n')});
})();
</script>`

// granted are marks of what a page may not have got: an answer of the scheduler, and of the NATS server.
var granted = []string{"secretname", ": 200", ": 201", ": told INFO", ": open", "events: told", "NATS over HTTP: told", "Unexpected token"}

// TestPagesInABrowser opens pages in a real browser while `carillon dev` runs: one of another origin, and one whose name comes to lead to
// the scheduler (DNS rebinding). They try requests of every kind, forms, scripts, event streams, web sockets and the NATS port, and neither
// changes or reads anything. It needs Chromium in the PATH.
func TestPagesInABrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("-short leaves it out: go test ./integration/suite/hostile -run PagesInABrowser")
	}
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
	p := start(t)
	api, nats := p.HTTP, strings.TrimPrefix(p.NATS, "nats://")
	target := must.Get(url.Parse(api))(t)
	before := planted(t, api)
	// What the browser sees of a name that leads elsewhere a moment later: the page, and then the scheduler.
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = r.In.Host
	}}
	for name, page := range map[string]struct {
		base string
		rest http.Handler
	}{"another origin": {api, http.NotFoundHandler()}, "rebinding": {"", proxy}} {
		tried, err := open(t, chromium, fmt.Sprintf(foreignPage, page.base, nats), page.rest)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		t.Logf("%s:\n%s", name, tried)
		for _, mark := range granted {
			if strings.Contains(tried, mark) {
				t.Errorf("%s: the page has got %q:\n%s", name, mark, tried)
			}
		}
		if now := everything(t, api); now != before {
			t.Errorf("%s: the page has changed something:\n%s\nand before\n%s", name, now, before)
		}
	}
	p.stop(t)
}

// open opens a page in the browser, at an origin whose other paths rest answers, and returns what the page tells at /tried.
func open(t *testing.T, chromium, page string, rest http.Handler) (tried string, err error) {
	t.Helper()
	told := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/page":
			_, _ = io.WriteString(w, page)
		case "/tried":
			text, _ := io.ReadAll(r.Body)
			told <- string(text)
		default:
			rest.ServeHTTP(w, r)
		}
	}))
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, chromium, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir="+t.TempDir(),
		"--host-resolver-rules=MAP evil.test 127.0.0.1", "--remote-debugging-port=0", strings.Replace(server.URL, "127.0.0.1", "evil.test", 1)+"/page")
	group.Of(cmd) // what is in the PATH may be a script that starts the browser
	if err := cmd.Start(); err != nil {
		return "", err
	}
	defer func() {
		cancel()
		_ = cmd.Wait() // it was killed
		server.CloseClientConnections()
	}()
	select {
	case tried = <-told:
		return tried, nil
	case <-ctx.Done():
		return "", fmt.Errorf("the page did not come to its end: %w", context.Cause(ctx))
	}
}

// planted makes a collection secretname and a job kept, and returns everything that there is.
func planted(t *testing.T, api string) string {
	t.Helper()
	const kept = `{"state": "disabled", "action": {"type": "http", "request": {"method": "GET", "uri": "http://192.0.2.1/"}}}`
	for path, body := range map[string]string{"/jobCollections/secretname": "", "/jobCollections/default/jobs/kept": kept} {
		if class, blame := call(http.MethodPut, api+path, []byte(body)); class != "201" {
			t.Fatalf("%s: %s %s", path, class, blame)
		}
	}
	return everything(t, api)
}

// everything is what the scheduler has: collections, jobs, records, secrets, tokens, and what was changed.
func everything(t *testing.T, api string) string {
	t.Helper()
	var all strings.Builder
	for _, path := range []string{"/jobCollections", "/jobs", "/history", "/secrets", "/tokens", "/audit"} {
		res, err := http.Get(api + path)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&all, "%s: %s ", path, res.Status)
		must.Get(io.Copy(&all, res.Body))(t)
		_ = res.Body.Close()
	}
	if text := all.String(); strings.Contains(text, "secretname") && strings.Contains(text, "kept") {
		return text
	}
	t.Fatal(all.String())
	return ""
}
