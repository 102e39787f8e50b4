package console_test

import (
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/bubble"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/console/consoletest"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// odd are values that nobody types.
var odd = []string{
	"", "-1", "9223372036854775808", "18446744073709551616", "\x00", "\xff\xfe", "a\r\nX-Odd: 1", "\u202e<script>", "../../..", "//odd.example",
	"javascript:alert(1)", "0001-01-01", "9999-12-31", "2011-12-30", "Pacific/Apia", "a/b/c", "[", "action[99999999999].x", `["`, "{}", "week",
	strings.Repeat("(", 500), strings.Repeat("x", 5000), `default/a {"properties":null}`, "true",
}

// pages and forms are what is asked, with the parameters that each has and values of these that are in order.
var (
	pages = map[string]url.Values{
		"/": {"since": {"24h"}, "until": {"1h"}},
		"/console/jobs": {
			"q": {"a"}, "collection": {"default"}, "state": {"Enabled"}, "action": {"http"}, "target": {"a:80"}, "label": {"a=b"}, "outcome": {"failed"},
			"within": {"1h"}, "sort": {"next"}, "order": {"descending"}, "after": {""}, "before": {""}, "as": {""},
		},
		"/console/jobs?shown=default/a": {"shown": {"default/a"}, "runs": {"1"}},
		"/console/jobs/new":             {"from": {""}, "template": {"http"}, "collection": {"default"}},
		"/console/jobs/default/a":       {"outcome": {"failed"}, "since": {"1h"}, "until": {""}, "manual": {""}, "$filter": {""}, "before": {""}},
		"/console/jobs/default/a/next":  {"n": {"100"}},
		"/console/jobs/default/a/why":   {"at": {"now"}},
		"/console/audit": {
			"who": {"a"}, "op": {"put"}, "kind": {"job"}, "collection": {"default"}, "job": {"a"}, "since": {"1h"}, "until": {""}, "before": {""}, "as": {""},
		},
		"/console/views":                  {"page": {"/console/jobs"}},
		"/console/secrets":                {"used": {"a"}},
		"/console/jobs/default/a/edit":    {"as": {"yaml"}},
		"/console/jobs/default/a/runs/x":  {"before": {""}},
		"/console/targets/a":              {"since": {"1h"}, "until": {""}, "failedSince": {"1h"}, "pauseUntil": {""}},
		"/console/live":                   {"job": {"a"}, "target": {"x"}, "type": {""}, "since": {""}, "until": {""}, "outcome": {""}, "before": {""}, "manual": {""}, "as": {""}},
		"/console/failures":               {"as": {""}, "since": {"1h"}, "until": {""}},
		"/console/load":                   {"hours": {"6"}, "proposals": {"0"}, "collection": {""}},
		"/console/calendar":               {"view": {"week"}, "date": {""}, "zone": {""}, "job": {""}, "collection": {""}, "since": {"1h"}, "until": {""}},
		"/console/collections/default":    {"x": {""}},
		"/console/many/x":                 {"x": {""}},
		"/console/sign-in":                {"next": {""}},
		"/console/assets/x/frame/none.js": {"x": {""}},
	}
	forms = map[string]url.Values{
		"/console/many": {
			"do": {"run"}, "job": {"default/a"}, "tag": {"a=b"}, "all": {""}, "label": {""}, "sort": {""}, "within": {""}, "collection": {""},
		},
		"/console/preview": {
			"name": {"a"}, "schedule.when": {"daily"}, "schedule.plain.times": {"8:00"}, "schedule.plain.n": {"1"}, "schedule.timeZone": {""},
			"schedule.paste": {""}, "schedule.startTime": {""}, "schedule.recurrence.count": {""}, "schedule.recurrence.endTime": {""},
		},
		"/console/jobs/new": {
			"do": {"check"}, "name": {"b"}, "collection": {"default"}, "action.type": {"http"}, "action.request.uri": {"http://target.example/"},
			"action.request.headers#0~name": {"a"}, "action.request.headers#0~value": {"b"}, "labels#9~name": {"x"}, "state": {""},
		},
		"/console/jobs/default/a/edit": {
			"do": {"merge"}, "as": {"yaml"}, "text": {"{}"}, "base": {"{}"}, "from": {""}, "stored": {"[]"}, "etag": {`"1"`}, "theirs": {""}, "reviewed": {""},
		},
		"/console/jobs/default/a/pause":     {"at": {"1h"}},
		"/console/jobs/default/a/resubmit":  {"occurrence": {"x"}},
		"/console/jobs/default/none/delete": {"etag": {""}},
		"/console/collections":              {"name": {"odd"}},
		"/console/collections/default": {
			"plan": {""}, "maxJobs": {""}, "frequency": {""}, "interval": {""}, "minRetry": {""}, "targets": {""}, "etag": {""},
		},
		"/console/views":       {"name": {"a"}, "page": {"/console/jobs"}, "query": {"q=a"}, "remove": {""}},
		"/console/check":       {"fix": {"true"}},
		"/console/load/renew":  {"to": {""}},
		"/console/load/review": {"pick": {`default/a {"properties":{"jitter":"PT1S"}}`}, "back": {""}},
		"/console/load/apply":  {"pick": {`default/a "1" {"properties":{"jitter":"PT1S"}}`}, "back": {""}},
		"/console/sign-in":     {"token": {"x"}, "next": {""}},
	}
)

// TestOddRequests asks every page and sends every form with each of its parameters as nobody types it: no answer is a defect,
// leads elsewhere, or has what was given as it was.
func TestOddRequests(t *testing.T) {
	w := consoletest.New(t)
	w.Work()
	w.Await("the index of jobs", w.Service.Indexed)
	w.Put("default/a", `{"startTime": "2099-01-01T00:00:00Z", "action": {"type": "http", "request": {"method": "GET", "uri": "http://127.0.0.1:1/"}}}`)
	values := odd
	if testing.Short() || bubble.RaceDetector {
		values = odd[:8]
	}
	each := func(method string, all map[string]url.Values, send func(path string, v url.Values) consoletest.Reply) {
		for path, usual := range all {
			for name := range usual {
				for _, value := range values {
					v := maps.Clone(usual)
					v[name] = []string{value}
					r := send(path, v)
					to := r.Header.Get("Location")
					if r.Status >= http.StatusInternalServerError || r.Header.Get("X-Odd") != "" || strings.Contains(r.Body, "<script>") ||
						r.Header.Get("Content-Security-Policy") == "" || to != "" && to != "/" && !strings.HasPrefix(to, "/console") ||
						strings.Contains(r.Body, `="javascript:`) && !strings.Contains(r.Body, `value="javascript:`) {
						t.Errorf("%s %s with %s=%.40q: %d %v %.300s", method, path, name, value, r.Status, r.Header, r.Body)
					}
				}
			}
		}
	}
	each(http.MethodGet, pages, func(path string, v url.Values) consoletest.Reply {
		path, _, _ = strings.Cut(path, "?")
		return w.Do(http.MethodGet, path+"?"+v.Encode(), "", "X-Carillon-Part: 1")
	})
	each(http.MethodPost, forms, func(path string, v url.Values) consoletest.Reply { return w.Post(path, v) })
}

// TestHostile has a job whose name is as long as it may be, and whose texts, and the answer of its target, are what looks like
// markup or an event: each page names the job, and has all of it as text.
func TestHostile(t *testing.T) {
	w := consoletest.New(t)
	w.Work()
	const evil = `</textarea></pre></li><script>alert(1)</script><img src=x onerror=alert(1)>"'&` + "\u202eשלום\r\n\r\nevent: end\ndata: gone"
	target := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) {
		out.WriteHeader(http.StatusInternalServerError)
		_, _ = io.WriteString(out, evil+strings.Repeat("long ", 500))
	}))
	t.Cleanup(target.Close)
	name := "J" + strings.Repeat("-_", 49) + "z"
	text := document.StringValue(evil)
	job := document.ObjectValue().With(text, "description").With(document.StringValue("0 9 * * *"), "recurrence.cron").
		With(document.ObjectValue(document.Member{Name: evil, Value: text}), "labels").
		With(document.StringValue("http"), "action.type").With(document.StringValue("POST"), "action.request.method").
		With(document.StringValue(target.URL+"/?"+url.QueryEscape(evil)), "action.request.uri").With(text, "action.request.body").
		With(document.StringValue("none"), "action.retryPolicy.retryType").
		With(document.StringValue("Basic"), "action.request.authentication.type").
		With(document.StringValue("me"), "action.request.authentication.username").
		With(document.StringValue("hunter2-secret"), "action.request.authentication.password")
	w.Put("default/"+name, job.String())
	w.Await("the index", w.Service.Indexed)
	w.Run("default/" + name)
	w.Await("its failure", func() bool { return len(w.History("default/"+name)) == 2 })
	markup := []string{"!<script>alert", "!<img src=x", "!onerror=alert(1)>\"", "!hunter2-secret"}
	at := "/console/jobs/default/" + name
	_, run, _ := strings.Cut(w.History("default/" + name)[0].Occurrence, "@")
	query := url.QueryEscape(evil)
	calendar := "/console/calendar?wait=true&date=" + time.Now().AddDate(0, 0, 2).Format("2006-01-02")
	for _, path := range []string{
		at, at + "/copy", at + "/next", at + "/delete", at + "/edit?as=form", at + "/edit?as=yaml", at + "/runs/" + run,
		at + "/why?at=" + query, at + "?outcome=" + query, at + "?since=" + query, "/console/jobs/new?from=default/" + name,
		"/console/jobs?q=" + query, "/console/jobs?label=" + query, "/console/jobs", "/console/live", "/console/load?wait=true",
		"/console/audit?who=" + query, "/console/audit?job=" + query, "/console/secrets?used=" + query, "/console/tokens", "/console/check",
		"/console/calendar?view=week&zone=" + query,
	} {
		w.Has(w.Do(http.MethodGet, path, "").Body, append(markup, "</html>")...)
	}
	for _, path := range []string{at, at + "/runs/" + run, "/console/live", "/console/jobs", calendar, "/console/load?wait=true"} {
		w.Has(w.Get(path), name)
	}
	for _, path := range []string{at, at + "/runs/" + run, "/console/live"} {
		w.Has(w.Get(path), "&lt;script&gt;alert(1)", "⟦U&#43;202E⟧שלום")
	}
	event := w.Follow("/console/live/events?follow=true&after=0").Next("rows", name)
	w.Has(event.Data, append(markup, "&lt;script&gt;alert(1)")...)
	w.Has(w.Get(at+"/copy"), "Secrets are never shown", "<code>action.request.authentication.password</code>")
}

// TestParameters asks each page with all of its parameters, and with others: the page says which are wrong, and what it takes.
func TestParameters(t *testing.T) {
	w := consoletest.New(t)
	w.Work()
	w.Await("the index of jobs", w.Service.Indexed)
	w.Put("default/a", `{"startTime": "2099-01-01T00:00:00Z", "action": {"type": "http", "request": {"method": "GET", "uri": "http://127.0.0.1:1/"}}}`)
	for path, usual := range pages {
		path, _, _ = strings.Cut(path, "?")
		if r := w.Do(http.MethodGet, path+"?"+usual.Encode(), ""); !usual.Has("x") && !usual.Has("shown") && strings.Contains(r.Body, "unknown parameter") {
			t.Errorf("%s ignores one of %v: %.4000s", path, usual, r.Body)
		}
	}
	for query, want := range map[string]string{
		"/?range=day":                         "range: unknown parameter, ignored. This page takes: since, until.",
		"/?x=%E2%80%AE":                       "x: unknown parameter",
		"/console/jobs?order=up":              "order: must be one of ascending, descending; got &#34;up&#34;.",
		"/console/jobs?status=faulted":        "status: unknown parameter, ignored. This page takes: action, after, as, before, collection, hide, label,",
		"/console/calendar?view=month":        "view: must be one of day, week; got &#34;month&#34;.",
		"/console/jobs/new?template=carrier":  "template: must be one of http, servicebus, storagequeue, nats; got &#34;carrier&#34;.",
		"/console/jobs/default/a/edit?as=xml": "as: must be one of form, yaml; got &#34;xml&#34;.",
		"/console/jobs/default/a/next?n=7":    "n: must be one of 10, 100; got &#34;7&#34;.",
		"/console/collections?page=2":         "page: unknown parameter, ignored. This page takes: none.",
	} {
		w.Has(w.Get(query), want)
	}
}

// TestHeld has what keeps jobs from running, or changes many of them: every page says so, to those who may see it.
func TestHeld(t *testing.T) {
	w := consoletest.New(t)
	w.Work()
	w.Collect("other")
	never := `{"startTime": "2099-01-01T00:00:00Z", "action": {"type": "http", "request": {"method": "GET", "uri": "http://127.0.0.1:1/"}}}`
	w.Put("default/a", never)
	w.Put("default/b", never)
	w.Await("the index of jobs", w.Service.Indexed)
	w.HasNone(w.Get("/console/calendar"), `class="held"`)
	s := w.Follow("/console/overview/events?follow=1")
	w.OK(w.Service.Pause(t.Context(), consoletest.Key("default/a"), "2h"))
	w.OK(w.Service.Pause(t.Context(), consoletest.Key("default/b"), "2h"))
	w.OK(w.Service.SetCollectionState(t.Context(), "other", scheduler.Disabled))
	ctx := auth.With(t.Context(), auth.Anonymous(auth.ViaLoopback, "127.0.0.1"))
	op, err := w.Service.CreateOperation(ctx, "", []byte(`{"verb": "label", "label": "x=y", "jobs": ["default/a", "default/b"], "ratePerSecond": 0.01}`))
	w.OK(err)
	held := []string{">2 jobs are paused.</a>", ">Collection other is disabled: its jobs do not run.</a>", `<a href="/console/many/` + op.ID + `">Add label: `}
	for _, path := range []string{"/", "/console/live", "/console/jobs/default/a", "/console/collections/default"} {
		w.Await(path+" to say so", func() bool { return strings.Contains(w.Get(path), held[2]) && strings.Contains(w.Get(path), held[0]) })
		w.Has(w.Get(path), held...)
	}
	w.Has(s.Next("held", held[2]).Data, held...)
	w.Be("reader@other")
	w.Has(w.Get("/console/live"), held[1], "!jobs are paused", "!Add label")
	w.Anonymous()
	w.OK(w.Service.CancelOperation(ctx, op.ID))
	w.OK(w.Service.SetCollectionState(t.Context(), "other", scheduler.Enabled))
	w.OK(w.Service.Delete(t.Context(), consoletest.Key("default/a"), 0))
	w.Wants(http.StatusSeeOther, w.Post("/console/jobs/default/b/resume", nil))
	w.Await("nothing to be held", func() bool { return !strings.Contains(w.Get("/"), `class="held"`) })
}

// TestIsolatedTexts looks for texts of others in the templates that do not show what changes the direction of the text.
func TestIsolatedTexts(t *testing.T) {
	bare := regexp.MustCompile(`<(?:bdi|[a-z]+[^>]* dir="auto")[^>]*>\{\{(?:with [^}]*\}\}\{\{)?[.$][^}]*\}\}</(?:bdi|pre|dd|p)>`)
	seen := 0
	for _, root := range []string{".", "../../integration/emulator/queues"} {
		must.Do(t, filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".html" {
				return err
			}
			text, err := os.ReadFile(path)
			seen++
			for _, found := range bare.FindAllString(string(text), -1) {
				t.Errorf("%s: %s", path, found)
			}
			return err
		}))
	}
	if seen < 30 {
		t.Errorf("there are %d templates", seen)
	}
}
