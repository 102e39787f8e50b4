package failures_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/console/consoletest"
)

// failed returns the record of a failed attempt.
func failed(key string, ago time.Duration) *scheduler.Record {
	r := consoletest.Attempt(key, time.Now().Add(-ago))
	r.Outcome, r.Status, r.Summary, r.Response = scheduler.OutcomeFailed, http.StatusBadGateway, "Bad Gateway", "try later"
	return r
}

// TestRepair goes from the overview to the cause, pauses the jobs of a group, resumes them, and reruns what failed.
func TestRepair(t *testing.T) {
	w := consoletest.New(t)
	w.Work()
	target := w.Target()
	for _, key := range []string{"default/a", "default/b"} {
		w.Put(key, `{"startTime": "2090-01-01T00:00:00Z", "recurrence": {"frequency": "day"}, "action": {"type": "http",
			"request": {"method": "GET", "uri": "`+target+`/?fail"}, "retryPolicy": {"retryType": "none"}}}`)
		w.Run(key)
	}
	link := regexp.MustCompile(`href="(/console/failures/[0-9a-f]{16})"`)
	row := `</td> <td class="number">2</td><td class="number">2</td>`
	w.Await("the group", func() bool {
		return strings.Contains(strings.Join(strings.Fields(w.Get("/console/failures")), " "), row)
	})
	list := w.Get("/console/failures")
	host := strings.TrimPrefix(target, "http://")
	w.Has(list, "<bdi>"+host+"</bdi> <bdi>418</bdi>", "</span>open</span>", "hello", `<path class="bar-failed" d="M59 16h1v-16h-1z"/>`)
	w.Has(w.Get("/console/failures?since=1h"), host, "/console/failures/events?follow=1&amp;since=1h", `/console/failures?as=csv&amp;since=1h`)
	w.Has(w.Get("/console/failures?until=1h"), "!"+host, "No failures in this time range.")
	w.Has(w.Get("/console/failures?as=csv&until=1h"), "!"+host)
	path := link.FindStringSubmatch(list)[1]
	page := w.Get(path)
	w.Has(page, `<a href="/console/jobs/default/a">`, `<a href="/console/jobs/default/b">`, "Pause jobs…", "!Reopen", "hello")
	live := w.Follow(path + "/events?follow=1")
	live.Next("facts", "hello")
	live.Next("jobs", "default/b")
	w.Follow("/console/failures/events?follow=1").Next("list", host)

	id := strings.TrimPrefix(path, "/console/failures/")
	operate := func(n int, texts []string, form url.Values) {
		t.Helper()
		form.Set("failure", id)
		to := w.Post("/console/many", form).Header.Get("Location")
		w.Has(w.Get(to), texts...)
		w.Wants(http.StatusSeeOther, w.Post(to+"/start", nil))
		w.Await("the end of "+form.Get("do"), func() bool { return strings.Contains(w.Get(to), "Finished: ") })
		w.Has(w.Get(to), fmt.Sprintf("<dt>done</dt><dd>%d</dd>", n))
	}
	operate(2, []string{"Pause until <bdi>2h</bdi> (<time", "2 jobs", "default/a", "default/b"}, url.Values{"do": {"pause"}, "until": {"2h"}})
	if w.Job("default/a").Job.PausedUntil.IsZero() || w.Job("default/b").Job.PausedUntil.IsZero() {
		t.Error("the jobs are not paused")
	}
	w.OK(w.Service.Disable(t.Context(), consoletest.Key("default/b")))
	operate(1, []string{"Resume: one job", "!default/b"}, url.Values{"do": {"enable"}})
	if !w.Job("default/a").Job.PausedUntil.IsZero() || w.Job("default/b").Job.State != scheduler.Disabled {
		t.Error("resuming did not resume the paused job, and only this")
	}
	operate(2, []string{"2 occurrences"}, url.Values{"do": {"resubmit"}, "since": {"1h"}, "rate": {"100"}})
	w.Await("the reruns", func() bool { return strings.Contains(w.Get(path), "<dt>Failed attempts</dt><dd>4</dd>") })

	mustReturn(w, path, url.Values{"failure": {id}})
	w.Wants(http.StatusNotFound, w.Post("/console/many", url.Values{"do": {"pause"}, "until": {"2h"}, "failure": {"0123456789abcdef"}}))
}

// mustReturn posts forms that are wrong, or that select nothing: they lead back to their page with the reason and what was typed.
func mustReturn(w *consoletest.Harness, path string, of url.Values) {
	w.T.Helper()
	for _, wrong := range []struct {
		form        url.Values
		note, typed string
	}{
		{url.Values{"do": {"enable"}, "state": {"paused"}}, "No job or run matches.", "2h"},
		{url.Values{"do": {"pause"}, "until": {"<x>"}}, "No job was changed: ", "&lt;x&gt;"},
		{url.Values{"do": {"resubmit"}, "since": {"x y"}}, "No job was changed: ", "x y"},
		{url.Values{"do": {"resubmit"}, "since": {"2090-01-01T00:00:00Z"}}, "the start must be in the past", "2090-01-01T00:00:00Z"},
		{url.Values{"do": {"resubmit"}, "since": {"3h"}, "rate": {"-1"}}, "runs per second must be above 0", `-1`},
	} {
		maps.Copy(wrong.form, of)
		to := w.Post("/console/many", wrong.form).Header.Get("Location")
		if at, _, _ := strings.Cut(to, "?"); at != path {
			w.T.Errorf("%v leads to %s", wrong.form, to)
			continue
		}
		w.Has(w.Get(to), wrong.note, `value="`+wrong.typed+`"`, "!parameter")
	}
}

// TestStates acknowledges, mutes and reopens a group, which is then resolved.
func TestStates(t *testing.T) {
	w := consoletest.New(t)
	w.Recorder.Record(failed("default/a", 2*time.Minute))
	path := regexp.MustCompile(`/console/failures/[0-9a-f]{16}`).FindString(w.Get("/console/failures"))
	change := func(verb string, form url.Values, texts ...string) {
		t.Helper()
		r := w.Post(path+"/"+verb, form)
		w.Wants(http.StatusSeeOther, r)
		w.Has(w.Get(r.Header.Get("Location")), texts...)
	}
	change("acknowledge", url.Values{"note": {"<b>called\u202e them"}}, "</span>acknowledged</span>", "&lt;b&gt;called", "!\u202e", "Reopen")
	change("mute", url.Values{"mute": {"2h"}}, "</span>muted</span>", "muted until")
	change("mute", url.Values{"mute": {"yesterday"}}, "Nothing was changed: ", `value="yesterday"`, `value="2h"`)
	change("mute", url.Values{"mute": {"8d"}}, "Nothing was changed: ", "more than 7 days", `value="8d"`)
	change("acknowledge", url.Values{"note": {strings.Repeat("é", 200)}}, "Nothing was changed: has 400 bytes", `value="éé`)
	change("reopen", nil, "</span>open</span>", "!called")
	w.Wants(http.StatusNotFound, w.Post(path+"/delete", nil))
	w.Recorder.Record(consoletest.Attempt("default/a", time.Now().Add(-time.Minute)))
	w.Has(w.Get(path), "</span>resolved</span>", "<dt>Resolved</dt>")
	w.Wants(http.StatusNotFound, w.Do(http.MethodGet, "/console/failures/0123456789abcdef", ""), "a group is kept for a day")
}

// TestRights shows the jobs that the caller may see, and no buttons to a reader.
func TestRights(t *testing.T) {
	w := consoletest.New(t)
	w.Recorder.Record(failed("mine/a", time.Minute))
	w.Recorder.Record(failed("other/b", time.Minute))
	hostile := failed("mine/c", time.Minute)
	hostile.Target, hostile.Response = "<script>\u202e.example:443", "<script>\u202e"
	w.Recorder.Record(hostile)
	w.Be("reader@mine")
	list := w.Get("/console/failures")
	w.Has(list, "mine/a", "!other", "!<script>\u202e", "&lt;script&gt;")
	w.Has(list, `href="/console/failures?as=csv"`)
	w.Has(w.Get("/console/failures?as=csv"), "open,target.example:443,502,Http,1,0,1,", "mine/a", "<script>\u202e.example:443", "!other")
	w.Has(w.Get("/console/failures?as=json"), `"target":"target.example:443"`, "!other")
	path := regexp.MustCompile(`(/console/failures/[0-9a-f]{16})" class="stretch"><bdi>target.example`).FindStringSubmatch(list)[1]
	w.Has(w.Get(path), "mine/a", "!other", "!Pause jobs")
	w.Wants(http.StatusForbidden, w.Post(path+"/acknowledge", nil))
	w.Be("operator@mine")
	w.Has(w.Get(path), "Pause jobs")
	w.Wants(http.StatusForbidden, w.Post(path+"/acknowledge", nil), "operator on all collections")
	w.Be("reader@third")
	w.Has(w.Get("/console/failures"), "No failures in the last 24 hours.")
}
