package live_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/console"
	"github.com/carillon-sched/carillon/scheduler/console/consoletest"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
)

// job is one that does not run by itself within a test.
const job = `{"startTime": "2099-01-01T00:00:00Z", "recurrence": {"frequency": "day"},
	"action": {"type": "http", "request": {"uri": "https://target.example/", "method": "GET"}}}`

// harness is one with two jobs, whose attempts are recorded by the test.
type harness struct {
	*consoletest.Harness

	records int
}

func newHarness(t *testing.T, change ...func(w *consoletest.Harness, cfg *console.Config)) *harness {
	t.Helper()
	w := &harness{Harness: consoletest.New(t, change...)}
	w.Collect("other")
	w.Put("default/a", job)
	w.Put("other/b", job)
	return w
}

// record records attempts of a job; change changes what is told of them.
func (w *harness) record(key string, n int, change ...func(*scheduler.Record)) {
	w.T.Helper()
	for range n {
		w.records++
		r := consoletest.Attempt(key, time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).Add(time.Duration(w.records)*time.Second))
		for _, f := range change {
			f(r)
		}
		w.Append(r)
	}
}

var (
	sequences = regexp.MustCompile(`data-sequence="(\d+)"`)
	missed    = regexp.MustCompile(`data-missed="(\d+)"`)
	newest    = regexp.MustCompile(`data-follow="([^"]+)"`)
	older     = regexp.MustCompile(`data-older href="([^"]+)"`)
)

// numbers are those that a pattern finds.
func numbers(pattern *regexp.Regexp, text string) (all []int) {
	for _, m := range pattern.FindAllStringSubmatch(text, -1) {
		n, _ := strconv.Atoi(m[1])
		all = append(all, n)
	}
	return all
}

// address is what a pattern finds, as a link.
func address(t *testing.T, pattern *regexp.Regexp, page string) string {
	t.Helper()
	m := pattern.FindStringSubmatch(page)
	if m == nil {
		t.Fatalf("there is no %s in %.3000s", pattern, page)
	}
	return strings.ReplaceAll(m[1], "&amp;", "&")
}

// TestPages goes through the history by its pages, without scripts.
func TestPages(t *testing.T) {
	w := newHarness(t)
	w.Has(w.Get("/console/live"), "No runs yet", "carillon run")
	w.record("default/a", 120)
	w.record("other/b", 130)
	var seen []int
	path := "/console/live"
	for path != "" {
		page := w.Get(path)
		seen = append(seen, numbers(sequences, page)...)
		m := older.FindStringSubmatch(page)
		if follows := newest.MatchString(page); follows != (path == "/console/live") {
			t.Errorf("%s is followed: %t", path, follows)
		}
		if path = ""; m != nil {
			path = strings.ReplaceAll(m[1], "&amp;", "&")
		}
	}
	run := regexp.MustCompile(`<small><a href="(/console/jobs/other/b/runs/[^"]+)">`).FindStringSubmatch(w.Get("/console/live"))
	if len(run) != 2 || !strings.Contains(w.Get(html.UnescapeString(run[1])), "other/b@") {
		t.Errorf("%v does not lead to a run", run)
	}
	if len(seen) != 250 || seen[0] != 250 || seen[249] != 1 || !slices.IsSortedFunc(seen, func(a, b int) int { return b - a }) {
		t.Errorf("the pages have %d records, %v", len(seen), seen)
	}
}

// TestFilters has each filter let some pass.
func TestFilters(t *testing.T) {
	w := newHarness(t)
	w.record("default/a", 3)
	w.record("default/a", 2, func(r *scheduler.Record) {
		r.Outcome, r.Target, r.Status = scheduler.OutcomeFailed, "10.0.0.1:8080", 500
	})
	w.record("other/b", 4, func(r *scheduler.Record) { r.Type = "Https" })
	w.record("other/b", 1, func(r *scheduler.Record) { r.Kind, r.Outcome = scheduler.Manual, scheduler.OutcomeFaulted })
	for query, want := range map[string]int{
		"":                                    10,
		"collection=other":                    5,
		"job=a":                               5,
		"job=other/b":                         5,
		"collection=other&job=b&manual=false": 4,
		"job=other/":                          5,
		"job=LT/A":                            5,
		"job=none":                            0,
		"collection=other&job=a":              0,
		"manual=true":                         1,
		"outcome=failed":                      2,
		"outcome=failed&outcome=faulted":      3,
		"outcome=failed&collection=other":     0,
		"target=10.0.0.1":                     2,
		"type=https":                          4,
		"action=ErrorAction":                  0,
		"since=2026-03-01T12:00:09Z":          2,
		"until=2026-03-01T12:00:03.5Z":        3,
		"since=1m":                            0,
		"collection=&job=&outcome=&type=&target=": 10,
	} {
		page := w.Part("/console/live?" + query)
		if got := numbers(sequences, page); len(got) != want {
			t.Errorf("%s: %d records, want %d", query, len(got), want)
		}
		if want == 0 && !strings.Contains(page, "No matching records") {
			t.Errorf("%s says nothing of it: %s", query, page)
		}
	}
	for query, want := range map[string]string{
		"outcome=good":              "400 outcome: must be one of completed, failed, faulted, postponed, skipped; got",
		"manual=perhaps":            "400 manual: must be one of true, false; got",
		"action=MyAction":           "400 action: must be one of MainAction, ErrorAction; got",
		"type=Telnet":               "400 Telnet",
		"collection=none":           "404 none",
		"target=a)+or+(status+eq+b": "400 one word",
		"since=soon":                "400 soon",
		"before=x":                  "400 before",
	} {
		r := w.Do(http.MethodGet, "/console/live?"+query, "")
		status, text, _ := strings.Cut(want, " ")
		if strconv.Itoa(r.Status) != status || !strings.Contains(r.Body, text) || !strings.Contains(r.Body, `class="problem"`) || !strings.Contains(r.Body, "<form") {
			t.Errorf("%s: %d %s", query, r.Status, r.Body)
		}
	}
}

// TestFailuresOnce has a run fail: its last attempt and its end are one line, with the outcome of the run and the answer.
func TestFailuresOnce(t *testing.T) {
	w := newHarness(t)
	w.record("default/a", 1)
	for _, o := range []scheduler.Outcome{scheduler.OutcomeFailed, scheduler.OutcomeFaulted} {
		w.record("default/a", 1, func(r *scheduler.Record) {
			at := time.Date(2026, 3, 1, 13, 0, 0, 0, time.UTC)
			r.Nominal, r.Occurrence, r.Outcome, r.Status = at, scheduler.OccurrenceID(r.Job, at), o, 500
			if o == scheduler.OutcomeFaulted {
				r.ID, r.Response = "", ""
			}
		})
	}
	once := []string{`class="state faulted"`, "hello</pre>", "!state failed"}
	for query, want := range map[string][]int{"": {2, 1}, "?outcome=failed": {2}, "?outcome=faulted": {3}} {
		if got := numbers(sequences, w.Part("/console/live"+query)); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}
	list := regexp.MustCompile(`(?s)<ol class="attempts".*</ol>`)
	w.Has(list.FindString(w.Get("/console/live")), once...)
	e := w.Follow("/console/live/events?follow=true&after=0").Next("rows", "")
	if got := numbers(sequences, e.Data); !slices.Equal(got, []int{2, 1}) || e.ID != "3" {
		t.Errorf("the event %s has %v", e.ID, got)
	}
	w.Has(e.Data, once...)
}

// TestNothingIsLost cuts the connection again and again, while attempts end, and compares what was told with the history.
func TestNothingIsLost(t *testing.T) {
	w := newHarness(t)
	w.record("default/a", 5)
	page := w.Get("/console/live")
	seen := numbers(sequences, page)
	path, last := address(t, newest, page), ""
	for range 4 {
		w.record("default/a", 30) // nobody follows
		s := w.Follow(path, "Last-Event-Id: "+last)
		for told := 0; told < 60; {
			if told == 30 {
				w.record("default/a", 30)
			}
			e := s.Next("rows", "")
			got := numbers(sequences, e.Data)
			slices.Reverse(got)
			told += len(got)
			seen = append(seen, got...)
			if last = e.ID; e.ID != strconv.Itoa(seen[len(seen)-1]) {
				t.Fatalf("the event of %v has the id %s", got, e.ID)
			}
		}
		s.Close()
	}
	slices.Sort(seen)
	if len(seen) != 245 || len(slices.Compact(seen)) != 245 {
		t.Errorf("told were %d of 245: %v", len(seen), seen)
	}
}

// TestMarks follows what hardly any record meets: the place goes on all the same, so that who comes again is not told of what
// was looked at before.
func TestMarks(t *testing.T) {
	w := newHarness(t)
	w.record("default/a", 10)
	s := w.Follow("/console/live/events?follow=true&after=0&collection=other")
	w.record("other/b", 1)
	if e := s.Next("rows", ""); e.ID != "11" || !slices.Equal(numbers(sequences, e.Data), []int{11}) {
		t.Errorf("got %v", e)
	}
}

// TestTraces shows the ID of a trace on the pages of attempts, of the job and of the run: as a link to where traces are shown, if that
// is known, and else as it is.
func TestTraces(t *testing.T) {
	const id = "0af7651916cd43dd8448eb211c80319c"
	for to, want := range map[frame.TraceURL]string{
		"": `">` + id + `</code> <button type="button" class="quiet" data-copy="trace-`,
		"https://traces.example/t/{traceId}?a=1&b={traceId}": `"><a href="https://traces.example/t/` + id + `?a=1&amp;b=` + id + `">` + id + `</a></code> <button`,
	} {
		w := newHarness(t, func(_ *consoletest.Harness, cfg *console.Config) { cfg.TraceURL = to })
		w.record("default/a", 1, func(r *scheduler.Record) {
			r.UID = w.Job("default/a").Job.UID
			r.Trace = &scheduler.BatonTrace{TraceContext: scheduler.TraceContext{Parent: "00-" + id + "-b7ad6b7169203331-01"}}
		})
		for _, path := range []string{"/console/live", "/console/jobs/default/a", "/console/jobs/default/a/runs/2026-03-01T12:00:01Z"} {
			w.Has(w.Get(path), want)
		}
		if s := w.Follow("/console/live/events?follow=true&after=0"); !strings.Contains(s.Next("rows", id).Data, want) {
			t.Errorf("%q: the live tail is without %s", to, want)
		}
	}
}

// TestFlood has attempts end much faster than anybody reads: lines are few, and the others counted and found.
func TestFlood(t *testing.T) {
	w := newHarness(t)
	w.record("default/a", 1000)
	w.record("other/b", 1000)
	s := w.Follow("/console/live/events?follow=true&after=0")
	lines, counted := 0, 0
	var first consoletest.Event
	for last := ""; last != "2000"; {
		e := s.Next("rows", "")
		n := len(numbers(sequences, e.Data))
		if n > 200 {
			t.Errorf("%d lines come at once", n)
		}
		lines += n
		for _, m := range numbers(missed, e.Data) {
			if counted += m; first.Data == "" {
				first = e
			}
		}
		last = e.ID
	}
	if lines+counted != 2000 || lines > 400 || counted == 0 {
		t.Errorf("%d lines, and %d are counted, of 2000", lines, counted)
	}
	rows := numbers(sequences, first.Data)
	link := address(t, regexp.MustCompile(`<a href="(/console/live\?before=[^"]+)"`), first.Data)
	if page := numbers(sequences, w.Get(link)); len(page) == 0 || page[0] != rows[len(rows)-1]-1 {
		t.Errorf("below the line %d, %s has %v", rows[len(rows)-1], link, page)
	}
}

// TestGap has a part of the history dropped while nobody follows, or all of it.
func TestGap(t *testing.T) {
	w := newHarness(t)
	w.record("default/a", 20)
	js := must.Get(jetstream.New(w.NATS))(t)
	history := must.Get(js.Stream(t.Context(), "CARILLON_HISTORY"))(t)
	must.Do(t, history.Purge(t.Context(), jetstream.WithPurgeSequence(15)))
	s := w.Follow("/console/live/events?follow=true&after=3")
	if e := s.Next("rows", ""); !strings.Contains(e.Data, "recorded after 3 and before 15 is not kept") || e.ID != "14" {
		t.Errorf("the gap is told as %v", e)
	}
	if e := s.Next("rows", ""); !slices.Equal(numbers(sequences, e.Data), []int{20, 19, 18, 17, 16, 15}) {
		t.Errorf("after the gap came %v", e)
	}
	s = w.Follow("/console/live/events?follow=true&after=3", "Last-Event-Id: 500")
	w.Has(s.Next("rows", "").Data, "500 is of a history that was lost")
	w.record("default/a", 1)
	if e := s.Next("rows", ""); !slices.Equal(numbers(sequences, e.Data), []int{21}) {
		t.Errorf("after it came %v", e)
	}
}

// TestPlaces has as many follow as may, and one more.
func TestPlaces(t *testing.T) {
	w := newHarness(t, func(_ *consoletest.Harness, cfg *console.Config) { cfg.MaxLive = 4 }) // one for each caller
	w.record("default/a", 1)
	one := w.Follow("/console/live/events?follow=true&after=0")
	one.Next("rows", "")
	w.Has(w.Follow("/console/live/events?follow=true").Next("end", "").Data, "Too many live pages")
	one.Close()
	w.Await("the place to be free", func() bool {
		s := w.Follow("/console/live/events?follow=true&after=0")
		defer s.Close()
		return s.Next("", "").Name == "rows"
	})
}

// TestRights shows a reader of one collection nothing of another.
func TestRights(t *testing.T) {
	w := newHarness(t)
	w.record("default/a", 5)
	w.record("other/b", 5)
	w.Be("reader@other")
	page := w.Get("/console/live")
	if got := numbers(sequences, page); len(got) != 5 || strings.Contains(page, "default/a") || strings.Contains(page, "<option>default") {
		t.Errorf("the page has %v", got)
	}
	s := w.Follow("/console/live/events?follow=true&after=0")
	if e := s.Next("rows", ""); len(numbers(sequences, e.Data)) != 5 {
		t.Errorf("the events have %v", e)
	}
	for _, path := range []string{"/console/live?collection=default", "/console/live?job=a", "/console/live/events?follow=true&job=default/a"} {
		w.Wants(http.StatusForbidden, w.Do(http.MethodGet, path, ""))
	}
}

// TestEnd deletes the job that is followed.
func TestEnd(t *testing.T) {
	w := newHarness(t)
	s := w.Follow("/console/live/events?follow=true&after=0&job=a")
	w.record("default/a", 1)
	s.Next("rows", "")
	w.OK(w.Service.Delete(t.Context(), consoletest.Key("default/a"), 0))
	w.Has(s.Next("end", "").Data, "deleted")
}

// TestFiles has more records than a page in its files, and those only that the filter selects and the caller may see.
func TestFiles(t *testing.T) {
	w := newHarness(t)
	w.record("default/a", 250)
	w.record("other/b", 1, func(r *scheduler.Record) { r.Outcome, r.Message = scheduler.OutcomeFailed, "=HYPERLINK(1)" })
	w.Has(w.Get("/console/live?outcome=failed"), `href="/console/live?as=csv&amp;outcome=failed"`)
	for typed, want := range map[string]string{ // on the browser's clock, as the time range has it
		"2026-03-09": "2026-03-09T04:00:00Z", "2026-03-09 10:00": "2026-03-09T14:00:00Z", "2026-03-09T10:00:05": "2026-03-09T14:00:05Z",
		"2026-03-09T10:00Z": "2026-03-09T10:00Z", "24 h": "24h",
	} {
		page := w.Get("/console/live?since="+url.QueryEscape(typed), "Cookie: carillon-zone=America%2FNew_York")
		w.Has(page, `name="since" value="`+want+`"`, `!class="problem"`)
	}
	w.Has(w.Get("/console/jobs/default/a?outcome=completed"), `href="/console/live?as=json&amp;collection=default&amp;job=a&amp;outcome=completed"`)
	if lines := strings.Split(w.Get("/console/live?as=csv&collection=default&job=a"), "\r\n"); len(lines) != 252 || !strings.Contains(lines[1], "default/a/") {
		t.Errorf("%d lines: %q", len(lines), lines[:2])
	}
	w.Has(w.Get("/console/live?as=csv&outcome=failed"), "other/b/", ",Failed,", ",'=HYPERLINK(1),", "!default")
	w.Has(w.Get("/console/live?as=json&outcome=failed"), `"message":"=HYPERLINK(1)"`, "!default")
	w.Wants(http.StatusBadRequest, w.Do(http.MethodGet, "/console/live?as=csv&since=x", ""), "since: &#34;x&#34; is not a time")
	w.Be("reader@other")
	w.Has(w.Get("/console/live?as=csv"), "other/b/", "!default")
	w.Wants(http.StatusForbidden, w.Do(http.MethodGet, "/console/live?as=csv&collection=default", ""))
}
