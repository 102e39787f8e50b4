package scheduler_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/actions/builtin"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/internal/climb"
)

// costlyJobs are job documents that may be disproportionately expensive to parse or to reject.
func costlyJobs() []string {
	times := func(s string) string { return strings.Repeat(s, scheduler.MaxJobSize/len(s)) }
	var names strings.Builder
	for i := range 1500 {
		fmt.Fprintf(&names, `"x%d":1,`, i)
	}
	const request = `"request":{"method":"GET","uri":"http://x.example/"}`
	const action = `"action":{"type":"http",` + request + `}`
	return []string{
		`{"properties":{"startTime":"2030-01-01","timeout":"30s","labels":{"a":"b"},` + action + `,"recurrence":{"frequency":"day","schedule":{"hours":[1]}}}}`,
		"startTime: 2030-01-01\nrecurrence:\n  frequency: week\n  schedule:\n    weekDays: [monday]\naction:\n  type: http\n  request: {method: GET, uri: http://x.example/}\n",
		`{` + names.String() + action + `}`, `{"labels":{` + names.String() + `"y":1},` + action + `}`, `{"data":{` + names.String() + `"y":1},` + action + `}`,
		`{"action":{"type":"http","request":{"method":"GET","uri":"http://x.example/","headers":{` + names.String() + `"y":""}}}}`,
		`{"recurrence":{"frequency":"month","schedule":{"monthlyOccurrences":[` + strings.Repeat(`{"day":"monday","x":1},`, 600) + `{}]}},` + action + `}`,
		`{"recurrence":{"frequency":"day","schedule":{"minutes":[` + times("1,") + `1]}},` + action + `}`, `{"action":` + times(`{"errorAction":`),
		`{"action":{"type":"http",` + request + `,"errorAction":[` + strings.Repeat(`{"type":"http",`+request+`},`, 200) + `{}]}}`,
		`{"data":{"` + strings.Repeat("n", 8000) + `":[` + strings.Repeat("1,", 3500) + `1]},` + action + `}`,
		`{"action":{"type":"serviceBusQueue","serviceBusQueueMessage":{"namespace":"n","queueName":"q","message":"` + times("x") + `"}}}`,
		`{"action":{"type":"natsMessage","natsMessage":{"subject":"` + times("a.") + `"}}}`, `{"timeout":"` + times("1h") + `",` + action + `}`,
		`{"action":{"type":"http","request":{"method":"POST","uri":"http://x.example/","template":true,"body":"` + strings.Repeat("{{.Job}}", 1000) + `"}}}`,
		`{"action":{"type":"http","request":{"method":"GET","uri":"` + times("x") + `"}}}`, `{"startTime":"` + times("2") + `",` + action + `}`,
	}
}

// jobTokens are the building blocks of job documents.
var jobTokens = []string{
	"{", "}", "[", "]", ",", ":", `"`, `{},`, `[],`, `1,`, `"a":1,`, `"x":{},`, "null,", `"action":{`, `"type":"http",`, `"errorAction":`, `"request":{`,
	`"headers":{`, `"recurrence":{`, `"schedule":{`, `"hours":[`, `"monthlyOccurrences":[`, `{"day":"monday","occurrence":1},`, `"labels":{`, `"data":{`,
	`"retryPolicy":{`, `"retryInterval":"PT1M",`, `"message":"`, `"template":true,`, `{{`, `}}`, `{{.Data.a}}`, `{{range .Data}}`, `{{end}}`, `{{if 1}}`, `"success":{`,
	`"status":["2xx"],`, `"authentication":{"type":"Basic",`, `"secretRef":"a"`, `"uri":"http://a/",`, `"timeout":"1h",`, `\u0041`, "&a ", "*a, ", "\n- ", "\n  a: ", "---\n",
}

// TestClimbJobs searches for the most expensive job documents by hill climbing, and checks that the cost and the length
// of the answer stay within limits. The schedule languages have a separate test.
func TestClimbJobs(t *testing.T) {
	registry := builtin.New(builtin.Config{})
	defer registry.Close()
	longest := 0
	read := func(text string) {
		v, err := scheduler.ParseDocument([]byte(text))
		if err == nil {
			reading := scheduler.DefinitionDecoder{Actions: registry, Key: key, Now: time.Unix(0, 0)}
			draft := reading.Document(v)
			if _, err = draft.Definition(); err == nil {
				_ = draft.Written.JSON()
			}
		}
		if err != nil {
			longest = max(longest, len(v1.JSON(v1.DescribeError(err).Document())))
		}
	}
	seeds := costlyJobs()
	for i, s := range seeds {
		seeds[i] = s[:min(len(s), scheduler.MaxJobSize)]
		if v, err := document.Parse([]byte(seeds[i])); i == 0 && err != nil {
			t.Fatal(v, err)
		}
	}
	climb.Climb[string]{
		Seeds: seeds, Mutate: climb.Text{Tokens: jobTokens, Most: scheduler.MaxJobSize}.Mutate, Do: read,
	}.Run(t).Check(t, 50*time.Millisecond, 20<<20)
	if longest > 200<<10 {
		t.Errorf("%d bytes are answered", longest)
	}
	t.Logf("the longest answer has %d bytes", longest)
}
