package schema_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/schema"
)

const request = `"request":{"method":"GET","uri":"http://x.example/"}`

// TestBothRefuse shows what neither the readers nor the schemas let pass.
func TestBothRefuse(t *testing.T) {
	jobs, collections, all := compiled(t, schema.JobText), compiled(t, schema.CollectionText), registry(t)
	for _, text := range []string{
		`{}`, `[]`, `"job"`, `{"action": null}`, `{"action": {}}`, `{"action": []}`, `{"properties": {}}`, `{"properties": 1}`,
		`{"action": {"type": "Htp", ` + request + `}}`,
		`{"action": {"type": "Http"}}`,
		`{"action": {"type": "Http", "request": {"method": "GET"}}}`,
		`{"action": {"type": "Http", "request": {"method": "FETCH", "uri": "http://x/"}}}`,
		`{"action": {"type": "Http", "request": {"method": "GET", "uri": "http://x/", "url": "http://y/"}}}`,
		`{"action": {"type": "StorageQueue", ` + request + `}}`,
		`{"action": {"type": "Http", ` + request + `, "queueMessage": {}}}`,
		`{"action": {"type": "Http", ` + request + `}, "recurence": {"frequency": "day"}}`,
		`{"action": {"type": "Http", ` + request + `}, "recurrence": {}}`,
		`{"action": {"type": "Http", ` + request + `}, "recurrence": "daily"}`,
		`{"action": {"type": "Http", ` + request + `}, "recurrence": {"frequency": "daily"}}`,
		`{"action": {"type": "Http", ` + request + `}, "recurrence": {"frequency": "day", "interval": 0}}`,
		`{"action": {"type": "Http", ` + request + `}, "recurrence": {"frequency": "day", "interval": "1"}}`,
		`{"action": {"type": "Http", ` + request + `}, "recurrence": {"frequency": "week", "schedule": {"weekDays": ["Mon"]}}}`,
		`{"action": {"type": "Http", ` + request + `}, "recurrence": {"frequency": "day", "schedule": {"hours": 9}}}`,
		`{"action": {"type": "Http", ` + request + `}, "timeout": "soon"}`,
		`{"action": {"type": "Http", ` + request + `}, "timeout": 1801}`,
		`{"action": {"type": "Http", ` + request + `}, "startTime": "tomorrow"}`,
		`{"action": {"type": "Http", ` + request + `}, "labels": {"a": 1}}`,
		`{"action": {"type": "Http", ` + request + `}, "labels": ["a"]}`,
		`{"action": {"type": "Http", ` + request + `}, "state": "completed"}`,
		`{"action": {"type": "Http", ` + request + `, "retryPolicy": {"retryCount": 21}}}`,
		`{"action": {"type": "Http", ` + request + `, "retryPolicy": {"finalOn": [404]}}}`,
		`{"action": {"type": "Http", ` + request + `, "errorAction": "mail"}}`,
		`{"action": {"type": "Http", ` + request + `, "errorAction": [{"type": "Http"}]}}`,
		`{"action": {"type": "Http", ` + request + `, "errorAction": {"type": "Http", ` + request + `, "x": 1}}}`,
		`{"properties": {"action": {"type": "Http", ` + request + `}}, "timeout": "PT1M"}`,
		`{"action": {"type": "Http", ` + request + `}, "onSuccess": "a"}`,
		`{"action": {"type": "Http", ` + request + `}, "trigger": {"on": "order"}}`,
		`{"action": {"type": "Http", ` + request + `}, "trigger": {"on": {"filter": "true"}}}`,
		`{"action": {"type": "Http", ` + request + `}, "trigger": {"on": [{"job": "a", "outcome": "ended"}]}}`,
		`{"action": {"type": "Http", ` + request + `}, "trigger": {"on": {"source": "a"}, "batch": {"size": 1, "wait": "PT1M"}}}`,
		`{"action": {"type": "Http", ` + request + `}, "trigger": {"on": {"source": "a"}, "debounce": {"max": "PT1M"}}}`,
		`{"action": {"type": "Http", ` + request + `}, "onlyIf": {"job": "a"}}`,
		`{"action": {"type": "Http", "request": {"method": "GET", "uri": "http://x/", "headers": {"a": 1}}}}`,
		`{"action": {"type": "Http", "request": {"method": "GET", "uri": "https://x/", "authentication": {"type": "Basic"}}}}`,
		`{"action": {"type": "Http", "request": {"method": "GET", "uri": "https://x/",
			"authentication": {"type": "Basic", "username": "a", "password": {"secret": "b"}}}}}`,
		`{"action": {"type": "NatsMessage", "natsMessage": {"subject": "a", "servers": 4222}}}`,
	} {
		v := parse(t, text)
		if err := readable(all, v.Clone()); err == nil {
			t.Errorf("the reader accepts %s", text)
		}
		if err := invalid(t, jobs, v); err == nil {
			t.Errorf("the schema accepts %s", text)
		}
	}
	for _, properties := range []string{
		`[]`, `{"state": "off"}`, `{"quota": {"maxJobCount": 0}}`, `{"quota": {"maxJobs": 1}}`, `{"sku": {"name": "Gold"}}`,
		`{"targets": {"a": {"rate": {"per": "PT1S"}}}}`, `{"targets": {"a": {"rate": 1}}}`, `{"quota": {"maxRecurrence": {}}}`,
	} {
		v := parse(t, `{"type": "Microsoft.Scheduler/jobCollections", "name": "c", "properties": `+properties+`}`)
		if err := readable(all, v); err == nil {
			t.Errorf("the reader accepts %s", properties)
		}
		if invalid(t, jobs, v) == nil || invalid(t, collections, v) == nil {
			t.Errorf("a schema accepts %s", properties)
		}
	}
}

// TestBothAccept shows forms that differ from those of the examples.
func TestBothAccept(t *testing.T) {
	jobs, all := compiled(t, schema.JobText), registry(t)
	for _, text := range []string{
		`{"action": {"type": "HTTP", ` + request + `, "template": true, "data": {"a": [1]}}, "state": "Enabled", "timeout": 30}`,
		`{"action": {"type": "http", ` + request + `, "envelope": "cloudevents", "cloudEvent": {"type": "a"}}, "recurrence": null}`,
		`{"properties": {"action": {"type": "Http", ` + request + `}, "startTime": 20261207, "status": null}, "name": "job"}`,
		`{"properties": null, "action": {"type": "Http", ` + request + `}, "labels": {}}`,
		`{"action": {"type": "Http", ` + request + `, "errorAction": [{"type": "Http", ` + request + `, "errorAction": {"type": "Http", ` + request + `}}]}}`,
		`{"action": {"type": "Http", "request": {"method": "GET", "uri": "http://x.example/", "authentication": null}}}`,
		`{"action": {"type": "NatsMessage", "natsMessage": {"subject": "a", "servers": "a:4222,b:4222", "token": {"secretRef": "t"}}}}`,
		`{"action": {"type": "Http", ` + request + `}, "recurrence": {"rrule": "DTSTART:20260101T090000Z RRULE:FREQ=DAILY", "dialect": "RFC5545", "frequency": null}}`,
		`{"action": {"type": "Http", ` + request + `}, "trigger": {"on": {"source": "a", "key": "event.id"}, "delay": "PT5M", "unless": null}}`,
		`{"action": {"type": "Http", ` + request + `}, "trigger": {}, "onSuccess": ["a", "b/c"], "onFailure": []}`,
		`{"action": {"type": "Http", ` + request + `}, "trigger": {"on": [{"job": "a", "outcome": "Any"}, {"subject": "b.c"}], "maxDepth": 3},
			"recurrence": {"cron": "0 9 * * *"}, "startTime": "2026-12-07"}`,
		`{"action": {"type": "Http", ` + request + `}, "trigger": {"on": {"source": "a"}, "endTime": "2026-12-07"}, "overlap": "Queue",
			"recurrence": {"cron": "0 9 * * *"}, "onlyIf": {"job": "a/b", "outcome": "Any", "since": "P1D", "waitUpTo": null}}`,
	} {
		v := parse(t, text)
		if err := readable(all, v.Clone()); err != nil {
			t.Errorf("the reader refuses %s: %v", text, err)
		}
		if err := invalid(t, jobs, v); err != nil {
			t.Errorf("the schema refuses %s: %v", text, err)
		}
	}
}

// parse returns a document.
func parse(t *testing.T, text string) document.Value {
	t.Helper()
	v, err := document.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestSchemaAdmitsWhatIsRead changes documents at random, and has the schema accept those that the reader does. It draws
// until the reader has accepted and refused enough of them.
func TestSchemaAdmitsWhatIsRead(t *testing.T) {
	jobs, all := compiled(t, schema.JobText), registry(t)
	var seeds []document.Value
	for _, s := range sources(t) {
		for _, v := range s.documents {
			if readable(all, v.Clone()) == nil {
				seeds = append(seeds, v)
			}
		}
	}
	const enough = 50
	accepted, refused := 0, 0
	agrees := func(rt *rapid.T) {
		v := rapid.SampledFrom(seeds).Draw(rt, "document")
		for range rapid.IntRange(1, 3).Draw(rt, "changes") {
			v = changed(rt, v)
		}
		read := v.Clone()
		if readable(all, read) != nil {
			refused++
			return
		}
		accepted++
		if err := invalid(t, jobs, spelled(v, read)); err != nil {
			rt.Errorf("%v\n%s", err, v)
		}
	}
	for round := 0; !t.Failed() && round < 1000 && min(accepted, refused) < enough; round++ {
		rapid.Check(t, agrees)
	}
	if min(accepted, refused) < enough {
		t.Errorf("the reader has accepted %d and refused %d, want %d of each", accepted, refused, enough)
	}
}

// values are what is put into documents.
var values = []string{
	`null`, `true`, `false`, `0`, `1`, `15`, `2.5`, `-1`, `20261207`, `""`, `"x"`, `"PT1M"`, `"90s"`, `"00:01:00"`, `"2026-12-07"`, `"none"`, `"never"`,
	`"day"`, `"Basic"`, `"exponential"`, `"cloudevents"`, `"http://x.example/"`, `"0 9 * * *"`, `{"secretRef": "a"}`, `{}`, `[]`, `["4xx"]`, `[1]`,
	`{"type": "http", ` + request + `}`, `[{"type": "Http", ` + request + `}]`,
}

// names are what members are called that are put into documents.
var names = []string{
	"recurrence", "timeout", "catchUp", "policy", "labels", "data", "template", "envelope", "cloudEvent", "errorAction", "retryPolicy",
	"retryType", "retryCount", "retryInterval", "maxRetryInterval", "jitter", "finalOn", "authentication", "headers", "type", "status", "state",
	"timeZone", "startTime", "dialect", "interval", "servers", "timeToLive", "visibilityDelay", "replyTo", "properties", "name", "dst", "token",
	"trigger", "on", "source", "job", "outcome", "filter", "delay", "debounce", "batch", "onlyIf", "since", "waitUpTo", "endTime", "overlap",
}

// changed returns a document with another value somewhere: of a member that is there, or of a new one.
func changed(rt *rapid.T, v document.Value) document.Value {
	members := v.Members()
	if v.Kind() != document.KindObject || len(members) > 0 && rapid.IntRange(0, 3).Draw(rt, "deeper") > 0 {
		if len(members) == 0 {
			return mustParse(rapid.SampledFrom(values).Draw(rt, "value"))
		}
		m := rapid.SampledFrom(members).Draw(rt, "member")
		return v.With(changed(rt, m.Value), m.Name)
	}
	return v.With(mustParse(rapid.SampledFrom(values).Draw(rt, "value")), rapid.SampledFrom(names).Draw(rt, "name"))
}

// mustParse returns a value of the table above.
func mustParse(text string) document.Value {
	v, err := document.Parse([]byte(`{"value": ` + text + `}`))
	if err != nil {
		panic(err)
	}
	inner, _ := v.Member("value")
	return inner
}
