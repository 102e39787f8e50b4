package rest_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// follow opens a live tail and returns a function that waits for its next
// record, and one that ends it.
func (w *world) follow(path string) (next func() entry, end func()) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	w.t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.api.URL+path, http.NoBody)
	if err != nil {
		w.t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = res.Body.Close() })
	if res.StatusCode != http.StatusOK || !strings.HasPrefix(res.Header.Get("Content-Type"), "application/x-ndjson") {
		w.t.Fatalf("%s: %s %v", path, res.Status, res.Header)
	}
	lines := bufio.NewReader(res.Body)
	return func() entry {
		w.t.Helper()
		stuck := time.AfterFunc(patience, cancel)
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
	}, cancel
}

// TestHistory runs a job, well and badly, and reads what was recorded: page by
// page, filtered, and live.
func TestHistory(t *testing.T) {
	w := newWorld(t)
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
		var got []entry
		for link := job + "/history" + strings.ReplaceAll(query, " ", "%20"); link != ""; {
			l := w.page(link)
			got = append(got, l.Value...)
			if link = ""; l.NextLink != nil {
				link = *l.NextLink
			}
		}
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

// TestFollowEnds ends a tail from the client's side.
func TestFollowEnds(t *testing.T) {
	w := newWorld(t)
	_, end := w.follow("/history?follow=true")
	if w.serving.Load() != 1 {
		t.Errorf("%d requests under way", w.serving.Load())
	}
	end()
	w.await("the tail's end", func() bool { return w.serving.Load() == 0 })
}
