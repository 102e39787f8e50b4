package rest_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/scheduler"
)

// conditionalStep is a request under a condition, in which $1, $2 … are the ETags of the answers to the steps so far.
type conditionalStep struct {
	method, path, body, condition string

	want string // as in step
	same int    // the number of the step whose ETag the answer has, too; 0: that of none; -1: it has none
}

func (w *harness) conditionally(steps []conditionalStep) {
	w.t.Helper()
	var tags []string
	for i, s := range steps {
		for n := len(tags); n > 0; n-- {
			s.condition = strings.ReplaceAll(s.condition, "$"+itoa(n), tags[n-1])
		}
		var headers []string
		if s.condition != "" {
			headers = strings.Split(s.condition, "; ")
		}
		r := w.do(s.method, s.path, s.body, headers...)
		status, part, _ := strings.Cut(s.want, " ")
		tag := r.header.Get("ETag")
		if itoa(r.status) != status || !strings.Contains(r.body, part) {
			w.t.Errorf("step %d: %s %s %s: got %d %.1000s, want %s", i+1, s.method, s.path, s.condition, r.status, r.body, s.want)
		}
		switch {
		case s.same > 0 && tag != tags[s.same-1]:
			w.t.Errorf("step %d: %s %s: ETag %s, want that of step %d, %s", i+1, s.method, s.path, tag, s.same, tags[s.same-1])
		case s.same == 0 && (len(tag) < 4 || slices.Contains(tags, tag)):
			w.t.Errorf("step %d: %s %s: ETag %q, want a new one", i+1, s.method, s.path, tag)
		case s.same < 0 && tag != "":
			w.t.Errorf("step %d: %s %s: ETag %s, want none", i+1, s.method, s.path, tag)
		}
		var shown struct {
			ETag string `json:"etag"`
		}
		if r.status < 300 && tag != "" && (json.Unmarshal([]byte(r.body), &shown) != nil || shown.ETag != tag) {
			w.t.Errorf("step %d: %s %s: ETag %s, and in the document %s", i+1, s.method, s.path, tag, shown.ETag)
		}
		tags = append(tags, tag)
	}
}

// TestConditionsOfJobs: a request whose condition does not hold changes nothing, and is answered with the present ETag.
func TestConditionsOfJobs(t *testing.T) {
	const job = "/jobCollections/default/jobs/job"
	newHarness(t).conditionally([]conditionalStep{
		{"PUT", job, later, `If-Match: *`, `412 there is none`, -1},
		{"PUT", job, later, `If-None-Match: *`, `201`, 0},
		{"PUT", job, later, `If-None-Match: *`, `412 it exists already; its ETag is`, 2},
		{"GET", job, "", "", `200`, 2},
		{"GET", job, "", `If-None-Match: $2`, `304`, 2},
		{"HEAD", job, "", `If-None-Match: "x", W/$2`, `304`, 2},
		{"GET", job, "", `If-None-Match: "x"`, `200`, 2},
		{"GET", job, "", `If-Match: "x"`, `412 "code":"PreconditionFailed"`, 2},
		{"PUT", job, later, `If-Match: $2`, `200 "result":"unchanged"`, 2},
		{"PATCH", job, `{"description": "a"}`, `If-Match: "x", $2`, `200`, 0},
		{"PATCH", job, `{"description": "b"}`, `If-Match: $2`, `412 it was changed meanwhile`, 10},
		{"PUT", job, later, `If-Match: $2`, `412`, 10},
		{"PUT", job, later, `If-Match: W/$10`, `412`, 10},
		{"PUT", job + "?dryRun=true", later, `If-Match: $2`, `412`, 10},
		{"PUT", job + "?dryRun=true", later, `If-Match: $10`, `200 "dryRun":`, -1},
		{"POST", job + "/disable", "", `If-Match: $2`, `412`, 10},
		{"POST", job + "/disable", "", `If-Match: $10`, `200 "state":"disabled"`, 0},
		{"POST", job + "/enable", "", `If-Match: $10`, `412`, 17},
		{"POST", job + "/enable", "", `If-Match: $17`, `200`, 0},
		{"POST", job + "/run", "", `If-Match: $17`, `412`, 19},
		{"POST", job + "/run", "", `If-Match: $19`, `200 "occurrence"`, -1},
		{"GET", job, "", "", `200 "description":"a"`, 19},
		{"DELETE", job, "", `If-Match: $17`, `412`, 19},
		{"DELETE", job, "", `If-Match: $19; If-None-Match: $19`, `412`, 19},
		{"DELETE", job, "", `If-Match: $19`, `200`, -1},
		{"DELETE", job, "", `If-Match: $19`, `404`, -1},
		{"PATCH", job, `{}`, `If-Match: *`, `404`, -1},
		{"PUT", job, later, "", `201`, 0},
		{"PUT", job, later, `If-Match: $2`, `412`, 28},
		{"PUT", job, later, `If-Match: $28x`, `400 "path":"If-Match"`, -1},
		{"POST", job + "/resubmit", `{}`, `If-Match: $28`, `400 this resource has no ETag`, -1},
		{"PUT", "/secrets/a", `{"value": "x"}`, `If-None-Match: *`, `400 "path":"If-None-Match"`, -1},
		{"GET", job + "/history", "", `If-None-Match: *`, `200`, -1},
	})
}

// TestConditionsOfCollections likewise.
func TestConditionsOfCollections(t *testing.T) {
	const c = "/jobCollections/c"
	newHarness(t).conditionally([]conditionalStep{
		{"PUT", c, "", `If-Match: "x"`, `412`, -1},
		{"PUT", c + "?dryRun=true", "", `If-Match: "x"`, `412`, -1},
		{"PUT", c + "?dryRun=true", "", `If-None-Match: *`, `200`, -1},
		{"PUT", c, "", `If-None-Match: *`, `201`, 0},
		{"PUT", c, "", `If-None-Match: *`, `412`, 4},
		{"PUT", c, "", `If-Match: $4`, `200 "result":"unchanged"`, 4},
		{"GET", c, "", `If-None-Match: $4`, `304`, 4},
		{"PATCH", c, `{"tags": {"a": "1"}}`, `If-Match: $4`, `200`, 0},
		{"PATCH", c, `{"tags": {"a": "2"}}`, `If-Match: $4`, `412`, 8},
		{"PATCH", c + "?dryRun=true", `{"tags": {"a": "2"}}`, `If-Match: $4`, `412`, 8},
		{"PATCH", c + "?dryRun=true", `{"tags": {"a": "2"}}`, `If-Match: $8`, `200 {"path":"tags.a","before":"1","after":"2"}`, -1},
		{"PUT", c, `{}`, `If-Match: $4`, `412`, 8},
		{"POST", c + "/disable", "", `If-Match: $4`, `412`, 8},
		{"POST", c + "/disable", "", `If-Match: $8`, `200`, 0},
		{"POST", c + "/enable", "", `If-None-Match: $14`, `412`, 14},
		{"GET", c, "", "", `200 "a":"1"`, 14},
		{"DELETE", c, "", `If-Match: $8`, `412`, 14},
		{"DELETE", c, "", `If-Match: $14`, `200`, -1},
		{"PATCH", c, `{}`, `If-Match: $14`, `404`, -1},
		{"PUT", c, "", "", `201`, 0},
		{"PUT", c + "?dryRun=true", "", `If-None-Match: *`, `412`, 20},
	})
}

// TestETagStaysWhileAJobRuns: neither runs of a job, nor its end, nor another key for its secrets change its ETag.
func TestETagStaysWhileAJobRuns(t *testing.T) {
	w := newHarness(t)
	w.work()
	const job = "/jobCollections/default/jobs/job"
	doc := `{"action": {"type": "Http", "request": {"uri": "` + w.target() + `", "method": "GET",
		"authentication": {"type": "Basic", "username": "me", "password": "` + secret + `"}}}}`
	put := w.do(http.MethodPut, job, doc)
	tag := put.header.Get("ETag")
	if put.status != http.StatusCreated || tag == "" {
		t.Fatalf("%d %s, ETag %s", put.status, put.body, tag)
	}
	w.await("the end of the job", func() bool {
		return strings.Contains(w.do(http.MethodGet, job, "").body, `"state":"completed"`)
	})
	final := func() bool {
		st, err := w.store.LoadJob(t.Context(), scheduler.Key{Collection: "default", Job: "job"})
		return err == nil && strings.Contains(string(st.Data), `"state":"completed"`)
	}
	w.await("its final form", final)
	if r := w.do(http.MethodPost, "/secrets/rotate", ""); r.status != http.StatusOK {
		t.Errorf("rotation: %d %s", r.status, r.body)
	}
	if r := w.do(http.MethodGet, job, ""); r.header.Get("ETag") != tag {
		t.Errorf("ETag %s, was %s", r.header.Get("ETag"), tag)
	}
	list := w.do(http.MethodGet, "/jobCollections/default/jobs", "")
	if !strings.Contains(list.body, `"etag":`+strconv.Quote(tag)) {
		t.Errorf("the list has not the ETag %s: %s", tag, list.body)
	}
}
