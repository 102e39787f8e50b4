package scheduler_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/expression"
)

// TestTriggerProblems checks the paths and messages of wrong triggers.
func TestTriggerProblems(t *testing.T) {
	for text, want := range map[string]string{
		`{"on": []}`: "trigger.on: must not be empty: name a source, a subject or a job, or omit on in a job that only " +
			"others start",
		`{"on": {}}`:                "trigger.on.source: is required; or subject, or job",
		`{"on": {"source": "a b"}}`: `trigger.on.source: "a b" must not contain ' '`,
		`{"on": [{"source": "a"}, {"source": "a", "job": "b"}]}`:                              "trigger.on[1].job: does not go with source: write two listeners",
		`{"on": {"subject": "orders"}}`:                                                       `trigger.on.subject: "orders" is not <collection>.<event>, such as sales.orders`,
		`{"on": {"job": "a/b/c"}}`:                                                            `trigger.on.job: "a/b/c" is neither the name of a job nor collection/job`,
		`{"on": {"source": "a", "outcome": "completed"}}`:                                     "trigger.on.outcome: goes with job: events have no outcome",
		`{"on": {"source": "a", "filter": "event.data.total >"}}`:                             "trigger.on.filter: 1:",
		`{"on": {"source": "a", "filter": "evnt.data"}}`:                                      "undeclared reference to 'evnt'",
		`{"on": {"source": "a"}, "delay": "PT0S"}`:                                            "trigger.delay: PT0S is not a duration from",
		`{"on": {"source": "a"}, "delay": "event.data."}`:                                     "trigger.delay: 1:",
		`{"on": {"source": "a"}, "debounce": {}}`:                                             "trigger.debounce.period: is required",
		`{"on": {"source": "a"}, "debounce": {"period": "PT1M", "max": "PT1S"}}`:              "trigger.debounce.max: PT1S is shorter than the allowed PT1M",
		`{"on": {"source": "a"}, "batch": {"size": 1, "wait": "PT1M"}}`:                       "trigger.batch.size: ",
		`{"on": {"source": "a"}, "delay": "PT1S", "batch": {"size": 2, "wait": "PT1M"}}`:      "trigger.batch: does not go with delay: choose one",
		`{"on": {"source": "a"}, "require": "all", "within": "PT1M"}`:                         "trigger.require: needs two or more listeners in on",
		`{"on": [{"source": "a"}, {"source": "b"}], "require": "all"}`:                        "trigger.within: is required",
		`{"on": {"source": "a"}, "within": "PT1M"}`:                                           "trigger.within: goes with require all",
		`{"on": {"source": "a"}, "once": "PT1H", "rateLimit": {"runs": 1, "period": "PT1H"}}`: "trigger.rateLimit: does not go with once: choose one",
		`{"on": {"source": "a"}, "rateLimit": {"runs": 0, "period": "PT1H"}}`:                 "trigger.rateLimit.runs: ",
		`{"on": {"source": "a"}, "count": 2, "delay": "PT1H"}`:                                "trigger.count: does not go with delay: choose one",
		`{"on": {"source": "a"}, "overlap": "allow", "concurrency": 2}`:                       "trigger.concurrency: does not go with overlap allow",
		`{"on": {"source": "a"}, "concurrency": 0}`:                                           "trigger.concurrency: ",
		`{"on": {"source": "a"}, "priority": 101}`:                                            "trigger.priority: ",
		`{"on": {"source": "a"}, "delay": "PT1S", "throttle": {"runs": 1, "period": "PT1H"}}`: "trigger.throttle: does not go with delay: choose one",
		`{"on": {"source": "a"}, "maxDepth": 101}`:                                            "trigger.maxDepth: ",
		`{"on": [` + strings.TrimSuffix(strings.Repeat(`{"source": "a"},`, 17), ",") + `]}`:   "trigger.on: has 17 listeners, at most 16 are allowed",
		`{"on": {"source": "a"}, "unles": "true"}`:                                            "trigger.unles: ",
	} {
		_, err := decoder("08:00:00").Definition(parseDocument(t, `{"action": {"type": "test"}, "trigger": `+text+`}`))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	for text, want := range map[string]string{
		`"onSuccess": "a"`:     "onSuccess: ",
		`"onFailure": ["a b"]`: `onFailure[0]: "a b" is neither the name of a job nor collection/job`,
		`"onSuccess": ["` + strings.Repeat(`a", "`, 16) + `a"]`: "onSuccess: has 17 jobs, at most 16 are allowed",
	} {
		_, err := decoder("08:00:00").Definition(parseDocument(t, `{"action": {"type": "test"}, `+text+`}`))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	_, err := decoder("08:00:00").Definition(parseDocument(t, `{"action": {"type": "test"}, `+once+`, "trigger": {"on": {"source": "a"}}}`))
	if err == nil || !strings.Contains(err.Error(), "startTime: goes with recurrence") {
		t.Errorf("startTime: %v", err)
	}
}

// TestHears checks what a job listens to, also in another scope.
func TestHears(t *testing.T) {
	j := job(t, `"trigger": {"on": [{"source": "orders"}, {"subject": "sales.paid"}, {"job": "extract"}, {"job": "etl/load"}, {"source": "orders"},
		{"source": "orders", "filter": "event.data.a == 'b c'"}, {"source": "orders", "filter": "event.data.a > 7"}]},
		"onSuccess": ["notify", "etl/load"], "onFailure": ["notify"],
		"onlyIf": {"job": "check", "since": "PT1H", "waitUpTo": "PT1H"}`)
	stored := must.Get(j.Encode(nil))(t)
	need := expression.Need{Field: "event.data.a", Value: "b c"}
	scope := must.Get(scheduler.NewScope("s", "g"))(t)
	mark := scope.Mark()
	for _, row := range []struct {
		key  scheduler.Key
		want scheduler.Heard
	}{
		{scheduler.Key{Collection: "shop", Job: "a"}, scheduler.Heard{
			Events: []scheduler.Selection{
				{Topic: scheduler.Topic{Collection: "shop", Name: "orders"}},
				{Topic: scheduler.Topic{Collection: "sales", Name: "paid"}},
				{Topic: scheduler.Topic{Collection: "shop", Name: "orders"}, Need: need},
			},
			Jobs:   []scheduler.Key{{Collection: "shop", Job: "extract"}, {Collection: "etl", Job: "load"}, {Collection: "shop", Job: "check"}},
			Starts: []scheduler.Key{{Collection: "shop", Job: "notify"}, {Collection: "etl", Job: "load"}},
			Asks:   []scheduler.Key{{Collection: "shop", Job: "check"}},
		}},
		{scheduler.Key{Collection: scope.Collection("shop"), Job: "a"}, scheduler.Heard{
			Events: []scheduler.Selection{
				{Topic: scheduler.Topic{Collection: "shop" + mark, Name: "orders"}},
				{Topic: scheduler.Topic{Collection: "sales" + mark, Name: "paid"}},
				{Topic: scheduler.Topic{Collection: "shop" + mark, Name: "orders"}, Need: need},
			},
			Jobs:   []scheduler.Key{{Collection: "shop" + mark, Job: "extract"}, {Collection: "etl" + mark, Job: "load"}, {Collection: "shop" + mark, Job: "check"}},
			Starts: []scheduler.Key{{Collection: "shop" + mark, Job: "notify"}, {Collection: "etl" + mark, Job: "load"}},
			Asks:   []scheduler.Key{{Collection: "shop" + mark, Job: "check"}},
		}},
	} {
		if diff := cmp.Diff(row.want, j.Def.Hears(row.key)); diff != "" {
			t.Errorf("%s: %s", row.key, diff)
		}
		if diff := cmp.Diff(row.want, scheduler.StoredLinks(stored).Hears(row.key)); diff != "" {
			t.Errorf("%s, stored: %s", row.key, diff)
		}
		var again scheduler.Heard
		must.Do(t, json.Unmarshal(must.Get(json.Marshal(row.want))(t), &again))
		if diff := cmp.Diff(row.want, again); diff != "" {
			t.Errorf("%s, encoded and decoded: %s", row.key, diff)
		}
	}
	damaged := []byte(`{"a":1,"properties":{"trigger":{"on":[{}]}}}`)
	if h := scheduler.StoredLinks(damaged).Hears(scheduler.KeyIn("", "a")); !h.IsEmpty() {
		t.Errorf("a listener without a source hears %+v", h)
	}
}

// TestTriggerAlone checks that a job with only a trigger waits for ever, and that the trigger is part of its schedule
// only if it replaces the recurrence.
func TestTriggerAlone(t *testing.T) {
	alone := job(t, `"trigger": {"on": {"source": "a"}}`)
	if first, ok := alone.Plan.First(); !ok || !first.Equal(scheduler.EndOfTime) {
		t.Errorf("first %s, %t", first, ok)
	}
	other := edited(t, alone, "08:30:00", `"trigger": {"on": {"source": "b"}}`)
	if other.ScheduleGen != alone.ScheduleGen {
		t.Error("another listener begins a new schedule")
	}
	if timed := edited(t, alone, "08:30:00", `"recurrence": {"frequency": "Hour"}`); timed.ScheduleGen == alone.ScheduleGen {
		t.Error("a recurrence begins no new schedule")
	}
}

// TestNewEvent checks events of messages in all forms.
func TestNewEvent(t *testing.T) {
	topic := scheduler.Topic{Collection: "shop", Name: "orders"}
	for name, row := range map[string]struct {
		header map[string][]string
		body   string
		want   scheduler.Event
		wrong  string
	}{
		"JSON": {nil, `{"total": 7}`, scheduler.Event{Data: json.RawMessage(`{"total": 7}`)}, ""},
		"text": {nil, `no "JSON"`, scheduler.Event{Data: json.RawMessage(`"no \"JSON\""`)}, ""},
		"bytes": {nil, "\xff\x00", scheduler.Event{
			Data: json.RawMessage(`"/wA="`), Attributes: map[string]string{"datacontentencoding": "base64"},
		}, ""},
		"nothing": {nil, ``, scheduler.Event{}, ""},
		"headers": {map[string][]string{"Nats-Msg-Id": {"7"}, "X-Shop": {"a", "b"}, "Nats-Stream": {"S"}}, `1`, scheduler.Event{
			ID: "7", Data: json.RawMessage(`1`), Attributes: map[string]string{"x-shop": "a"},
		}, ""},
		"CloudEvent, binary": {map[string][]string{"ce-id": {"7"}, "ce-type": {"paid"}, "Content-Type": {"application/json"}}, `1`, scheduler.Event{
			ID: "7", Data: json.RawMessage(`1`), Attributes: map[string]string{"id": "7", "type": "paid", "content-type": "application/json"},
		}, ""},
		"CloudEvent and other headers": {map[string][]string{
			"Ce-Type": {"paid"}, "type": {"plain"}, "Source": {"plain"}, "ce-source": {"/shop"}, "Ce-Content-Type": {"application/cloudevents+json"},
		}, `1`, scheduler.Event{Data: json.RawMessage(`1`), Attributes: map[string]string{
			"type": "paid", "source": "/shop", "ce-content-type": "application/cloudevents+json",
		}}, ""},
		"a long ID": {
			map[string][]string{"Nats-Msg-Id": {"shop.orders/" + strings.Repeat("x", 257)}},
			`1`,
			scheduler.Event{},
			"the ID of the event has 257 bytes, at most 256 are allowed",
		},
		"CloudEvent, structured": {
			map[string][]string{"Content-Type": {"application/cloudevents+json; charset=utf-8"}},
			`{"specversion": "1.0", "id": "7", "source": "/shop", "type": "paid", "n": 3, "data": {"total": 7}}`,
			scheduler.Event{
				ID: "7", Data: json.RawMessage(`{"total": 7}`),
				Attributes: map[string]string{"specversion": "1.0", "id": "7", "source": "/shop", "type": "paid", "n": "3"},
			},
			"",
		},
		"CloudEvent, base64": {
			map[string][]string{"Content-Type": {"application/cloudevents+json"}},
			`{"specversion": "1.0", "id": "7", "source": "/shop", "type": "paid", "data_base64": "aGk="}`,
			scheduler.Event{
				ID: "7", Data: json.RawMessage(`"hi"`),
				Attributes: map[string]string{"specversion": "1.0", "id": "7", "source": "/shop", "type": "paid"},
			},
			"",
		},
		"CloudEvent without a type": {
			map[string][]string{"Content-Type": {"application/cloudevents+json"}},
			`{"specversion": "1.0", "id": "7", "source": "/shop"}`,
			scheduler.Event{},
			"type: is missing: a CloudEvent requires it",
		},
		"CloudEvent, not an object": {map[string][]string{"Content-Type": {"application/cloudevents+json"}}, `[]`, scheduler.Event{}, "is not a CloudEvent"},
		"too large":                 {nil, strings.Repeat("x", scheduler.MaxEventSize+1), scheduler.Event{}, "the event has 65537 bytes, at most 65536 are allowed"},
	} {
		got, err := scheduler.NewEvent(topic, row.header, []byte(row.body))
		if row.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), row.wrong) {
				t.Errorf("%s: %v, want %q", name, err, row.wrong)
			}
			continue
		}
		row.want.Topic = topic
		if row.want.Attributes == nil {
			row.want.Attributes = map[string]string{}
		}
		if diff := cmp.Diff(row.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v %s", name, err, diff)
		}
	}
}

// TestMatch checks which events start a job, and why others do not.
func TestMatch(t *testing.T) {
	up := &scheduler.Upstream{Job: scheduler.Key{Collection: key.Collection, Job: "extract"}, Outcome: scheduler.OutcomeFaulted, Depth: 3}
	naming := &scheduler.Upstream{
		Job: scheduler.Key{Collection: "etl", Job: "load"}, Name: "etl/load", Outcome: scheduler.OutcomeCompleted, Starts: []scheduler.Key{key},
	}
	recovered := &scheduler.Upstream{Job: up.Job, Outcome: scheduler.OutcomeCompleted, Recovered: true}
	orders := scheduler.Topic{Collection: key.Collection, Name: "orders"}
	const on = `"trigger": {"on": [{"source": "orders", "filter": "event.data.total > 10", "key": "event.data.id"}, {"job": "extract", "outcome": "any"}]`
	for name, row := range map[string]struct {
		fields string
		state  scheduler.State
		event  scheduler.Event
		want   scheduler.Match
	}{
		"matches": {
			on + `}`, "",
			scheduler.Event{Topic: orders, Data: json.RawMessage(`{"total": 11, "id": 4}`)},
			scheduler.Match{Verdict: scheduler.Matches, Key: "4", Due: at("09:00:00")},
		},
		"a key with more digits than a double has": {
			on + `}`, "",
			scheduler.Event{Topic: orders, Data: json.RawMessage(`{"total": 11, "id": 1234567890123456789}`)},
			scheduler.Match{Verdict: scheduler.Matches, Key: "1234567890123456789", Due: at("09:00:00")},
		},
		"a limit of the job": {
			`"data": {"least": 10}, "trigger": {"on": {"source": "orders", "filter": "event.data.total > job.data.least"}}`, "",
			scheduler.Event{Topic: orders, Data: json.RawMessage(`{"total": 11}`)},
			scheduler.Match{Verdict: scheduler.Matches, Due: at("09:00:00")},
		},
		"filter is false": {
			on + `}`, "",
			scheduler.Event{Topic: orders, Data: json.RawMessage(`{"total": 10, "id": 4}`)},
			scheduler.Match{Why: "filter was false: event.data.total is 10"},
		},
		"filter cannot be evaluated": {
			on + `}`, "",
			scheduler.Event{Topic: orders, Data: json.RawMessage(`{}`)},
			scheduler.Match{Verdict: scheduler.Refuses, Why: "trigger.on[0].filter: event.data.total is missing"},
		},
		"another topic": {
			on + `}`, "",
			scheduler.Event{Topic: scheduler.Topic{Collection: "other", Name: "orders"}},
			scheduler.Match{Why: "no listener of the job selects it"},
		},
		"upstream": {on + `}`, "", scheduler.Event{Upstream: up}, scheduler.Match{Verdict: scheduler.Matches, Listener: 1, Due: at("09:00:00")}},
		"upstream, too deep": {
			on + `, "maxDepth": 3}`, "",
			scheduler.Event{Upstream: up},
			scheduler.Match{Verdict: scheduler.Refuses, Why: "4 jobs have started each other, at most 3 may (maxDepth)"},
		},
		"disabled": {on + `}`, scheduler.Disabled, scheduler.Event{Upstream: up}, scheduler.Match{Why: "the job is disabled"}},
		"older than the job": {
			on + `}`, "",
			scheduler.Event{Upstream: up, Time: at("07:00:00")},
			scheduler.Match{Why: "the event is older than the job"},
		},
		"no trigger": {once, "", scheduler.Event{Upstream: up}, scheduler.Match{Why: "the job has no trigger"}},
		"named by another job": {
			once, "",
			scheduler.Event{Upstream: naming},
			scheduler.Match{Verdict: scheduler.Matches, Listener: -1, Due: at("09:00:00")},
		},
		"named, and listens": {
			`"trigger": {"on": {"job": "etl/load", "filter": "false"}, "delay": "PT5M"}`, "",
			scheduler.Event{Upstream: naming},
			scheduler.Match{Verdict: scheduler.Matches, Listener: -1, Due: at("09:05:00")},
		},
		"named, with require all": {
			on + `, "require": "all", "within": "PT1H"}`, "",
			scheduler.Event{Upstream: naming},
			scheduler.Match{
				Verdict: scheduler.Refuses,
				Why:     "trigger.require: all: etl/load starts the job by onSuccess or onFailure, and is not in trigger.on",
			},
		},
		"named, disabled": {once, scheduler.Disabled, scheduler.Event{Upstream: naming}, scheduler.Match{Why: "the job is disabled"}},
		"recovered": {
			`"trigger": {"on": {"job": "extract", "outcome": "recovered"}}`, "",
			scheduler.Event{Upstream: recovered},
			scheduler.Match{Verdict: scheduler.Matches, Due: at("09:00:00")},
		},
		"completed again": {
			`"trigger": {"on": {"job": "extract", "outcome": "recovered"}}`, "",
			scheduler.Event{Upstream: &scheduler.Upstream{Job: up.Job, Outcome: scheduler.OutcomeCompleted}},
			scheduler.Match{Why: "no listener of the job selects it"},
		},
		"delay": {
			on + `, "delay": "PT5M"}`, "",
			scheduler.Event{Upstream: up},
			scheduler.Match{Verdict: scheduler.Matches, Listener: 1, Due: at("09:05:00")},
		},
		"delay has passed": {
			on + `, "delay": "event.time - duration('1h')"}`, "",
			scheduler.Event{Upstream: up},
			scheduler.Match{Verdict: scheduler.Matches, Listener: 1, Due: at("09:00:00")},
		},
		"delay too far": {
			on + `, "delay": "timestamp('9000-01-01T00:00:00Z')"}`, "",
			scheduler.Event{Upstream: up},
			scheduler.Match{Verdict: scheduler.Refuses, Why: "trigger.delay: 9000-01-01T00:00:00Z is too far in the future"},
		},
		"unless": {
			on + `, "delay": "PT1S", "unless": "event.data.paid"}`, "",
			scheduler.Event{Topic: orders, Data: json.RawMessage(`{"total": 11, "id": 4, "paid": true}`)},
			scheduler.Match{Verdict: scheduler.Cancels, Key: "4", Due: at("09:00:01")},
		},
	} {
		j := job(t, row.fields)
		if row.state != "" {
			j = in(row.state, j)
		}
		if row.event.Time.IsZero() {
			row.event.Time = at("09:00:00")
		}
		if diff := cmp.Diff(row.want, j.Match(&row.event)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestReact applies events to the baton that waits for their key, which the row before has left.
func TestReact(t *testing.T) {
	type row struct {
		second, sequence int
		data             string
		want             scheduler.Effect
		due              string
		events           string
	}
	for fields, rows := range map[string][]row{
		`"debounce": {"period": "PT10S", "max": "PT15S"}`: {
			{0, 1, `1`, scheduler.Arm, "09:00:10", "1"},
			{5, 3, `3`, scheduler.Arm, "09:00:15", "3"},
			{6, 3, `3`, scheduler.NoEffect, "09:00:15", "3"},
			{4, 2, `2`, scheduler.Arm, "09:00:15", "3"}, // late
			{12, 4, `4`, scheduler.Arm, "09:00:15", "4"},
			{15, 5, `5`, scheduler.Start, "09:00:15", "5"},
		},
		`"batch": {"size": 3, "wait": "PT1M"}`: {
			{0, 1, `1`, scheduler.Arm, "09:01:00", "1"},
			{1, 3, `3`, scheduler.Arm, "09:01:00", "1 3"},
			{1, 1, `1`, scheduler.NoEffect, "09:01:00", "1 3"},
			{2, 2, `2`, scheduler.Start, "09:00:02", "1 3 2"},
		},
		`"delay": "PT1M"`: {
			{0, 2, `2`, scheduler.Arm, "09:01:00", "2"},
			{5, 3, `3`, scheduler.Arm, "09:01:05", "3"},
			{1, 1, `1`, scheduler.NoEffect, "09:01:05", "3"}, // late
		},
		`"rateLimit": {"runs": 2, "period": "PT1M"}`: {
			{0, 1, `1`, scheduler.Allow, "09:01:00", ""},
			{1, 2, `2`, scheduler.Allow, "09:01:00", ""},
			{2, 3, `3`, scheduler.Limit, "", ""},
			{2, 1, `1`, scheduler.Allow, "09:01:00", ""}, // again: its run may be missing
			{60, 4, `4`, scheduler.Allow, "09:02:00", ""},
		},
		`"throttle": {"runs": 2, "period": "PT1M"}`: {
			{0, 1, `1`, scheduler.Allow, "09:01:00", ""},
			{1, 2, `2`, scheduler.Allow, "09:01:00", ""},
			{2, 3, `3`, scheduler.Allow, "09:02:00", ""},
			{2, 4, `4`, scheduler.Allow, "09:02:00", ""},
			{70, 5, `5`, scheduler.Allow, "09:03:00", ""},
			{70, 3, `3`, scheduler.Allow, "09:03:00", ""}, // again: its run may be missing
			{180, 6, `6`, scheduler.Allow, "09:04:00", ""},
		},
		`"delay": "PT1M", "unless": "event.data == 0"`: {
			{0, 1, `1`, scheduler.Arm, "09:01:00", "1"},
			{5, 2, `0`, scheduler.Withdraw, "09:01:05", ""},
			{5, 2, `0`, scheduler.Withdraw, "09:01:05", ""}, // again: it may have no record
			{4, 3, `3`, scheduler.Canceled, "09:01:05", ""}, // late: the cancellation came after it
			{6, 4, `4`, scheduler.Arm, "09:01:06", "4"},
			{5, 5, `0`, scheduler.NoEffect, "09:01:06", "4"}, // late: it canceled an earlier event
		},
		`"once": "PT1M"`: {
			{0, 1, `1`, scheduler.Allow, "09:01:00", ""},
			{1, 2, `2`, scheduler.NoEffect, "", ""},
		},
	} {
		t.Run(fields, func(t *testing.T) {
			j := job(t, `"trigger": {"on": {"source": "orders", "key": "'k'"}, `+fields+`}`)
			var waiting *scheduler.Baton
			for i, row := range rows {
				now := at("09:00:00").Add(time.Duration(row.second) * time.Second)
				e := &scheduler.Event{
					Topic:    scheduler.Topic{Collection: key.Collection, Name: "orders"},
					Sequence: uint64(row.sequence), Time: now, Data: json.RawMessage(row.data),
				}
				r := must.Get(j.React(e, j.Match(e), waiting, now))(t)
				if slices.Contains([]scheduler.Effect{scheduler.Arm, scheduler.Start, scheduler.Allow, scheduler.Withdraw}, r.Effect) {
					b := must.Get(scheduler.DecodeBaton(r.Baton.Encode()))(t) // as it is stored
					waiting = &b
				}
				if r.Effect != row.want {
					t.Errorf("row %d: effect %d, want %d", i, r.Effect, row.want)
				}
				if row.due != "" && !waiting.Due.Truncate(time.Second).Equal(at(row.due)) {
					t.Errorf("row %d: due %s, want %s", i, waiting.Due, row.due)
				}
				if r.Effect == scheduler.Allow && r.Due.Before(waiting.Due.Add(-time.Minute)) {
					t.Errorf("row %d: the run is due at %s, before its period, which ends at %s", i, r.Due, waiting.Due)
				}
				if got := dataOf(t, waiting.Events); row.events != "" && got != row.events {
					t.Errorf("row %d: events %q, want %q", i, got, row.events)
				}
			}
		})
	}
}

// dataOf returns the data of encoded events.
func dataOf(t *testing.T, events json.RawMessage) string {
	t.Helper()
	var all []scheduler.Event
	if events != nil {
		must.Do(t, json.Unmarshal(events, &all))
	}
	var data []string
	for _, e := range all {
		data = append(data, string(e.Data))
	}
	return strings.Join(data, " ")
}

// TestReactAfterEdit applies an event to the baton that an earlier trigger of the job has left for its key.
func TestReactAfterEdit(t *testing.T) {
	const once, unless, batch = `"once": "PT24H"`, `"delay": "PT1M", "unless": "event.data == 0"`, `"batch": {"size": 9, "wait": "PT1H"}`
	for name, row := range map[string]struct {
		before, data string // the trigger, and an event
		after, next  string // the trigger since the edit, and an event a minute later
		want         scheduler.Effect
	}{
		"counted, then delayed":   {once, `1`, unless, `2`, scheduler.Arm},
		"counted, then canceled":  {once, `1`, unless, `0`, scheduler.Arm}, // nothing waits: the cancellation is noted
		"counted, then collected": {once, `1`, batch, `2`, scheduler.Arm},
		"canceled, then counted":  {unless, `0`, once, `2`, scheduler.Allow},
		"delayed, then counted":   {unless, `1`, once, `2`, scheduler.Flush},
		"canceled again":          {unless, `0`, unless, `0`, scheduler.Arm},
	} {
		event := func(sequence uint64, at time.Time, data string) *scheduler.Event {
			return &scheduler.Event{
				Topic: scheduler.Topic{Collection: key.Collection, Name: "orders"}, Sequence: sequence, Time: at, Data: json.RawMessage(data),
			}
		}
		apply := func(trigger string, e *scheduler.Event, waiting *scheduler.Baton) scheduler.Reaction {
			j := job(t, `"trigger": {"on": {"source": "orders", "key": "'k'"}, `+trigger+`}`)
			return must.Get(j.React(e, j.Match(e), waiting, e.Time))(t)
		}
		left := apply(row.before, event(1, at("09:00:00"), row.data), nil).Baton
		next := at("09:00:30")
		r := apply(row.after, event(2, next, row.next), &left)
		if r.Effect != row.want {
			t.Errorf("%s: effect %d, want %d", name, r.Effect, row.want)
		}
		if name == "canceled again" { // an event between the two is canceled
			if r = apply(unless, event(3, at("09:00:20"), `1`), &r.Baton); r.Effect != scheduler.Canceled {
				t.Errorf("%s: effect %d, want %d", name, r.Effect, scheduler.Canceled)
			}
		}
	}
}
