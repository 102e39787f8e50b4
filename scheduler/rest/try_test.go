package rest_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/actions"
	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/actions/web"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/engine"
)

const tried = "/jobCollections/default/jobs/job/try"

// parrot is a target that answers with all that it was sent, in its body and its headers, and counts.
type parrot struct {
	*httptest.Server

	mu       sync.Mutex
	requests []*http.Request
	answer   http.HandlerFunc
}

func newParrot(t *testing.T) *parrot {
	t.Helper()
	p := &parrot{}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		p.requests = append(p.requests, r)
		answer := p.answer
		p.mu.Unlock()
		if answer != nil {
			answer(w, r)
			return
		}
		for name, values := range r.Header {
			w.Header()["Echo-"+name] = values
			w.Header().Add("Server", strings.Join(values, " "))
		}
		_ = json.NewEncoder(w).Encode(r.Header)
	}))
	t.Cleanup(p.Close)
	return p
}

func (p *parrot) seen() []*http.Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.requests
}

// answers has the parrot answer otherwise.
func (p *parrot) answers(f http.HandlerFunc) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answer = f
}

// trial tries a document out.
func (w *harness) trial(body string) *v1.Trial {
	w.t.Helper()
	r := w.do(http.MethodPost, tried, body)
	v := &v1.Trial{}
	if err := json.Unmarshal([]byte(r.body), v); err != nil || r.status != http.StatusOK {
		w.t.Fatalf("%d %s", r.status, r.body)
	}
	return v
}

func calling(uri, more string) string {
	return `{"startTime": "2099-01-01T00:00:00Z", "action": {"type": "Http", "request": {"method": "POST", "uri": "` + uri + `"` + more + `}}}`
}

// TestTry makes one attempt of jobs that are not stored, and of one that is, and leaves no other trace than in the audit trail.
func TestTry(t *testing.T) {
	w, p := newHarness(t), newParrot(t)
	v := w.trial(calling(p.URL, `, "body": "hello"`))
	if v.Outcome != "completed" || v.Status != 200 || v.Stored || v.Target != strings.TrimPrefix(p.URL, "http://") || v.Duration <= 0 || v.Body == "" ||
		len(v.Headers) == 0 || !strings.Contains(v.Key, "/trial-") {
		t.Errorf("%+v", v)
	}
	if again := w.trial(calling(p.URL, "")); again.Key == v.Key || p.seen()[0].Header.Get("Idempotency-Key") != v.Key {
		t.Errorf("key %q, then %q; it was sent %q", v.Key, again.Key, p.seen()[0].Header.Get("Idempotency-Key"))
	}
	w.steps([]step{
		{"GET", "/jobCollections/default/jobs/job", "", `404`},
		{"POST", tried, "", `404 job default/job: not found`},
		{"POST", tried, `{"action": 5}`, `400 "path":"action"`},
		{"POST", tried, `{"properties": {"action": {"type": "Http", "request": {"uri": "ftp://x", "method": "GET"}}}}`, `400 "path":"properties.action.request.uri"`},
		{"POST", tried, `nonsense`, `400`},
		{"POST", tried, strings.Repeat(" ", 20<<10) + calling(p.URL, ""), `413`},
		{"POST", "/jobCollections/none/jobs/job/try", calling(p.URL, ""), `404 collection none: not found; create it first`},
		{"POST", "/jobCollections/default/jobs/a.b/try", calling(p.URL, ""), `400`},
		{"PUT", "/jobCollections/default/jobs/job", calling(p.URL, ""), `201`},
		{"POST", tried, "", `200 "stored":true`},
		{"GET", "/jobCollections/default/jobs/job/history", "", `200 {"value":[],"nextLink":null}`},
		{"GET", "/jobCollections/default/jobs/job", "", `200 "executionCount":0`},
		{"GET", "/jobCollections/default/jobs/job/audit?op=try", "", `200 "op":"try"|"name":"` + strings.TrimPrefix(p.URL, "http://") + `"|"result":"completed"`},
	})
	if n := len(p.seen()); n != 3 {
		t.Errorf("%d calls", n)
	}
}

// TestTryFails tells what may be done about it.
func TestTryFails(t *testing.T) {
	w, p := newHarness(t), newParrot(t)
	for _, row := range []struct {
		name   string
		more   string
		answer http.HandlerFunc
		status int
		hint   string
	}{
		{"refused", "", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }, 403, "action.request.authentication"},
		{"nothing there", "", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }, 404, "path"},
		{"in trouble", "", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }, 502, "its log"},
		{"not what is asked for", `, "success": {"bodyContains": "done"}`, func(http.ResponseWriter, *http.Request) {}, 200, "success"},
		{"too late", "", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, 0, "no response within PT1S"},
	} {
		p.answers(row.answer)
		body := strings.Replace(calling(p.URL, row.more), "{", `{"timeout": "PT1S",`, 1)
		v := w.trial(body)
		if !v.Failed() || v.Status != row.status || !strings.Contains(v.Hint, row.hint) || v.Message == "" {
			t.Errorf("%s: %+v", row.name, v)
		}
	}
	if n := len(p.seen()); n != 5 {
		t.Errorf("%d calls: nothing is tried again", n)
	}
	p.Close()
	if v := w.trial(calling(p.URL, "")); !v.Failed() || !strings.Contains(v.Hint, "check that the target runs") {
		t.Errorf("away: %+v", v)
	}
}

// TestTryShowsNoSecret of a target that repeats them all, and sends those of the stored job nowhere else.
func TestTryShowsNoSecret(t *testing.T) {
	w, p, other := newHarness(t), newParrot(t), newParrot(t)
	basic := `, "authentication": {"type": "Basic", "username": "me", "password": "` + secret + `"}`
	w.must(http.MethodPut, "/secrets/door", `{"value": "`+secret+`"}`)
	w.must(http.MethodPut, "/jobCollections/default/jobs/job", calling(p.URL, basic))
	shown := w.do(http.MethodGet, "/jobCollections/default/jobs/job", "").body
	encoded := base64.StdEncoding.EncodeToString([]byte("me:" + secret))
	for name, body := range map[string]string{
		"stored": "", "brought": calling(p.URL, basic), "by reference": calling(p.URL, strings.Replace(basic, `"`+secret+`"`, `{"secretRef": "door"}`, 1)),
		"as it is shown": shown, "elsewhere on the host": strings.Replace(shown, p.URL, p.URL+"/other", 1),
	} {
		before := len(p.seen())
		r := w.do(http.MethodPost, tried, body)
		if r.status != http.StatusOK || strings.Contains(r.body, secret) || strings.Contains(r.body, encoded) || !strings.Contains(r.body, "***") {
			t.Errorf("%s: %d %s", name, r.status, r.body)
		}
		if all := p.seen(); len(all) != before+1 || all[before].Header.Get("Authorization") != "Basic "+encoded {
			t.Errorf("%s: the target was sent %v", name, all[before:])
		}
	}
	kept := w.trial(shown).Kept
	if fmt.Sprint(kept) != "[action.request.authentication.password]" {
		t.Errorf("kept %v", kept)
	}
	w.steps([]step{
		{"POST", tried, strings.Replace(shown, p.URL, other.URL, 1), `400 belongs to ` + p.URL + `; send it again`},
		{"POST", tried, strings.Replace(shown, `"username":"me"`, `"username":"me","password":null`, 1), `400 password`},
		{"POST", "/jobCollections/default/jobs/stranger/try", shown, `400`},
	})
	if len(other.seen()) > 0 {
		t.Error("a secret went elsewhere")
	}
}

// TestTryHostileAnswers bounds what is shown of them.
func TestTryHostileAnswers(t *testing.T) {
	w, p := newHarness(t), newParrot(t)
	p.answers(func(w http.ResponseWriter, _ *http.Request) {
		for range 100 {
			w.Header().Add("Server", strings.Repeat("x", 4000)+"<script>alert(1)</script>")
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<script>alert(1)</script>\xff\x00\u202e"))
		_, _ = w.Write(make([]byte, 1<<20))
	})
	v := w.trial(calling(p.URL, ""))
	size := 0
	for _, h := range v.Headers {
		size += len(h.Name) + len(h.Value)
	}
	if len(v.Body) > 2048 || size > 32*300 || len(v.Message) > 2048 {
		t.Errorf("%d bytes of a body, %d of headers, %d of a message", len(v.Body), size, len(v.Message))
	}
}

// TestTryOneAtATime has a caller ask for more than one: the others wait, and those beyond are refused.
func TestTryOneAtATime(t *testing.T) {
	w, p := newHarness(t), newParrot(t)
	var now, most, served atomic.Int64
	gate := make(chan struct{})
	p.answers(func(http.ResponseWriter, *http.Request) {
		most.Store(max(most.Load(), now.Add(1)))
		<-gate
		now.Add(-1)
		served.Add(1)
	})
	statuses := make(chan int, 6)
	for range 6 {
		go func() { statuses <- w.do(http.MethodPost, tried, calling(p.URL, "")).status }()
	}
	for range 2 {
		if got := <-statuses; got != http.StatusServiceUnavailable {
			t.Errorf("one too many: %d", got)
		}
	}
	close(gate)
	for range 4 {
		if got := <-statuses; got != http.StatusOK {
			t.Errorf("one in turn: %d", got)
		}
	}
	if most.Load() != 1 || served.Load() != 4 {
		t.Errorf("%d at once, %d in all", most.Load(), served.Load())
	}
}

// TestTryIsGuarded by the same rules for networks as any attempt.
func TestTryIsGuarded(t *testing.T) {
	w, p := newHarness(t), newParrot(t)
	guarded := actions.New(web.New(web.Config{Guard: egress.NewGuard()}))
	hand := engine.New(engine.Config{Store: w.store, Actions: guarded})
	w.service = control.New(control.Config{Store: w.store, Actions: guarded, Secrets: w.vault, Try: hand.Try})
	w.serve(nil)
	v := w.trial(calling(p.URL, ""))
	if !v.Failed() || !strings.Contains(v.Hint, "nothing was sent") || len(p.seen()) > 0 || time.Duration(v.Duration) > 10*time.Second {
		t.Errorf("%+v, and %d calls", v, len(p.seen()))
	}
}
