package natsapi_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// headed is a request, or a spec, with headers, in which $1, $2 … are the ETags of the answers so far.
type headed struct {
	subject, body, headers string // "Name: value; Name: value"

	want string // status or verdict, and a part of the answer
	same int    // the number of the step that has the same ETag; 0: none has; -1: there is none
}

func (h headed) message(prefix string, tags []string) *nats.Msg {
	m := &nats.Msg{Subject: prefix + h.subject, Data: []byte(h.body), Header: nats.Header{}}
	for line := range strings.SplitSeq(h.headers, "; ") {
		if name, value, ok := strings.Cut(line, ": "); ok {
			for n := len(tags); n > 0; n-- {
				value = strings.ReplaceAll(value, "$"+string(rune('0'+n)), tags[n-1])
			}
			m.Header[name] = append(m.Header[name], value)
		}
	}
	return m
}

// check compares what came with what was wanted.
func (h headed) check(t *testing.T, got, tag string, tags []string) {
	t.Helper()
	for part := range strings.SplitSeq(h.want, " ") {
		if !strings.Contains(got, part) {
			t.Errorf("%s %s: got %s, want %s", h.subject, h.headers, got, part)
		}
	}
	switch {
	case h.same > 0 && tag != tags[h.same-1]:
		t.Errorf("%s %s: ETag %s, want %s", h.subject, h.headers, tag, tags[h.same-1])
	case h.same == 0 && (tag == "" || strings.Contains(strings.Join(tags, " "), tag)):
		t.Errorf("%s %s: ETag %q, want a new one", h.subject, h.headers, tag)
	case h.same < 0 && tag != "":
		t.Errorf("%s %s: ETag %s, want none", h.subject, h.headers, tag)
	}
}

// TestConditionsOfRequests: the micro service carries a request out only while its condition holds.
func TestConditionsOfRequests(t *testing.T) {
	w := newHarness(t)
	w.api()
	var tags []string
	for _, step := range []headed{
		{"put.default.job", later, "Carillon-If-None-Match: *", "201", 0},
		{"put.default.job", later, "carillon-if-none-match: *", `412 "code":"PreconditionFailed"`, 1},
		{"get.default.job", "", "Carillon-If-None-Match: $1", "304", 1},
		{"patch.default.job", `{"description": "a"}`, "Carillon-If-Match: $1; Carillon-Dry-Run: true", `200 {"path":"properties.description","after":"a"}`, -1},
		{"patch.default.job", `{"description": "a"}`, "Carillon-If-Match: $1", "200", 0},
		{"patch.default.job", `{"description": "b"}`, "Carillon-If-Match: $1", "412", 5},
		{"disable.default.job", "", "Carillon-If-Match: $1", "412", 5},
		{"run.default.job", "", "Carillon-If-Match: $1", "412", 5},
		{"delete.default.job", "", "Carillon-If-Match: $1", "412", 5},
		{"put.default.never", `{"recurrence": {"cron": "0 9 31 2 *"}, ` + action + `}`, "Carillon-Strict: true", `400 "path":"recurrence.cron"`, -1},
		{"put.default.never", later, "Carillon-Dry-Run: true", "200", -1},
		{"get.default.never", "", "", "404", -1},
		{"put.default.never", later, "Carillon-Dry-Run: maybe", `400 "path":"Carillon-Dry-Run"`, -1},
		{"disable.default.job", "", "Carillon-Dry-Run: true", `400 "path":"Carillon-Dry-Run"`, -1},
		{"list.default", "", "Carillon-If-Match: *", `400 "path":"Carillon-If-Match"`, -1},
		{"get.default.job", "", "Carillon-If-Match: a", `400 "path":"If-Match"`, -1},
		{"collection-put.c", "", "Carillon-If-Match: *", "412", -1},
		{"collection-put.c", "", "Carillon-Dry-Run: true", `200 "dryRun":{"changes":[`, -1},
		{"collection-put.c", "", "Carillon-If-None-Match: *", "201", 0},
		{"collection-patch.c", `{"tags": {"a": "1"}}`, `Carillon-If-Match: "x"`, "412", 19},
		{"collection-patch.c", `{"tags": {"a": "1"}}`, "Carillon-Dry-Run: true", `200 "path":"tags"`, -1},
		{"collection-get.c", "", "Carillon-If-None-Match: *", "304", 19},
		{"collection-disable.c", "", `Carillon-If-Match: "x"`, "412", 19},
		{"collection-put.c", "", "Carillon-Strict: true", `400 "path":"Carillon-Strict"`, -1},
		{"collection-delete.c", "", `Carillon-If-Match: "x"`, "412", 19},
	} {
		m := must.Get(w.nc.RequestMsg(step.message("carillon.api.", tags), patience))(t)
		tag := m.Header.Get("Carillon-ETag")
		step.check(t, m.Header.Get("Carillon-Status")+" "+string(m.Data), tag, tags)
		tags = append(tags, tag)
	}
}

// TestConditionsOfSpecs: a published spec is carried out only while its condition holds.
func TestConditionsOfSpecs(t *testing.T) {
	w := newHarness(t)
	w.ingest()
	results := must.Get(w.nc.SubscribeSync("carillon.spec-result.>"))(t)
	var tags []string
	for _, step := range []headed{
		{"put.default.job", later, "Carillon-If-Match: *", "rejected PreconditionFailed", -1},
		{"put.default.job", later, "Carillon-Dry-Run: true", `accepted "dryRun":{"nextRuns":["2099-01-01T00:00:00Z"]`, -1},
		{"put.default.job", later, "Carillon-If-None-Match: *", "accepted created", 0},
		{"put.default.job", later, "Carillon-If-None-Match: *", "rejected exists", -1},
		{"patch.default.job", `{"description": "a"}`, "Carillon-If-Match: $3", "accepted updated", 0},
		{"disable.default.job", "", "Carillon-If-Match: $3", "rejected PreconditionFailed", -1},
		{"run.default.job", "", "Carillon-If-Match: $3", "rejected PreconditionFailed", -1},
		{"run.default.job", "", "Carillon-Dry-Run: true", `rejected "path":"Carillon-Dry-Run"`, -1},
		{"delete.default.job", "", "Carillon-If-Match: $3", "rejected PreconditionFailed", -1},
		{"delete.default.job", "", "Carillon-If-Match: $5", "accepted", -1},
	} {
		must.Get(w.js.PublishMsg(w.ctx, step.message("carillon.spec.", tags)))(t)
		m := must.Get(results.NextMsg(patience))(t)
		var told struct {
			ETag string `json:"etag"`
		}
		must.Do(t, json.Unmarshal(m.Data, &told))
		step.check(t, string(m.Data), told.ETag, tags)
		tags = append(tags, told.ETag)
	}
}
