package failures_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/console"
	"github.com/carillon-sched/carillon/scheduler/console/consoletest"
	"github.com/carillon-sched/carillon/scheduler/stats"
)

// source has the health of targets, and an error.
type source struct {
	targets atomic.Pointer[[]stats.Target]
	err     atomic.Pointer[error]
}

func (s *source) Board(context.Context) (*stats.Board, error) {
	return &stats.Board{Targets: *s.targets.Load()}, *s.err.Load()
}

func (*source) Load(context.Context) (load scheduler.Load, err error) { return load, nil }

// TestTarget shows the health, the limits, the failures and the jobs of a target, and repairs what failed.
func TestTarget(t *testing.T) {
	s := &source{}
	s.targets.Store(new([]stats.Target))
	s.err.Store(new(error))
	w := consoletest.New(t, func(_ *consoletest.Harness, cfg *console.Config) { cfg.Activity = s })
	w.Work()
	w.Collect("mine")
	w.Wants(http.StatusSeeOther, w.Post("/console/collections/mine", url.Values{
		"targets": {`"127.0.0.1": {rate: {limit: 1200, per: PT1M}, circuitBreaker: {failures: 4}}`},
	}))
	uri := w.Target() + "/?fail"
	name := strings.TrimSuffix(strings.TrimPrefix(uri, "http://"), "/?fail")
	job := func(fields, uri string) string {
		return `{` + fields + `"startTime": "2090-01-01T00:00:00Z", "recurrence": {"frequency": "day"}, "action": {"type": "http",
			"request": {"method": "GET", "uri": "` + uri + `"}, "retryPolicy": {"retryType": "none"}}}`
	}
	w.Put("default/a", job("", uri))
	w.Put("mine/b", job("", uri))
	w.Put("mine/off", job(`"state": "disabled", `, uri))
	w.Put("mine/other", job(`"labels": {"of": "`+name+`"}, `, "http://127.0.0.1:1/"))
	w.Await("the index", w.Service.Indexed)

	path := "/console/targets/" + name
	w.Has(w.Get(path), "No failed, slow or waiting attempts", "No open failures.", `href="/console/jobs/default/a"`, `href="/console/jobs/mine/b"`,
		"!mine/other", `href="/console/collections/mine"`, "1\u202f200 in 60 s", "opens after 4 failures, for 30 s", `name="target" value="`+name+`"`)
	w.Has(w.Get("/console/targets/127.0.0.1"), "default/a", "mine/other")
	w.Has(w.Get("/console/jobs/default/a"), `href="`+path+`"`)

	w.Run("mine/b")
	w.Await("its failure", func() bool { return strings.Contains(w.Get(path), "<bdi>418</bdi>") })
	w.Has(w.Get(path), `href="/console/live?since=1h&amp;target=`+url.QueryEscape(name)+`">Attempts</a><span class="value">1</span>`,
		`&amp;outcome=failed">Failed attempts</a><span class="value">1</span>`, "Duration, p95")
	w.Has(w.Get(path+"?since=2h&until=1h"), "No matching records.", `href="/console/live?since=2h&amp;until=1h"`)
	s.targets.Store(&[]stats.Target{
		{Name: name, Collection: "mine", State: stats.TargetOpen, Until: time.Now().Add(time.Minute), Attempts: 9, Failed: 5, Mean: 2 * time.Second},
		{Name: "my.example:443", Failed: 1},
	})
	w.Recorder.Record(failed("mine/b", time.Minute)) // of another target
	changed := w.Follow(path+"/events?follow=1").Next("now", "circuit breaker open").Data
	for _, page := range []string{changed, w.Get(path)} {
		w.Has(page, "rule of mine", "5 of 9", "2 s", "<bdi>"+name+"</bdi> <bdi>418</bdi>", "!my.example", "!target.example:443")
	}
	away := errors.New("NATS is away")
	s.err.Store(&away)
	w.Has(w.Get(path), "NATS is away", "5 of 9")

	s.targets.Store(new(make([]stats.Target, stats.TargetsMost)))
	w.Has(w.Get(path), "It is not among the least healthy targets.", "!No failed, slow")

	w.Be("reader@mine")
	w.Has(w.Get(path), "you need the role reader", `href="/console/jobs/mine/b"`, "<bdi>418</bdi>", "!5 of 9", "!default/a", "!Pause jobs", "!NATS is away")
	w.Be("operator")
	operate := func(form url.Values, texts ...string) {
		t.Helper()
		form.Set("target", name)
		form.Set("all", "1")
		to := w.Post("/console/many", form).Header.Get("Location")
		w.Has(w.Get(to), texts...)
		w.Wants(http.StatusSeeOther, w.Post(to+"/start", nil))
		w.Await("the end of "+form.Get("do"), func() bool { return strings.Contains(w.Get(to), "Finished: ") })
	}
	operate(url.Values{"do": {"pause"}, "until": {"2h"}}, "3 jobs", "default/a", "mine/b", "mine/off", "!mine/other")
	operate(url.Values{"do": {"enable"}, "state": {"paused"}}, "2 jobs", "!mine/off")
	if w.Job("mine/off").Job.State != scheduler.Disabled || !w.Job("mine/b").Job.PausedUntil.IsZero() {
		t.Error("resuming did not resume the paused jobs, and only these")
	}
	operate(url.Values{"do": {"resubmit"}, "since": {"1h"}}, "Rerun failed", "One occurrence")
	mustReturn(w, path, url.Values{"target": {name}, "page": {"target"}, "all": {"1"}})
}

// TestNamesOfTargets has names that nobody gives: the page shows them as text, and links back to itself.
func TestNamesOfTargets(t *testing.T) {
	w := consoletest.New(t)
	w.Work()
	w.Await("the index", w.Service.Indexed)
	for _, name := range []string{"<script>\u202e", "127.0.0.1:10000/devstoreaccount1", "a?b#c", "x y"} {
		w.Has(w.Get("/console/targets/"+url.PathEscape(name)), "No job calls this target.", "!<script>\u202e", "!\u202e<",
			`data-events="/console/targets/`+url.PathEscape(name)+`/events?follow=1"`)
	}
}
