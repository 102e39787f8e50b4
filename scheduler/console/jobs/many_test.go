package jobs_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/console/consoletest"
	"github.com/carillon-sched/carillon/scheduler/control"
)

// ask asks for something to be done to many, and returns the path of its confirmation.
func ask(w *consoletest.Harness, form url.Values) string {
	w.T.Helper()
	r := w.Post("/console/many", form)
	if at := r.Header.Get("Location"); r.Status == http.StatusSeeOther && strings.HasPrefix(at, "/console/many/") {
		return at
	}
	w.T.Fatalf("%v: %d %s %.2000s", form, r.Status, r.Header.Get("Location"), r.Body)
	return ""
}

// confirm confirms it, waits for its end, and returns the page that tells of it.
func confirm(w *consoletest.Harness, at string, form url.Values) string {
	w.T.Helper()
	if r := w.Post(at+"/start", form); r.Status != http.StatusSeeOther || r.Header.Get("Location") != at {
		w.T.Fatalf("start: %d %.2000s", r.Status, r.Body)
	}
	var body string
	w.Await("the end", func() bool {
		body = w.Get(at)
		return !strings.Contains(body, "<progress")
	})
	return body
}

func state(w *consoletest.Harness, key string) scheduler.State { return w.Job(key).Job.State }

// TestEachVerb does each thing to jobs that were ticked, and tells what became of each.
func TestEachVerb(t *testing.T) {
	w := consoletest.New(t)
	target := w.Target()
	w.Put("default/over", `{"action": {"type": "http", "request": {"method": "GET", "uri": "`+target+`"}}}`)
	w.Put("default/a", later(1, `"old": "x"`))
	w.Put("default/b", later(1, `"team": "blue"`))
	indexed(w)
	w.Await("one to be over", func() bool { return state(w, "default/over") == scheduler.Completed })
	both := []string{"default/a", "default/b", "default/a"}

	at := ask(w, url.Values{"do": {"disable"}, "job": both})
	w.Has(w.Get(at), "Disable", "2 jobs", "default/a", "default/b", "The jobs stop until")
	if state(w, "default/a") != scheduler.Enabled {
		t.Error("it is carried out before it is confirmed")
	}
	w.Has(confirm(w, at, nil), "<dt>done</dt><dd>2</dd>")
	if state(w, "default/a") != scheduler.Disabled || state(w, "default/b") != scheduler.Disabled {
		t.Error("they are not disabled")
	}

	w.Has(confirm(w, ask(w, url.Values{"do": {"disable"}, "job": {"default/a"}}), nil), "<dt>unchanged</dt><dd>1</dd>")

	body := confirm(w, ask(w, url.Values{"do": {"enable"}, "job": {"default/a", "default/over", "default/nowhere"}}), nil)
	w.Has(body, "<dt>done</dt><dd>1</dd>", "<dt>refused</dt><dd>1</dd>", "<dt>not found</dt><dd>1</dd>", "it is completed")

	body = confirm(w, ask(w, url.Values{"do": {"label"}, "tag": {"team = red"}, "job": both}), nil)
	w.Has(body, "<dt>done</dt><dd>2</dd>")
	body = confirm(w, ask(w, url.Values{"do": {"label"}, "tag": {"team=red"}, "job": both}), nil)
	w.Has(body, "<dt>unchanged</dt><dd>2</dd>")
	confirm(w, ask(w, url.Values{"do": {"unlabel"}, "tag": {"old"}, "job": both}), nil)
	if labels := w.Job("default/a").Job.Def.Labels; fmt.Sprint(labels) != "map[team:red]" {
		t.Error(labels)
	}

	w.Has(confirm(w, ask(w, url.Values{"do": {"run"}, "job": {"default/a", "default/over"}}), nil), "<dt>done</dt><dd>1</dd>", "<dt>refused</dt><dd>1</dd>")

	at = ask(w, url.Values{"do": {"delete"}, "job": {"default/a", "default/over"}})
	for _, typed := range []string{"", "3", "yes"} {
		w.Wants(http.StatusUnprocessableEntity, w.Post(at+"/start", url.Values{"typed": {typed}}), "No job was changed")
	}
	w.Has(confirm(w, at, url.Values{"typed": {"2"}}), "<dt>done</dt><dd>2</dd>")
	if got := rows(w.Part("/console/jobs")); len(got) != 1 {
		t.Errorf("%v are left", got)
	}
}

// TestAllThatMatch is about what a search finds, on however many pages.
func TestAllThatMatch(t *testing.T) {
	w := consoletest.New(t)
	for i := range 130 {
		w.Put(fmt.Sprintf("default/many-%03d", i), never)
	}
	w.Put("default/other", never)
	indexed(w)
	at := ask(w, url.Values{"do": {"disable"}, "all": {"1"}, "q": {"many-"}})
	w.Has(w.Get(at), "130 jobs", "and 120 others", "except jobs created from now on")
	w.OK(w.Service.Delete(t.Context(), consoletest.Key("default/many-007"), 0))
	for i := range 3 { // more than there were
		w.Put(fmt.Sprintf("default/many-x%d", i), never)
	}
	w.Await("the index to know of them", func() bool { return strings.Contains(w.Part("/console/jobs?q=many-"), "132 jobs") })
	body := confirm(w, at, nil)
	w.Has(body, "<dt>done</dt><dd>129</dd>", "<dt>not found</dt><dd>3</dd>")
	if state(w, "default/other") != scheduler.Enabled || state(w, "default/many-129") != scheduler.Disabled || state(w, "default/many-x2") != scheduler.Enabled {
		t.Error("not those were disabled that matched")
	}
}

// TestOnce: what was confirmed is carried out once, however often the confirmation is sent.
func TestOnce(t *testing.T) {
	w := consoletest.New(t)
	w.Put("default/a", never)
	indexed(w)
	at := ask(w, url.Values{"do": {"run"}, "job": {"default/a"}})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			w.Wants(http.StatusSeeOther, w.Post(at+"/start", nil))
		})
	}
	all.Wait()
	confirm(w, at, nil)
	var records []*scheduler.Record
	w.Await("its run", func() bool {
		records = w.History("default/a")
		return len(records) > 0
	})
	occurrences := map[string]bool{}
	for _, r := range records {
		occurrences[r.Occurrence] = true
	}
	if len(occurrences) != 1 {
		t.Errorf("it ran %d times", len(occurrences))
	}
}

// TestPauseMany pauses jobs until a time, and says what is wrong with one that is none to come.
func TestPauseMany(t *testing.T) {
	w := consoletest.New(t)
	for _, key := range []string{"default/a", "default/b", "default/c"} {
		w.Put(key, never)
	}
	indexed(w)
	at := ask(w, url.Values{"do": {"pause"}, "until": {" tomorrow 8:00 "}, "job": {"default/a", "default/b"}})
	w.Has(w.Get(at), "Pause until <bdi>tomorrow 8:00</bdi>: 2 jobs", "resume automatically")
	w.Has(confirm(w, at, nil), "<dt>done</dt><dd>2</dd>")
	w.Follow(at+"/events?follow=1").Next("held", "2 jobs are paused.")
	for key, want := range map[string]bool{"default/a": true, "default/b": true, "default/c": false} {
		if until := w.Job(key).Job.PausedUntil; until.After(time.Now()) != want {
			t.Errorf("%s is paused until %v", key, until)
		}
	}
	first := at
	at = ask(w, url.Values{"do": {"label"}, "tag": {""}, "until": {"tomorrow 8:00"}, "all": {"1"}}) // as Enter does
	w.Has(confirm(w, at, nil), "<dt>done</dt><dd>1</dd>", "<dt>unchanged</dt><dd>2</dd>")
	for _, until := range []string{"", "yesterday", "<b>"} {
		if r := w.Post("/console/many", url.Values{"do": {"pause"}, "until": {until}, "all": {"1"}}); r.Header.Get("Location") != "/console/jobs" {
			t.Errorf("%q: %d %v", until, r.Status, r.Header)
		}
		w.Has(w.Get("/console/jobs"), "No job was changed: ")
	}
	w.HasNone(w.Get(at), "these jobs…") // two were paused before
	w.Wants(http.StatusConflict, w.Post(at+"/undo", nil))
	w.Has(w.Get(first), "Resume these jobs…")
	back := w.Post(first+"/undo", nil).Header.Get("Location")
	w.Has(w.Get(back), "Resume: 2 jobs")
	w.Has(confirm(w, back, nil), "<dt>done</dt><dd>2</dd>", "!these jobs…")
	for key, want := range map[string]bool{"default/a": false, "default/b": false, "default/c": true} {
		if paused := !w.Job(key).Job.PausedUntil.IsZero(); paused != want {
			t.Errorf("%s is paused: %t", key, paused)
		}
	}
	at = ask(w, url.Values{"do": {"disable"}, "job": {"default/a"}})
	w.Has(confirm(w, at, nil), "Enable these jobs…")
	back = w.Post(at+"/undo", nil).Header.Get("Location")
	w.Has(w.Get(back), "Enable: one job")
	confirm(w, back, nil)
	if got := state(w, "default/a"); got != scheduler.Enabled {
		t.Errorf("after disabling and undoing that, the state is %s", got)
	}
	at = ask(w, url.Values{"do": {"disable"}, "all": {"1"}, "state": {"enabled"}}) // a filter could select others now
	w.Has(confirm(w, at, nil), "<dt>done</dt>", "!these jobs…")
	w.Wants(http.StatusConflict, w.Post(at+"/undo", nil))
}

// TestRerunFailed resubmits what failed of the jobs that match, once each, from the table.
func TestRerunFailed(t *testing.T) {
	w := consoletest.New(t)
	w.Put("default/fails", `{"action": {"type": "http", "request": {"method": "GET", "uri": "http://127.0.0.1:1/"},
		"retryPolicy": {"retryType": "none"}}}`)
	indexed(w)
	w.Await("its failure", func() bool { return state(w, "default/fails") == scheduler.Faulted })
	at := ask(w, url.Values{"do": {"resubmit"}, "since": {"1h"}, "all": {"1"}})
	w.Has(w.Get(at), "Rerun failed", "One occurrence", "Reruns each occurrence")
	w.Has(confirm(w, at, nil), "<dt>done</dt><dd>1</dd>")
	if r := w.Post("/console/many", url.Values{"do": {"resubmit"}, "since": {"soon"}, "all": {"1"}}); r.Header.Get("Location") != "/console/jobs" {
		t.Errorf("%d %v", r.Status, r.Header)
	}
	w.Has(w.Get("/console/jobs"), "No job was changed: ")
}

// TestRightsOfEach: jobs of collections in which somebody may not are refused, and the others are not.
func TestRightsOfEach(t *testing.T) {
	w := consoletest.New(t)
	w.Collect("billing")
	w.Put("default/mine", never)
	w.Put("billing/theirs", never)
	indexed(w)
	w.Be("reader", "operator@default")
	at := ask(w, url.Values{"do": {"disable"}, "job": {"default/mine", "billing/theirs"}})
	w.Has(w.Get(at), "One job is in a collection where you lack this permission")
	w.Has(confirm(w, at, nil), "<dt>done</dt><dd>1</dd>", "<dt>refused</dt><dd>1</dd>", "operator")
	w.Has(confirm(w, ask(w, url.Values{"do": {"enable"}, "all": {"1"}}), nil), "<dt>refused</dt><dd>1</dd>")
	if state(w, "billing/theirs") != scheduler.Enabled {
		t.Error("somebody did what they may not")
	}
	at = ask(w, url.Values{"do": {"disable"}, "job": {"default/mine"}})
	w.Anonymous()
	w.Wants(http.StatusNotFound, w.Do(http.MethodGet, at, ""))
}

// TestStop has the rest left alone, and what was never confirmed never begin.
func TestStop(t *testing.T) {
	w := consoletest.New(t)
	for i := range 300 {
		w.Put(fmt.Sprintf("default/job-%03d", i), never)
	}
	indexed(w)
	at := ask(w, url.Values{"do": {"delete"}, "all": {"1"}})
	w.Wants(http.StatusSeeOther, w.Post(at+"/start", url.Values{"typed": {"delete"}}))
	w.Wants(http.StatusSeeOther, w.Post(at+"/stop", nil))
	body := confirm(w, at, url.Values{"typed": {"delete"}})
	w.Has(body, "Stopped after", "The remaining jobs are unchanged")
	if got := rows(w.Part("/console/jobs")); len(got) == 0 {
		t.Error("nothing is left")
	}

	at = ask(w, url.Values{"do": {"disable"}, "job": {"default/job-299"}})
	w.Post(at+"/stop", nil)
	confirm(w, at, nil)
	if state(w, "default/job-299") != scheduler.Enabled {
		t.Error("it was carried out after it was called off")
	}
}

// TestAskedForNothing says what is missing, and changes nothing.
func TestAskedForNothing(t *testing.T) {
	w := consoletest.New(t)
	w.Put("default/a", never)
	indexed(w)
	for want, form := range map[string]url.Values{
		"Select jobs first":     {"do": {"disable"}, "q": {"a b"}},
		"Enter the label":       {"do": {"label"}, "tag": {" =x"}, "job": {"default/a"}},
		"No job or run matches": {"do": {"disable"}, "all": {"1"}, "q": {"nothing"}},
		"Select jobs first ":    {"do": {"delete"}},
	} {
		r := w.Post("/console/many", form)
		if at := r.Header.Get("Location"); r.Status != http.StatusSeeOther || !strings.HasPrefix(at, "/console/jobs") {
			t.Errorf("%v: %d %s", form, r.Status, at)
		}
		w.Has(w.Get("/console/jobs"), strings.TrimSpace(want))
	}
	for _, form := range []url.Values{{"do": {"explode"}, "job": {"default/a"}}, {"do": {"disable"}, "job": {"<b>"}}, {"do": {"disable"}, "all": {"1"}, "state": {"x"}}} {
		w.Wants(http.StatusBadRequest, w.Post("/console/many", form), "!<b>")
	}
	at := ask(w, url.Values{"do": {"disable"}, "job": {"default/a"}})
	w.Wants(http.StatusNotFound, w.Do(http.MethodGet, at+"X", ""), "This operation has expired")
	for _, path := range []string{"/console/many/nothing", "/console/many/nothing/events?follow=1"} {
		w.Wants(http.StatusNotFound, w.Do(http.MethodGet, path, ""), "carillon audit")
	}
}

// TestTooManyPicked refuses a form with more jobs than may be picked one by one, before each of them is compared with the others.
func TestTooManyPicked(t *testing.T) {
	w := consoletest.New(t)
	keys := make([]string, 1001)
	for i := range keys {
		keys[i] = "default/a"
	}
	r := w.Post("/console/many", url.Values{"do": {"run"}, "job": keys})
	w.Wants(http.StatusBadRequest, r, "1000")
}

// TestPauseCollection pauses the jobs of a collection from its page, and resumes those that are enabled.
func TestPauseCollection(t *testing.T) {
	w := consoletest.New(t)
	w.Put("default/a", never)
	w.Put("default/b", never)
	indexed(w)
	page := w.Get("/console/collections/default")
	w.Has(page, "Pause jobs…", `name="until"`, `name="state" value="paused"`, `name="collection" value="default"`)
	whole := url.Values{"all": {"1"}, "collection": {"default"}}
	form := func(more ...string) url.Values {
		f := maps.Clone(whole)
		for i := 0; i < len(more); i += 2 {
			f.Set(more[i], more[i+1])
		}
		return f
	}
	w.Has(confirm(w, ask(w, form("do", "pause", "until", "2h")), nil), "<dt>done</dt><dd>2</dd>")
	w.OK(w.Service.Disable(t.Context(), consoletest.Key("default/b")))
	w.Has(confirm(w, ask(w, form("do", "enable", "state", "paused")), nil), "<dt>done</dt><dd>1</dd>")
	if until := w.Job("default/a").Job.PausedUntil; !until.IsZero() || state(w, "default/b") != scheduler.Disabled {
		t.Errorf("paused until %s, %s", until, state(w, "default/b"))
	}
}

// TestOperations lists the operations of all replicas, and has one canceled.
func TestOperations(t *testing.T) {
	w := consoletest.New(t)
	w.Has(w.Get("/console/many"), "No operations in the last 7 days")
	w.Put("default/a", never)
	other := control.New(control.Config{Store: w.Store, Actions: w.Actions, Secrets: w.Vault})
	ctx := auth.With(t.Context(), auth.Anonymous(auth.ViaLoopback, "127.0.0.1"))
	op := must.Get(other.CreateOperation(ctx, "", []byte(`{"verb": "disable", "jobs": ["default/a", "default/none"], "ratePerSecond": 0.001}`)))(t)
	at := "/console/many/" + op.ID
	w.Has(w.Get("/console/many"), `<a href="`+at+`" class="stretch">Disable`, "running", "0 of 2", `action="`+at+`/stop"`)
	w.Wants(http.StatusSeeOther, w.Post(at+"/stop", nil))
	w.Has(w.Get("/console/many"), "canceled")
	w.Be("operator@elsewhere")
	w.Has(w.Get("/console/many"), "No operations in the last 7 days")
}
