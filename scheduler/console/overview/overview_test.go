package overview_test

import (
	"context"
	"fmt"
	"html"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/console"
	"github.com/carillon-sched/carillon/scheduler/console/consoletest"
	"github.com/carillon-sched/carillon/scheduler/stats"
)

// source tells of the records that it is given, of reports, and of the load of the store.
type source struct {
	w       *consoletest.Harness
	reports atomic.Pointer[[]stats.Report]
	err     atomic.Pointer[error]
}

func (s *source) Board(context.Context) (*stats.Board, error) {
	b := stats.NewBoard(time.Now())
	s.w.Recorder.Periods(func(p stats.Period, data []byte) {
		if err := b.AddPeriod(p, data); err != nil {
			s.w.T.Error(err)
		}
	})
	if reports := s.reports.Load(); reports != nil {
		for _, r := range *reports {
			r.At = time.Now()
			b.AddReport(r)
		}
	}
	b.Finish()
	if err := s.err.Load(); err != nil {
		return b, *err
	}
	return b, nil
}

func (s *source) Load(ctx context.Context) (scheduler.Load, error) { return s.w.Store.Load(ctx) }

// open starts a scheduler with the page.
func open(t *testing.T) (*consoletest.Harness, *source) {
	t.Helper()
	s := &source{}
	w := consoletest.New(t, func(w *consoletest.Harness, cfg *console.Config) {
		s.w = w
		cfg.Activity = s
	})
	return w, s
}

// counted fills the page with runs and reports.
func (s *source) counted() {
	now := time.Now()
	for i := range 7 {
		s.w.Recorder.Add(&scheduler.Record{
			ID: "x", Outcome: scheduler.OutcomeCompleted, Due: now.Add(-time.Second), Started: now.Add(-time.Second + 2*time.Millisecond), Ended: now,
		}, now)
		if i < 2 {
			k := scheduler.Key{Collection: []string{"partners", "default"}[i], Job: "broken"}
			s.w.Recorder.Add(&scheduler.Record{
				Job: k, Outcome: scheduler.OutcomeFaulted, Occurrence: scheduler.OccurrenceID(k, now), Ended: now,
				Status: 503, Message: "503 Service Unavailable", Response: "try later", Target: k.Collection + ".example:443",
			}, now)
		}
	}
	s.reports.Store(&[]stats.Report{
		{
			ID: "id-one", Name: "one", Version: "1.0.0", Server: "nats-a", Since: now.Add(-time.Hour), InFlight: 3, Queued: 2, Held: 9,
			Running: []stats.Running{
				{Job: "partners/long", Since: now.Add(-time.Minute), Occurrence: now, Attempt: 2, Target: "slow.example:443"},
				{Job: "default/short", Since: now.Add(-time.Second), Occurrence: now, Attempt: 1, Target: "quick.example:443"},
			},
			Targets: []stats.Target{
				{Name: "slow.example:443", Collection: "partners", State: stats.TargetOpen, Until: now.Add(time.Minute), Queued: 4},
				{Name: "sick.example:443", State: stats.TargetSlow, Attempts: 6, Failed: 6, Mean: 2 * time.Second},
			},
			Audit: &stats.Audit{At: now, Jobs: 12, Found: 2, Mended: 1, Lost: 1, First: []string{"partners/gone: its definition is lost"}},
		},
		{ID: "id-two", Name: "two", Version: "1.0.1", InFlight: 1, Since: now},
	})
}

// TestTheWholePage has everything there is to show.
func TestTheWholePage(t *testing.T) {
	w, s := open(t)
	w.Work()
	w.Put("default/soon", `{"action": {"type": "http", "request": {"method": "GET", "uri": "http://example.org/"}}, "startTime": "`+
		time.Now().Add(50*time.Minute).UTC().Format(time.RFC3339)+`"}`)
	s.counted()
	w.Await("the index", func() bool { return strings.Contains(w.Get("/"), "of 1 enabled jobs") })
	for path, unit := range map[string]string{"/": "minute", "/?since=24h": "minute", "/?since=7d": "hour"} {
		w.Has(w.Get(path),
			`Running now</a> <span class="value">4</span>`, "2 due runs wait for a slot",
			`within=1m&amp;sort=next">Due in the next minute</a> <span class="value">0</span>`,
			`within=1h&amp;sort=next">Due in the next hour</a> <span class="value">1</span>`,
			`href="/console/live?outcome=faulted&amp;since=24h">Failed in the last 24 hours</a> <span class="value">2</span>`, "22 % of 9 runs",
			"7 completed, 2 faulted", "<title id=\"runs-chart-title\">Runs per "+unit+"</title>",
			`<title id="lateness-chart-title">Lateness</title>`, "lateness p50 2 ms",
			`href="/console/jobs/partners/long"`, "attempt 2", `href="/console/jobs/default/short"`, "The longest-running attempts; more are running.",
			`href="/console/targets/slow.example:443"`, "circuit breaker open", "rule of partners",
			`</span>slow</span> <span class="state failed"><span class="shape" aria-hidden="true"></span>failing</span>`,
			"One problem remains.", "partners/gone: its definition is lost", "carillon doctor", "One definition is lost.",
			"id-one", "id-two", "nats-a", "The schedulers have different versions", "Backlog",
			`href="/console/jobs/partners/broken"`, "503 Service Unavailable: try later", `href="/console/jobs/default/broken/runs/`,
			"<td class=\"number\">7</td><td class=\"number\">2</td>", "!You see the data of your collections",
		)
	}
	w.Has(w.Get("/"), `<a href="/?since=1h" data-since="1h" aria-current="true">1 h</a>`, "Runs of the last hour: 7 completed", `<a href="/console/live"`)
	w.Has(w.Get("/?since=24h"), `<a href="/?since=24h" data-since="24h" aria-current="true">24 h</a>`, "events?follow=1&amp;since=24h", "Runs of the last 24 hours",
		`<a href="/console/live?since=24h"`, `<a href="/console/failures?since=24h"`, `<a href="/console/calendar?since=24h"`, `<a href="/console/jobs"`)
	w.Has(w.Get("/?since=2026-03-08+10:00&until=2026-03-08T12:00Z"), "8 Mar 10:00 – 8 Mar 12:00", `value="2026-03-08 10:00"`, "Runs of 8 Mar 10:00 – 8 Mar 12:00: none.",
		`<a href="/console/live?since=2026-03-08&#43;10%3A00&amp;until=2026-03-08T12%3A00Z"`)
	for query, problem := range map[string]string{
		"since=x": "since: &#34;x&#34; is not a time", "until=90": "until: &#34;90&#34; is not a time", "since=1h&until=2h": "until: must be after since.", "since=2026-03-09&until=2026-03-09": "until: must be after since.",
	} {
		w.Wants(http.StatusBadRequest, w.Do(http.MethodGet, "/?"+query, ""), problem)
	}
}

// TestLinksLead: what the cards and the tables link to is there, and understands what it is asked.
func TestLinksLead(t *testing.T) {
	w, s := open(t)
	w.Work()
	w.Collect("partners")
	for _, key := range []string{"default/soon", "default/short", "partners/long", "default/broken", "partners/broken"} {
		w.Put(key, `{"action": {"type": "http", "request": {"method": "GET", "uri": "http://example.org/"}}, "startTime": "2090-01-01T00:00:00Z"}`)
	}
	s.counted()
	w.Await("the index", func() bool { return strings.Contains(w.Get("/"), "of 5 enabled jobs") })
	links := regexp.MustCompile(`href="(/console/(?:jobs|live|targets)[^"]*)"`).FindAllStringSubmatch(w.Get("/"), -1)
	if len(links) < 7 {
		t.Errorf("there are %d links", len(links))
	}
	for _, m := range links {
		if strings.Contains(m[1], "/runs/") {
			continue // which is in no history here
		}
		w.Has(w.Get(html.UnescapeString(m[1])), `!class="problem"`)
	}
}

// TestWhoSeesWhat has somebody who may read one collection.
func TestWhoSeesWhat(t *testing.T) {
	w, s := open(t)
	w.Collect("partners")
	w.Work()
	for _, key := range []string{"partners/a", "default/b", "default/c"} {
		w.Put(key, `{"action": {"type": "http", "request": {"method": "GET", "uri": "http://example.org/"}}, "startTime": "`+
			time.Now().Add(30*time.Minute).UTC().Format(time.RFC3339)+`"}`)
	}
	s.counted()
	w.Be("reader@partners")
	w.Await("the index", func() bool { return strings.Contains(w.Get("/"), "of 1 enabled jobs") })
	hidden := []string{"!default", "!default/short", "!slow.example", "!quick.example", "!id-one", "!nats-a", "!gone", "!Runs per minute", "!p99", "!Lanes", "!doctor", "!22 %"}
	w.Has(w.Get("/"), append(hidden,
		`Due in the next hour</a> <span class="value">1</span>`, `Running now</a> <span class="value">1+</span>`,
		`href="/console/jobs/partners/long"`, `href="/console/jobs/partners/broken/runs/`, "You see the data of your collections", "the list shows failures in your collections",
	)...)
	w.Has(events(w, "cards", "running", "failures"),
		append(slices.Clip(hidden), "partners/long", "partners/broken")...)

	w.Be("reader@other")
	w.Await("the other", func() bool { return strings.Contains(w.Get("/"), "of 0 enabled jobs") })
	w.Has(w.Get("/"), append(hidden, "!partners/", "None of the longest-running attempts belongs to your jobs.", "No open failures.")...)
	w.Be()
	w.Wants(http.StatusForbidden, w.Do(http.MethodGet, "/", ""))
}

// events reads live parts until those that are named have come, and returns their data.
func events(w *consoletest.Harness, names ...string) string {
	w.T.Helper()
	var data strings.Builder
	for s := w.Follow("/console/overview/events?follow=1"); len(names) > 0; {
		e := s.Next("", "")
		data.WriteString(e.Data)
		names = slices.DeleteFunc(names, func(n string) bool { return n == e.Name })
	}
	return data.String()
}

// TestPartsComeWhenTheyChange follows the page while something begins to run.
func TestPartsComeWhenTheyChange(t *testing.T) {
	w, s := open(t)
	first := events(w, "trouble", "cards", "running", "failures", "targets", "lanes", "replicas", "audit", "runs", "lateness", "figures")
	w.Has(first, "No attempts are running.", "No open failures.", "All targets are healthy", "The first consistency check is still running", "No runs in this period.")

	seen := map[string]int{}
	for stream := w.Follow("/console/overview/events?follow=1"); seen["running"] < 2 || seen["replicas"] < 2 || seen["runs"] < 2; {
		name := stream.Next("", "").Name
		seen[name]++
		if name == "figures" && seen["running"] == 1 {
			s.counted() // now
		}
	}
	if seen["trouble"] != 1 || seen["lanes"] != 1 {
		t.Errorf("parts came again that had not changed: %v", seen)
	}
}

// TestTroubleIsTold has NATS that does not tell what others do: what is known stays.
func TestTroubleIsTold(t *testing.T) {
	w, s := open(t)
	s.counted()
	err := fmt.Errorf("%w: no answer", scheduler.ErrUnavailable)
	s.err.Store(&err)
	w.Has(w.Get("/"), "Some data is not available:", "no answer", "id-one", "7 completed")
}

// TestWithoutSource has a console that knows nothing but its service, which has no jobs.
func TestWithoutSource(t *testing.T) {
	w := consoletest.New(t)
	w.Work()
	w.Await("the index", func() bool { return strings.Contains(w.Get("/"), "No jobs yet.") })
	w.Has(w.Get("/"), "carillon apply examples/jobs", "!Running now", "!Lanes")
	events(w, "cards")
}

// TestAuditTime shows that an audit in order is of its time, and how to run another.
func TestAuditTime(t *testing.T) {
	w, s := open(t)
	at := time.Now().Add(-40 * time.Minute).UTC()
	s.reports.Store(&[]stats.Report{{ID: "id", Audit: &stats.Audit{At: at, Jobs: 4}}})
	w.Has(w.Get("/"), "All 4 jobs were consistent.</span> Checked <time datetime=\""+at.Format(time.RFC3339Nano),
		"The next check runs within two hours.", "<code>carillon doctor</code>")
}

// TestHostileNames shows that what others have named is text.
func TestHostileNames(t *testing.T) {
	w, s := open(t)
	const script = `<script>alert(1)</script>`
	s.reports.Store(&[]stats.Report{{
		ID: "id" + script, Name: script, Version: script, Server: script, InFlight: 1,
		Running: []stats.Running{{Job: "default/" + script, Target: script}},
		Targets: []stats.Target{{Name: script, Collection: script, State: stats.TargetSlow}, {Name: "b", State: `"><b`}},
		Audit:   &stats.Audit{Found: 1, First: []string{script}, At: time.Now()},
	}})
	k := scheduler.Key{Collection: "default", Job: script}
	s.w.Recorder.Record(&scheduler.Record{
		Job: k, Outcome: scheduler.OutcomeFaulted, Occurrence: "default/x@" + script, Ended: time.Now(), Response: strings.Repeat("<b>\n", 200),
	})
	w.Has(w.Get("/"), "!"+script, "!<b>", "&lt;script&gt;", "&lt;b&gt; &lt;b&gt;")
}

// TestThePageIsSmall bounds what the first page takes.
func TestThePageIsSmall(t *testing.T) {
	w, s := open(t)
	s.counted()
	now := time.Now()
	for i := range 3600 { // all steps are full
		at := now.Add(-time.Duration(i) * time.Second)
		s.w.Recorder.Add(&scheduler.Record{ID: "x", Outcome: scheduler.OutcomeCompleted, Ended: at, Started: at, Due: at}, now)
	}
	for _, path := range []string{"/", "/?since=24h", "/?since=7d"} {
		page := w.Do(http.MethodGet, path, "", "Accept-Encoding: gzip")
		if n := len(page.Body); page.Header.Get("Content-Encoding") != "gzip" || n > 30<<10 {
			t.Errorf("%s takes %d bytes, %s", path, n, page.Header.Get("Content-Encoding"))
		}
	}
}
