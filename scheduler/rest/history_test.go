package rest_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
)

// follow opens a live tail and returns a function that waits for its next
// record, and one that ends it.
func (w *harness) follow(path string) (next func() entry, end func()) {
	w.t.Helper()
	tail := w.stream(path)
	if tail.status != http.StatusOK || !strings.HasPrefix(tail.header.Get("Content-Type"), "application/x-ndjson") {
		w.t.Fatalf("%s: %d %v", path, tail.status, tail.header)
	}
	lines := bufio.NewReader(tail.body)
	return func() entry {
		w.t.Helper()
		stuck := time.AfterFunc(patience, tail.end)
		defer stuck.Stop()
		line, err := lines.ReadBytes('\n')
		if err != nil {
			w.t.Fatalf("%s: %v", path, err)
		}
		var e entry
		if err := json.Unmarshal(line, &e); err != nil {
			w.t.Fatalf("%s: %v", line, err)
		}
		return e
	}, tail.end
}

// TestHistory runs a job, well and badly, and reads what was recorded: page by
// page, filtered, and live.
func TestHistory(t *testing.T) {
	w := newHarness(t)
	w.work()
	const job = "/jobCollections/default/jobs/job"
	nextOfAll, _ := w.follow("/history?follow=true")
	body := `{"state": "disabled", "action": {"type": "Http", "retryPolicy": {"retryType": "none"},
		"request": {"uri": "` + w.target() + `/%s", "method": "POST"}}}`
	w.must(http.MethodPut, job, fmt.Sprintf(body, ""))
	nextOfJob, _ := w.follow(job + "/history?follow=true")
	nextFailed, _ := w.follow("/jobCollections/default/history?follow=true&$filter=status+eq+failed")
	var live []entry
	run := func(records int) {
		t.Helper()
		w.must(http.MethodPost, job+"/run", "")
		for range records {
			e := nextOfJob()
			if other := nextOfAll(); other.ID != e.ID {
				t.Errorf("all: %+v, job: %+v", other, e)
			}
			live = append(live, e)
		}
	}
	run(1)
	run(1)
	w.must(http.MethodPut, job, fmt.Sprintf(body, "?fail"))
	run(2) // failed, faulted
	if e := nextFailed(); e.ID != live[2].ID {
		t.Errorf("filtered tail: %+v", e)
	}
	slices.Reverse(live)

	for query, want := range map[string]string{
		"":                          "Faulted,Failed,Completed,Completed",
		"?$top=1":                   "Faulted,Failed,Completed,Completed",
		"?$top=3":                   "Faulted,Failed,Completed,Completed",
		"?$skip=1&$top=2":           "Failed,Completed,Completed",
		"?$filter=status eq failed": "Failed",
		"?$filter=status eq 'Completed' or status eq Faulted&$top=2": "Faulted,Completed,Completed",
		"?$filter=outcome eq skipped":                                "",
	} {
		got, _ := w.entries(job + "/history" + strings.ReplaceAll(query, " ", "%20"))
		var statuses []string
		for _, e := range got {
			statuses = append(statuses, fmt.Sprint(e.Properties["status"]))
		}
		if s := strings.Join(statuses, ","); s != want {
			t.Errorf("%s: got %s, want %s", query, s, want)
		}
		if query == "" && fmt.Sprint(got) != fmt.Sprint(live) {
			t.Errorf("history:\n%v\nlive:\n%v", got, live)
		}
	}
	checkShape(t, live)
}

// checkShape looks at the members of records: faulted, failed, completed.
func checkShape(t *testing.T, records []entry) {
	t.Helper()
	id := regexp.MustCompile(`^/jobCollections/default/jobs/job/history/0251\d{16}:\d{20}$`)
	for i, e := range records {
		p := e.Properties
		if !id.MatchString(e.ID) || e.Name != "default/job/"+e.ID[len("/jobCollections/default/jobs/job/history/"):] ||
			e.Type != "Microsoft.Scheduler/jobCollections/jobs/history" {
			t.Errorf("%+v", e)
		}
		if i > 0 && records[i-1].ID >= e.ID {
			t.Errorf("%s is not after %s", e.ID, records[i-1].ID)
		}
		manual, _ := p["manual"].(bool)
		if p["actionName"] != "MainAction" || p["retryCount"] != 0.0 || !manual || p["expectedExecutionTime"] == nil || p["endTime"] == nil {
			t.Errorf("%+v", e)
		}
		if p["status"] == "Faulted" {
			continue
		}
		late, _ := p["lateness"].(float64)
		took, _ := p["duration"].(float64)
		if late <= 0 || took <= 0 || p["startTime"] == nil || !strings.HasSuffix(fmt.Sprint(p["attemptId"]), "#1") || p["response"] != "hello" {
			t.Errorf("%+v", e)
		}
	}
	if records[1].Properties["statusCode"] != 418.0 || records[2].Properties["statusCode"] != 200.0 {
		t.Errorf("status codes: %v", records)
	}
}

// incarnation is what tells a job from others of its name.
func (w *harness) incarnation(name string) string {
	w.t.Helper()
	return w.incarnationOf(scheduler.Key{Collection: "default", Job: name})
}

func (w *harness) incarnationOf(k scheduler.Key) string {
	w.t.Helper()
	st := must.Get(w.store.LoadJob(w.t.Context(), k))(w.t)
	return scheduler.StoredIncarnation(st.Data)
}

// started is when the first of the records was, that a test makes up.
var started = time.Date(2026, 3, 8, 9, 0, 0, 0, time.UTC)

// record stores a record whose message is text, n minutes after the first.
func (w *harness) record(name, uid string, outcome scheduler.Outcome, n int) {
	w.t.Helper()
	at := started.Add(time.Duration(n) * time.Minute)
	must.Do(w.t, w.store.Append(w.t.Context(), &scheduler.Record{
		Job: scheduler.Key{Collection: "default", Job: name}, UID: uid, Outcome: outcome, Message: strconv.Itoa(n), Started: at, Ended: at,
	}))
}

// messages are those of all pages from a path on, and the number of pages.
func (w *harness) messages(path string) (joined string, pages int) {
	w.t.Helper()
	all, pages := w.entries(path)
	texts := make([]string, len(all))
	for i, e := range all {
		texts[i] = fmt.Sprint(e.Properties["message"])
	}
	return strings.Join(texts, " "), pages
}

// TestHistoryOfAllJobs lists records across jobs, newest first and filtered.
func TestHistoryOfAllJobs(t *testing.T) {
	w := newHarness(t)
	w.must(http.MethodPut, "/jobCollections/other", "{}")
	for _, path := range []string{"default/jobs/a", "default/jobs/b", "other/jobs/c"} {
		w.must(http.MethodPut, "/jobCollections/"+path, later)
	}
	a, b := w.incarnation("a"), w.incarnation("b")
	w.record("a", a, scheduler.OutcomeCompleted, 0)
	w.record("b", b, scheduler.OutcomeFailed, 1)
	w.record("a", "anotherA", scheduler.OutcomeFailed, 2)
	w.record("gone", "gone1234", scheduler.OutcomeCompleted, 3)
	w.record("b", b, scheduler.OutcomeCompleted, 4)
	w.record("a", a, scheduler.OutcomeFaulted, 5)
	for query, want := range map[string]string{
		"/history":                                               "5 4 1 0",
		"/history?$top=1":                                        "5 4 1 0",
		"/jobCollections/default/history":                        "5 4 1 0",
		"/jobCollections/other/history":                          "",
		"/history?earlier=true":                                  "3 2",
		"/history?uid=gone1234":                                  "3",
		"/history?uid=anotherAndTheRestOfIt":                     "2",
		"/history?$filter=status eq failed or status eq faulted": "5 1",
		"/history?$filter=startTime ge 2026-03-08T09:01Z and startTime lt 2026-03-08T09:05Z": "4 1",
		"/history?$filter=status eq completed and startTime gt 2026-03-08T09:00Z":            "4",
		"/jobCollections/default/jobs/a/history":                                             "5 0",
		"/jobCollections/default/jobs/a/history?earlier=true":                                "2",
		"/jobCollections/default/jobs/a/history?uid=" + a:                                    "5 0",
		"/jobCollections/default/jobs/a/history?$filter=startTime le 2026-03-08T09:00Z":      "0",
		"/jobCollections/default/jobs/gone/history?earlier=true":                             "3",
		"/jobCollections/default/jobs/gone/history?uid=gone1234":                             "3",
	} {
		if got, _ := w.messages(strings.ReplaceAll(query, " ", "%20")); got != want {
			t.Errorf("%s: got %q, want %q", query, got, want)
		}
	}
}

// TestHistoryIsBounded looks at many records in vain: the answer comes
// soon, and its nextLink goes on.
func TestHistoryIsBounded(t *testing.T) {
	w := newHarness(t)
	w.must(http.MethodPut, "/jobCollections/default/jobs/job", later)
	w.record("gone", "gone1234", scheduler.OutcomeCompleted, 0)
	var appends errgroup.Group
	appends.SetLimit(100)
	for i := range 3 { // a subject keeps 1,000
		r := &scheduler.Record{Job: scheduler.Key{Collection: "default", Job: "job" + strconv.Itoa(i)}, Outcome: scheduler.OutcomeCompleted, Ended: started}
		for range 1000 {
			appends.Go(func() error { return w.store.Append(t.Context(), r) })
		}
	}
	must.Do(t, appends.Wait())
	first := w.page("/history?uid=gone1234")
	if len(first.Value) != 0 || first.NextLink == nil {
		t.Fatalf("got %+v", first)
	}
	if got, pages := w.messages(*first.NextLink); got != "0" || pages != 1 {
		t.Errorf("got %q on %d pages", got, pages)
	}
}

// TestFollowAfter takes a live tail up where another was left.
func TestFollowAfter(t *testing.T) {
	w := newHarness(t)
	const path = "/jobCollections/default/jobs/job"
	w.must(http.MethodPut, path, later)
	uid := w.incarnation("job")
	next, _ := w.follow("/history?follow=true")
	var sequence any
	for i := range 4 {
		w.record("job", uid, scheduler.OutcomeCompleted, i)
		if e := next(); e.Properties["message"] != strconv.Itoa(i) {
			t.Errorf("%d: %+v", i, e)
		} else if i == 1 {
			sequence = e.Properties["sequence"]
		}
	}
	w.record("job", "earlier1", scheduler.OutcomeCompleted, 4)
	w.record("gone", "earlier1", scheduler.OutcomeCompleted, 5)
	for _, query := range []string{"/history?follow=true", path + "/history?follow=true", "/jobCollections/default/history?follow=true"} {
		next, _ := w.follow(query + fmt.Sprintf("&after=%v", sequence))
		w.record("job", uid, scheduler.OutcomeCompleted, 6)
		for _, want := range []string{"2", "3", "6"} {
			if e := next(); e.Properties["message"] != want {
				t.Errorf("%s: got %+v, want %s", query, e, want)
			}
		}
	}
	next, _ = w.follow(path + "/history?follow=true&after=0&earlier=true")
	if e := next(); e.Properties["message"] != "4" {
		t.Errorf("earlier: %+v", e)
	}
}

// TestFollowEndsWithItsJob deletes the job whose tail is followed, and puts
// another one of its name.
func TestFollowEndsWithItsJob(t *testing.T) {
	w := newHarness(t)
	const path = "/jobCollections/default/jobs/job"
	w.must(http.MethodPut, path, later)
	next, _ := w.follow(path + "/history?follow=true")
	w.must(http.MethodPut, path, strings.Replace(later, "2", "3", 1)) // an edit is no end
	w.record("job", w.incarnation("job"), scheduler.OutcomeCompleted, 0)
	if e := next(); e.Properties["message"] != "0" {
		t.Errorf("%+v", e)
	}
	w.must(http.MethodDelete, path, "")
	w.must(http.MethodPut, path, later)
	if e := next(); e.End["code"] != "ResourceNotFound" || e.End["message"] != "job default/job: not found: it was deleted" {
		t.Errorf("%+v", e)
	}
	w.await("the tail's end", func() bool { return w.serving.Load() == 0 })
}
