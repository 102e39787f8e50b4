package job_test

import (
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/console/consoletest"
)

// newest is the sequence of the last record of a job.
func newest(t *testing.T, w *consoletest.Harness, key string) string {
	t.Helper()
	return strconv.FormatUint(w.History(key)[0].Sequence, 10)
}

// await waits until a job has a number of records with an outcome, and does not run any more: its baton goes on after the record.
func await(t *testing.T, w *consoletest.Harness, key string, outcome scheduler.Outcome, n int) {
	t.Helper()
	w.Await(fmt.Sprintf("%d records of %s that are %s", n, key, outcome), func() bool {
		found := 0
		for _, r := range w.History(key) {
			if r.Outcome == outcome {
				found++
			}
		}
		return found >= n
	})
	w.Await("the end of the run of "+key, func() bool { return !w.Job(key).Status.Running })
}

// quick lets jobs of a collection be retried at once.
func quick(t *testing.T, w *consoletest.Harness, name string) {
	t.Helper()
	w.OK(w.Service.PutCollection(t.Context(), name, []byte(`{"properties": {"minRetryInterval": "PT0.01S"}}`)))
}

const yearly = `"recurrence": {"frequency": "year", "interval": 1}, "startTime": "2030-01-01T00:00:00Z"`

// TestOutcomes shows a job with every outcome there is: each attempt, its answer, the pause before it, and what was done when
// it had faulted.
func TestOutcomes(t *testing.T) {
	w := consoletest.New(t)
	quick(t, w, "partners")
	w.Work()
	answers := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("fail") {
			out.WriteHeader(http.StatusBadGateway)
		}
		_, _ = fmt.Fprint(out, "hello")
	}))
	t.Cleanup(answers.Close)
	target := answers.URL
	w.Put("partners/report", `{`+yearly+`, "description": "Closes the books.", "labels": {"team": "billing"}, "action": {
		"type": "http", "request": {"method": "POST", "uri": "`+target+`/?fail", "body": "please"},
		"retryPolicy": {"retryType": "fixed", "retryInterval": "PT0.05S", "retryCount": 1},
		"errorAction": {"type": "http", "request": {"method": "GET", "uri": "`+target+`/alarm"}, "retryPolicy": {"retryType": "none"}}}}`)
	w.Run("partners/report")
	await(t, w, "partners/report", scheduler.OutcomeFaulted, 1)
	page := w.Get("/console/jobs/partners/report")
	w.Has(page, "duration; the tallest bar is ",
		"Closes the books.", "team=billing", "Waits for its next run", "Http", "<code><bdi>POST "+target+"/?…</bdi></code>", "<code><bdi>GET "+target+"/alarm</bdi></code>",
		`<p class="problem"><span class="state faulted">`, "502 Bad Gateway: hello", "Show this run",
		`class="state faulted"`, "one retry", "Attempt 1", "Attempt 2", "Error action", "<strong>502</strong>", "hello", " later", "Faulted",
		"Rerun</button>", "2030-01-01", "No success in the kept history", "manual",
	)
	report := w.History("partners/report")
	for _, outcome := range []scheduler.Outcome{scheduler.OutcomeSkipped, scheduler.OutcomePostponed} {
		at := time.Date(2026, 3, 2, 9, len(outcome), 0, 0, time.UTC)
		r := &scheduler.Record{
			Job: report[0].Job, UID: report[0].UID, Outcome: outcome, Occurrence: scheduler.OccurrenceID(report[0].Job, at), Nominal: at,
			From: at, To: at.Add(time.Hour), Count: 61, Ended: time.Now(), Reason: scheduler.ReasonDisabled,
		}
		if outcome == scheduler.OutcomePostponed {
			r.Reason = ""
		}
		w.OK(w.Store.Append(t.Context(), r))
	}
	w.Put("partners/report", `{`+yearly+`, "action": {"type": "http", "request": {"method": "POST", "uri": "`+target+`/"}}}`)
	w.Run("partners/report")
	await(t, w, "partners/report", scheduler.OutcomeCompleted, 2) // the errorAction's is one, too
	page = w.Get("/console/jobs/partners/report")
	w.Has(page,
		`class="t-completed"`, `class="t-faulted"`, `class="t-skipped"`, `class="t-postponed"`, "61 times", "the job was disabled",
		"Last success:", "Audit log", "<bdi>put</bdi>", "<bdi>updated · enabled</bdi>", "action.request.uri",
	)
}

// TestMany shows a job of which a thousand records are kept: the page is light, and its history has pages on which each of
// them is once.
func TestMany(t *testing.T) {
	w := consoletest.New(t)
	w.Put("default/busy", `{`+yearly+`, "action": {"type": "http", "request": {"method": "GET", "uri": "http://127.0.0.1:1/"}}}`)
	began := time.Now().Add(-2000 * time.Second)
	for i := range 1000 {
		at := began.Add(time.Duration(i/2) * 2 * time.Second).Truncate(time.Second)
		r := consoletest.Attempt("default/busy", at)
		r.Outcome, r.Try, r.Attempt, r.Message, r.Response = scheduler.OutcomeFailed, i%2+1, i%2, noise(i, 2048), noise(-i, 2048)
		r.Started, r.Ended = r.Started.Add(time.Duration(i%2)*time.Second), r.Ended.Add(time.Duration(i%2)*time.Second)
		r.ID = fmt.Sprintf("%s#%d", r.Occurrence, r.Try)
		w.Append(r)
	}
	page := w.Do(http.MethodGet, "/console/jobs/default/busy", "", "Accept-Encoding: gzip")
	if page.Status != http.StatusOK || page.Header.Get("Content-Encoding") != "gzip" || len(page.Body) > 100_000 {
		t.Errorf("%d, %s, %d bytes", page.Status, page.Header.Get("Content-Encoding"), len(page.Body))
	}
	t.Logf("%d bytes on the wire", len(page.Body))
	anchor := regexp.MustCompile(`<li id="(o-[0-9a-f]+)"`)
	older := regexp.MustCompile(`rel="next" href="([^"]+)"`)
	seen, pages := map[string]bool{}, 0
	for path := "/console/jobs/default/busy"; path != ""; pages++ {
		part := w.Part(path)
		for _, m := range anchor.FindAllStringSubmatch(part, -1) {
			if seen[m[1]] {
				t.Errorf("%s is on two pages", m[1])
			}
			seen[m[1]] = true
		}
		w.Has(part, "!not shown here")
		path = ""
		if m := older.FindStringSubmatch(part); m != nil {
			path = html.UnescapeString(m[1])
		}
	}
	if len(seen) != 500 || pages < 10 {
		t.Errorf("%d occurrences on %d pages", len(seen), pages)
	}
}

// TestLongAgo opens the page of a run, by the address that an answer to "why" has, which more runs came after than are looked
// through from the end.
func TestLongAgo(t *testing.T) {
	w := consoletest.New(t)
	w.Put("default/busy", `{`+yearly+`, "action": {"type": "http", "request": {"method": "GET", "uri": "http://127.0.0.1:1/"}}}`)
	began := time.Now().Add(-2 * time.Hour).UTC().Truncate(time.Second)
	add := func(seconds int, outcome scheduler.Outcome, try int, message string) {
		r := consoletest.Attempt("default/busy", began.Add(time.Duration(seconds)*time.Second))
		r.Outcome, r.Try, r.Attempt, r.Message = outcome, try, try-1, message
		r.ID = fmt.Sprintf("%s#%d", r.Occurrence, try)
		w.Append(r)
	}
	add(1, scheduler.OutcomeFailed, 1, "the first attempt")
	add(1, scheduler.OutcomeFailed, 2, "the second attempt")
	for i := range 550 {
		add(2+i, scheduler.OutcomeCompleted, 1, "")
		add(2+i, scheduler.OutcomeFailed, 2, "")
	}
	page := w.Get("/console/jobs/default/busy/runs/" + began.Add(time.Second).Format(time.RFC3339))
	w.Has(page, "the first attempt", "the second attempt")
	w.Wants(http.StatusNotFound, w.Do(http.MethodGet, "/console/jobs/default/busy/runs/"+began.Format(time.RFC3339), ""))
}

// noise is a text that cannot be compressed much.
func noise(seed, n int) string {
	var b strings.Builder
	x := uint64(seed)*2654435761 + 88172645463325252
	for b.Len() < n {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		_, _ = fmt.Fprintf(&b, "%x", x)
	}
	return b.String()[:n]
}

// TestFilter finds records by each field of the form, and says what is wrong with one.
func TestFilter(t *testing.T) {
	w := consoletest.New(t)
	w.Put("default/report", `{`+yearly+`, "action": {"type": "http", "request": {"method": "GET", "uri": "http://127.0.0.1:1/"}}}`)
	for i, r := range []*scheduler.Record{
		{Outcome: scheduler.OutcomeCompleted, Kind: scheduler.Manual, Target: "a.example:80", Message: "one"},
		{Outcome: scheduler.OutcomeFailed, Target: "b.example:80", Message: "two"},
		{Outcome: scheduler.OutcomeCompleted, Target: "b.example:80", Message: "three"},
	} {
		full := consoletest.Attempt("default/report", time.Now().Add(time.Duration(i-3)*time.Hour).UTC())
		full.Outcome, full.Kind, full.Target, full.Message = r.Outcome, r.Kind, r.Target, r.Message
		w.Append(full)
	}
	all := []string{"one", "two", "three"}
	for query, want := range map[string]string{
		"":                               "one two three",
		"outcome=failed":                 "two",
		"manual=true":                    "one",
		"manual=false&outcome=completed": "three",
		"since=90m":                      "three",
		"until=90m":                      "one two",
		"since=150m&until=90m":           "two",
		"$filter=target+eq+b.example":    "two three",
		"$filter=target+eq+b.example&outcome=completed": "three",
		"$filter=nonsense": "is not of the form",
		"since=soon":       "does not compare with a time",
		"outcome=failed&$filter=status+eq+completed": "repeats the term for status",
		"before=x":        "is not the sequence of a record",
		"outcome=skipped": "No matching records",
	} {
		query = strings.ReplaceAll(query, "$", "%24")
		part := w.Part("/console/jobs/default/report?" + query)
		var found []string
		for _, one := range all {
			if strings.Contains(part, ">"+one+"<") {
				found = append(found, one)
			}
		}
		if got := strings.Join(found, " "); got != want && !strings.Contains(html.UnescapeString(part), want) {
			t.Errorf("%s: found %q, want %q in %s", query, got, want, part)
		}
		w.Has(w.Get("/console/jobs/default/report?"+query), `id="job-history"`)
	}
}

// TestNext tells the next runs on two clocks, with the changes of the job's, and how they would be of a job that does not run.
func TestNext(t *testing.T) {
	w := consoletest.New(t)
	action := `"action": {"type": "http", "request": {"method": "GET", "uri": "http://127.0.0.1:1/"}}`
	w.Put("default/nightly", `{"startTime": "2031-03-28T00:00:00Z", "timeZone": "Europe/Berlin", "recurrence": {"cron": "30 2 * * *"}, `+action+`}`)
	page := w.Get("/console/jobs/default/nightly", "Cookie: carillon-zone=America%2FNew_York")
	w.Has(page, "Job&#39;s time zone (Europe/Berlin)", "Your time zone (America/New_York)", "the clock goes forward from 02:00 to 03:00", "Show 100", "EDT", "CEST")
	many := w.Part("/console/jobs/default/nightly/next?n=100")
	if n := strings.Count(many, "<tr><td>"); n != 100 {
		t.Errorf("%d runs", n)
	}
	w.Has(w.Get("/console/jobs/default/nightly/next?n=100"), "<h1>Next runs</h1>")
	w.OK(w.Service.Disable(t.Context(), consoletest.Key("default/nightly")))
	w.Has(w.Get("/console/jobs/default/nightly"), "If the job were enabled:", "02:30:00", "Disabled. Due runs are skipped", "/enable\"")
	w.Put("default/orders", `{"trigger": {"on": {"source": "orders"}}, `+action+`}`)
	page = w.Get("/console/jobs/default/orders")
	w.Has(page, "on events: orders", "Runs on events.", "Only events start this job.")
	w.HasNone(page, "9999-")
	w.Has(w.Get("/console/jobs"), "on events")
	w.Collect("closed")
	w.Put("closed/nightly", `{"recurrence": {"cron": "30 2 * * *"}, `+action+`}`)
	w.OK(w.Service.SetCollectionState(t.Context(), "closed", scheduler.Disabled))
	w.Has(w.Get("/console/jobs/closed/nightly"), "If it did not wait for collection closed", "Not running: it waits for collection closed, which is disabled.")
}

// TestOver shows jobs at their end, one that is damaged, and none.
func TestOver(t *testing.T) {
	w := consoletest.New(t)
	w.Work()
	target := w.Target()
	for name, query := range map[string]string{"good": "", "bad": "?fail"} {
		w.Put("default/"+name, `{"action": {"type": "http", "request": {"method": "GET", "uri": "`+target+query+`"}, "retryPolicy": {"retryType": "none"}}}`)
	}
	for name, want := range map[string]scheduler.State{"good": scheduler.Completed, "bad": scheduler.Faulted} {
		w.Await(name, func() bool { return w.Job("default/"+name).Job.State == want })
		page := w.Get("/console/jobs/default/" + name)
		w.Has(page, `class="state `+string(want)+`"`, "to run it again, apply a change", "the schedule has ended")
		w.HasNone(page, "/run\"", "/disable\"")
	}
	w.Put("default/broken", `{`+yearly+`, "action": {"type": "http", "request": {"method": "GET", "uri": "`+target+`"}}}`)
	w.Damage("default/broken")
	page := w.Get("/console/jobs/default/broken")
	w.Has(page, `class="state damaged"`, "Apply the job again to repair it", "/delete")
	w.HasNone(page, "/run\"", "/copy")
	w.Wants(http.StatusNotFound, w.Do(http.MethodGet, "/console/jobs/default/none", ""), "also explains deleted jobs")
}

// onClock is a time that the script shows on the clock of the browser.
const onClock = `<time datetime="2030-01-01T00:00:00Z" data-instant>2030-01-01 00:00:00 UTC</time>`

// TestWhy answers for a time in any of its forms, and for now: all times of an answer are on one clock.
func TestWhy(t *testing.T) {
	w := consoletest.New(t)
	w.Work()
	w.Put("default/report", `{`+yearly+`, "action": {"type": "http", "request": {"method": "GET", "uri": "`+w.Target()+`"}}}`)
	w.Run("default/report")
	await(t, w, "default/report", scheduler.OutcomeCompleted, 1)
	at := w.History("default/report")[0].Nominal.Format(time.RFC3339)
	w.Put("default/idle", `{`+yearly+`, "action": {"type": "http", "request": {"method": "GET", "uri": "`+w.Target()+`"}}}`)
	w.Has(w.Get("/console/jobs/default/idle/why?at=now"), "<h1>Why?</h1>", "its schedule begins later") // the other one has just run
	w.Has(w.Get("/console/jobs/default/idle/why"), "<h1>Why?</h1>", "it is planned for "+onClock)
	w.OK(w.Service.Pause(t.Context(), consoletest.Key("default/idle"), "2h"))
	w.Has(w.Part("/console/jobs/default/idle/why?at=now"), "class=\"state paused\"", "the job is paused until")
	for query, want := range map[string]string{
		"at=-2h": "did not exist yet", "at=" + url.QueryEscape(at): "class=\"state completed\"",
		"at=2030-01-01T00:00": "class=\"state waiting\"", "at=soon": "soon",
		"at=2030-01-01T00:00:01": "class=\"state idle\"", "at=2030-06-01T00:00:00Z": "<dd>" + onClock + "</dd>",
	} {
		part := w.Part("/console/jobs/default/report/why?" + query)
		w.Has(part, want)
		w.HasNone(part, "<html")
		if clock := regexp.MustCompile(`\d{4}-\d\d-\d\d`).FindString(regexp.MustCompile(`<time .*?</time>|href="[^"]*"`).ReplaceAllString(part, "")); clock != "" && want != "soon" {
			t.Errorf("%s: %s is on a clock of its own: %s", query, clock, part)
		}
		w.Has(w.Get("/console/jobs/default/report/why?"+query), "<h1>Why?</h1>", want)
	}
}

// TestActs does everything that can be done with a job, as forms without scripts do it.
func TestActs(t *testing.T) {
	w := consoletest.New(t)
	w.Work()
	target := w.Target()
	const path = "/console/jobs/default/report"
	w.Put("default/report", `{`+yearly+`, "action": {"type": "http", "request": {"method": "GET", "uri": "`+target+`?fail"}, "retryPolicy": {"retryType": "none"}}}`)
	do := func(verb string, form url.Values) {
		t.Helper()
		if r := w.Post(path+"/"+verb, form); r.Status != http.StatusSeeOther || r.Header.Get("Location") != path {
			t.Fatalf("%s: %d %v %s", verb, r.Status, r.Header, r.Body)
		}
	}
	do("run", nil)
	w.Has(w.Get(path), "Started. The record appears below")
	await(t, w, "default/report", scheduler.OutcomeFaulted, 1)
	failed := w.History("default/report")[0].Occurrence
	w.Put("default/report", `{`+yearly+`, "action": {"type": "http", "request": {"method": "GET", "uri": "`+target+`"}, "retryPolicy": {"retryType": "none"}}}`)
	do("resubmit", url.Values{"occurrence": {failed}})
	await(t, w, "default/report", scheduler.OutcomeCompleted, 1)
	w.Has(w.Get(path), "rerun", "Rerun of", failed)
	_, at, _ := strings.Cut(failed, "@")
	repeated := w.History("default/report")[0]
	_, again, _ := strings.Cut(repeated.Occurrence, "@")
	whole := w.Get(path + "/runs/" + at)
	w.Has(whole, "Rerun later:", `class="state completed"`, path+"/runs/"+again, "Attempt 1",
		fmt.Sprintf(`data-events="%s/events?follow=true&amp;after=%d"`, path, repeated.Sequence))
	w.HasNone(whole, "Rerun</button>")
	part := w.Part(path + "/runs/" + at)
	w.Has(part, "Rerun later:", path+"/runs/"+again)
	w.HasNone(part, "<html", "data-events")
	w.HasNone(w.Get(path+"/runs/"+again), "Rerun later:")
	w.Wants(http.StatusConflict, w.Post(path+"/resubmit", url.Values{"occurrence": {failed}}))
	do("disable", nil)
	w.Has(w.Get(path), "Disabled. An active run continues, with its retries, unless you cancel it.", `class="state disabled"`)
	do("enable", nil)
	w.Has(w.Get(path), ">Enabled.<", `class="state enabled"`)
	do("pause", url.Values{"until": {"1h"}})
	w.Has(w.Get(path), "Paused until", "Resume now", `class="state paused"`)
	do("pause", url.Values{"at": {"2090-01-02T09:00"}})
	w.Has(w.Get(path), "Paused until Mon 2090-01-02 09:00:00 UTC.")
	w.Wants(http.StatusBadRequest, w.Post(path+"/pause", url.Values{"at": {"yesterday"}}), "is not a time")
	do("resume", nil)
	w.Has(w.Get(path), ">Resumed.<", `class="state enabled"`)
	said := w.Post(path+"/run", nil, "X-Carillon-Part: 1")
	w.Wants(http.StatusOK, said, "Started.", "!<html")
	await(t, w, "default/report", scheduler.OutcomeCompleted, 2)
	ask := w.Get(path + "/delete")
	w.Has(ask, "Delete report?", "Only a backup can restore them")
	etag := html.UnescapeString(regexp.MustCompile(`name="etag" value="([^"]+)"`).FindStringSubmatch(ask)[1])
	w.Wants(http.StatusPreconditionFailed, w.Post(path+"/delete", url.Values{"etag": {`"other-1"`}}))
	if r := w.Post(path+"/delete", url.Values{"etag": {etag}}); r.Status != http.StatusSeeOther || r.Header.Get("Location") != "/console/jobs" {
		t.Errorf("delete: %d %v %s", r.Status, r.Header, r.Body)
	}
	w.Wants(http.StatusNotFound, w.Do(http.MethodGet, path, ""))
	w.Has(w.Get("/console/audit?collection=default&job=report"), "<bdi>delete</bdi>", "<bdi>put</bdi>")
	w.Has(w.Get(path+"/why"), "was deleted")
}

// TestRights shows nobody what they may not do, and lets them not do it.
func TestRights(t *testing.T) {
	w := consoletest.New(t)
	w.Put("default/report", `{`+yearly+`, "action": {"type": "http", "request": {"method": "GET", "uri": "http://127.0.0.1:1/"}}}`)
	const path = "/console/jobs/default/report"
	w.Be("reader")
	page := w.Get(path)
	w.HasNone(page, `method="post" action="`+path, "/delete", "/edit", "Audit log")
	for _, verb := range []string{"run", "enable", "disable", "resubmit", "delete"} {
		w.Wants(http.StatusForbidden, w.Post(path+"/"+verb, url.Values{"occurrence": {"x"}}))
	}
	for _, form := range []string{"delete", "edit"} {
		w.Wants(http.StatusForbidden, w.Do(http.MethodGet, path+"/"+form, ""))
	}
	w.Has(w.Get(path+"/copy"), `-H &#34;Authorization: Bearer $CARILLON_TOKEN&#34;`)
	w.Be("operator@default")
	page = w.Get(path)
	w.Has(page, path+"/run", path+"/edit", path+"/delete")
	w.HasNone(page, "Audit log")
	w.Be("reader@other")
	for _, below := range []string{"", "/why", "/next", "/copy", "/events?follow=true", "/runs/2026-01-01"} {
		w.Wants(http.StatusForbidden, w.Do(http.MethodGet, path+below, ""))
	}
}

// TestCopyBehindProxy gives no command that sends a token over plain HTTP where the browser came by HTTPS.
func TestCopyBehindProxy(t *testing.T) {
	w := consoletest.New(t)
	w.Put("default/a", `{`+yearly+`, "action": {"type": "http", "request": {"method": "GET", "uri": "http://127.0.0.1:1/"}}}`)
	w.Has(w.Get("/console/jobs/default/a/copy", "X-Forwarded-Proto: https"), "https://"+strings.TrimPrefix(w.Console.URL, "http://"))
	w.Has(w.Get("/console/jobs/default/a/copy"), w.Console.URL+"/jobCollections")
}
