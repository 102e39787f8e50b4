package awx_test

import (
	"context"
	"errors"
	"net/url"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/awx"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// reader reads actions of the type Http, whatever is in them.
type reader struct{}

func (reader) Types() []string { return []string{"Http"} }

func (reader) ReadAction(_ string, o *document.Object) scheduler.Action {
	o.IgnoreRest()
	o.Reader().UseData("used")
	return nil
}

// job reads a job from JSON.
func job(t *testing.T, k scheduler.Key, properties document.Value) *scheduler.Job {
	t.Helper()
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	r := scheduler.DefinitionDecoder{Actions: reader{}, Key: k, UID: "uid", Now: now}
	d, err := r.Definition(properties.Clone())
	if err != nil {
		t.Fatalf("%s: %v", properties, err)
	}
	j, err := scheduler.NewJob(k, "uid", d, now, 0)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func parse(t *testing.T, text string) document.Value {
	t.Helper()
	v, err := document.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func read(t *testing.T, text string) awx.Request {
	t.Helper()
	q, err := awx.Read(parse(t, text))
	if err != nil {
		t.Fatal(err)
	}
	return q
}

var templateKey = scheduler.Key{Collection: "team", Job: "report"}

// TestNew makes properties of a template: its own schedule and data are not those of the new job, but its data stand beside
// each template.
func TestNew(t *testing.T) {
	const request = `{"name": "n", "rrule": "DTSTART:20990115T120000Z RRULE:FREQ=DAILY;INTERVAL=1", "extra_data": {"b": 2}}`
	const rest = `"labels":{"awx.template":"team/report","awx.name":"n"},"recurrence":{"rrule":"DTSTART:20990115T120000Z RRULE:FREQ=DAILY;INTERVAL=1",` +
		`"dialect":"awx"},"data":{"b":2},"state":"enabled"}`
	for template, want := range map[string]string{
		`{"state": "disabled", "description": "d", "startTime": "2020-01-01T00:00:00Z", "overlap": "allow", "action": {"type": "Http"}}`: `{"overlap":"allow","action":{"type":"Http"},`,

		`{"data": {"a": 1}, "action": {"type": "Http", "request": {"body": "x"}}}`: `{"action":{"type":"Http","request":{"body":"x"}},`,
		`{"data": {"a": 1}, "action": {"type": "Http", "template": true}}`:         `{"action":{"type":"Http","template":true,"data":{"a":1}},`,

		`{"data": {"a": 1, "b": 0}, "action": {"type": "Http", "request": {"template": true, "data": {"a": 7, "c": 3}}}}`: `{"action":{"type":"Http","request":{"template":true,"data":{"a":1,"c":3,"b":0}}},`,

		`{"data": {"a": 1}, "action": {"type": "Http", "errorAction": {"type": "Http", "request": {"template": true}}}}`: `{"action":{"type":"Http","errorAction":{"type":"Http","request":{"template":true},"data":{"a":1}}},`,

		`{"data": {"a": 1}, "action": {"type": "Http", "errorAction": [{"type": "Http"}, {"type": "Http", "template": true}]}}`: `{"action":{"type":"Http","errorAction":[{"type":"Http"},{"type":"Http","template":true,"data":{"a":1}}]},`,
	} {
		made := awx.New(job(t, templateKey, parse(t, template)), read(t, request))
		if diff := cmp.Diff(want+rest, made.String()); diff != "" {
			t.Errorf("%s: -want +got\n%s", template, diff)
		}
		j := job(t, scheduler.Key{Collection: "team", Job: awx.JobName(5)}, made)
		if !awx.IsSchedule(j) || awx.NameOf(j) != "n" || awx.TemplateOf(j) != "team/report" || !awx.EnabledOf(j) {
			t.Errorf("%s is no schedule", made)
		}
		if awx.IsSchedule(job(t, scheduler.Key{Collection: "team", Job: "awx-x"}, made)) {
			t.Error("a job of any name is a schedule")
		}
		if awx.IsSchedule(job(t, scheduler.Key{Collection: "other", Job: "awx-5"}, made)) {
			t.Error("a job of another collection than its template is a schedule")
		}
	}
}

// TestCheck refuses data that no template uses.
func TestCheck(t *testing.T) {
	d := job(t, templateKey, parse(t, `{"data": {"a": 1, "used": 2, "b": 3}, "action": {"type": "Http"}}`)).Def
	const want = "extra_data: Variables a, b are not allowed on launch. Check the Prompt on Launch setting on the Job Template to include Extra Variables."
	if err := awx.Check(d); err == nil || err.Error() != want {
		t.Error(err)
	}
	if err := awx.Check(job(t, templateKey, parse(t, `{"data": {"used": 2}, "action": {"type": "Http"}}`)).Def); err != nil {
		t.Error(err)
	}
}

// TestViewTimes shows what AWX computes of a recurrence.
func TestViewTimes(t *testing.T) {
	now := time.Date(2030, 6, 1, 12, 0, 0, 0, time.UTC)
	for rrule, want := range map[string][5]string{ // dtstart, dtend, next_run, timezone, until
		"DTSTART:20300115T120000Z RRULE:FREQ=DAILY;INTERVAL=1;COUNT=7":                                                     {"2030-01-15T12:00:00Z", "2030-01-21T12:00:00Z", "", "UTC", ""},
		"DTSTART:20300115T120000Z RRULE:FREQ=DAILY;INTERVAL=1":                                                             {"2030-01-15T12:00:00Z", "", "2030-06-02T12:00:00Z", "UTC", ""},
		"DTSTART;TZID=America/New_York:20300115T120000 RRULE:FREQ=DAILY;INTERVAL=1;UNTIL=20380601T170000Z":                 {"2030-01-15T17:00:00Z", "2038-06-01T16:00:00Z", "2030-06-01T16:00:00Z", "America/New_York", "2038-06-01T13:00:00"},
		"DTSTART:20300115T120000Z RRULE:INTERVAL=1;FREQ=DAILY;COUNT=3 RRULE:INTERVAL=1;FREQ=WEEKLY;UNTIL=20300301T000000Z": {"2030-01-15T12:00:00Z", "2030-02-26T12:00:00Z", "", "UTC", "2030-03-01T00:00:00"},
		"DTSTART:20300115T120000Z RRULE:INTERVAL=1;FREQ=DAILY;COUNT=3 RRULE:INTERVAL=1;FREQ=WEEKLY":                        {"2030-01-15T12:00:00Z", "", "2030-06-04T12:00:00Z", "UTC", ""},
		"DTSTART:20300115T120000Z RRULE:FREQ=DAILY;INTERVAL=1;COUNT=3 EXRULE:FREQ=DAILY;INTERVAL=1;UNTIL=20300116T120000Z": {"2030-01-17T12:00:00Z", "2030-01-17T12:00:00Z", "", "UTC", ""},
		"DTSTART:20300115T120000Z RRULE:FREQ=YEARLY;INTERVAL=1;BYMONTH=2;BYMONTHDAY=30":                                    {"", "", "", "UTC", ""},
	} {
		properties := parse(t, `{"labels": {"awx.template": "team/report", "awx.name": "n"}, "action": {"type": "Http"}, "recurrence": {"dialect": "awx", "rrule": "`+rrule+`"}}`)
		s := awx.View(job(t, scheduler.Key{Collection: "team", Job: "awx-7"}, properties), now)
		got := [5]string{shown(s.Start), shown(s.End), shown(s.Next), s.TimeZone, s.Until}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", rrule, diff)
		}
	}
}

func shown(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.Format(time.RFC3339)
}

// TestTemplateKey reads names of templates.
func TestTemplateKey(t *testing.T) {
	for name, want := range map[string]string{
		"report": "default/report", "team.report": "team/report", "team/report": "team/report", "report++team": "team/report",
		"7": "default/template-7", "team.7": "team/template-7", "7++team": "team/template-7", "07": "", "template-7": "default/template-7",
		"": "", "a b": "", "team.report.x": "", "report++": "", "../x": "",
	} {
		k, err := awx.TemplateKey(name)
		if got := k.String(); (err == nil) != (want != "") || err == nil && got != want {
			t.Errorf("%q: %s, %v", name, got, err)
		}
	}
}

// TestID keeps ids within 31 bits, and finds none where there is none.
func TestID(t *testing.T) {
	for name, want := range map[string]int{"awx-1": 1, "awx-2147483647": 1<<31 - 1, "awx-0": 0, "awx-2147483648": 0, "awx-07": 0, "awx-+7": 0, "awx-": 0, "other-7": 0} {
		if id, ok := awx.IDOf(name); ok != (want != 0) || ok && id != want {
			t.Errorf("%s: %d, %v", name, id, ok)
		}
	}
	if awx.NextID(1<<31-1) != 1 || awx.NextID(0) != 1 || awx.NextID(5) != 6 {
		t.Error("the ids after some are wrong")
	}
	if a, b := awx.FirstID(templateKey, "a"), awx.FirstID(templateKey, "b"); a == b || a < 1 || b < 1 {
		t.Error(a, b)
	}
}

// TestRead reads what clients send in other forms.
func TestRead(t *testing.T) {
	for body, want := range map[string]string{
		`{"extra_data": "a: 1\nb: x"}`: `{"a":1,"b":"x"}`, `{"extra_data": "{\"a\": 1}"}`: `{"a":1}`, `{"extra_data": " "}`: `{}`,
		`{"extra_data": null}`: `{}`, `{"extra_data": {"a": null, "b": [null]}}`: `{"b":[null]}`,
	} {
		if q := read(t, body); q.ExtraData == nil || q.ExtraData.String() != want {
			t.Errorf("%s: %v", body, q.ExtraData)
		}
	}
	for body, want := range map[string]bool{`{"enabled": "True"}`: true, `{"enabled": 1}`: true, `{"enabled": 0}`: false, `{"enabled": "no"}`: false} {
		if q := read(t, body); q.Enabled == nil || *q.Enabled != want {
			t.Errorf("%s: %v", body, q.Enabled)
		}
	}
	q := read(t, `{"limit": "", "inventory": null, "unknown": 5}`)
	if diff := cmp.Diff(awx.Request{}, q); diff != "" {
		t.Error(diff)
	}
}

// TestQueryError says which field there is not.
func TestQueryError(t *testing.T) {
	_, err := awx.ReadQuery(url.Values{"rrule__x": {"1"}})
	if wrong, ok := errors.AsType[awx.QueryError](err); !ok || wrong != "Schedule has no field named 'rrule__x'" {
		t.Error(err)
	}
}

// TestExplain tells what is wrong with a job by the fields of its schedule.
func TestExplain(t *testing.T) {
	got := awx.Explain(document.Problems{
		{Path: "recurrence.rrule", Message: "a"},
		{Path: "data.x", Message: "b"},
		{Path: "database", Message: "c"},
		{Path: "labels", Message: "d"},
		{Path: "recurrence", Message: "e"},
	}).Document().String()
	const want = `{"rrule":["a","e"],"extra_data":["b"],"unified_job_template":["database: c"],"name":["d"]}`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestPageAsksFewSchedules shows that the instants of those schedules are looked for that a page shows, and of others only
// when the order is theirs; and that it ends with its context.
func TestPageAsksFewSchedules(t *testing.T) {
	k := scheduler.Key{Collection: "team", Job: "report"}
	name, rrule := "a", "DTSTART:20310101T000000Z RRULE:FREQ=DAILY;INTERVAL=1"
	template := job(t, k, parse(t, `{"action":{"type":"Http"}}`))
	var jobs []*scheduler.Job
	for i := range 5 {
		j := job(t, scheduler.Key{Collection: "team", Job: awx.JobName(i + 1)}, awx.New(template, awx.Request{Name: &name, RRule: &rrule}))
		if i >= 2 {
			j.Plan = nil // who asks it panics
		}
		jobs = append(jobs, j)
	}
	for query, few := range map[string]bool{"page_size=2": true, "page_size=2&order_by=id": true, "page_size=2&order_by=next_run": false} {
		u, err := url.Parse("/api/v2/schedules/?" + query)
		if err != nil {
			t.Fatal(err)
		}
		q, err := awx.ReadQuery(u.Query())
		if err != nil {
			t.Fatal(err)
		}
		page := func(ctx context.Context) (list awx.List, err error, asked bool) {
			defer func() { asked = recover() != nil }()
			list, _, err = q.Page(ctx, jobs, time.Now(), u)
			return list, err, false
		}
		list, err, asked := page(t.Context())
		if asked == few || few && (err != nil || list.Count != 5 || len(list.Results) != 2 || list.Results[1].Next == nil) {
			t.Errorf("%s: %d of %d schedules, %v, others were asked: %t", query, len(list.Results), list.Count, err, asked)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err, _ := page(ended); few && !errors.Is(err, context.Canceled) {
			t.Errorf("%s: ended with %v", query, err)
		}
	}
}
