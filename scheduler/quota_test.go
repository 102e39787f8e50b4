package scheduler_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
)

// collection parses the properties of a collection.
func collection(t *testing.T, properties string) *scheduler.Collection {
	t.Helper()
	return must.Get(scheduler.ReadCollection("quota", parseDocument(t, `{"properties": {`+properties+`}}`)))(t)
}

// TestMinRetryInterval parses retry policies in collections with a minimum interval: a default is raised and written
// out, and an explicit shorter interval is rejected.
func TestMinRetryInterval(t *testing.T) {
	const free, two = `"sku": {"name": "free"}`, `"minRetryInterval": "PT2M"`
	const raised = `"retryPolicy":{"retryInterval":"PT2M"}`
	for _, row := range []struct {
		name, collection, action string
		want                     string        // how the action is stored, or what is wrong with it
		main, onError            time.Duration // the first retry after
	}{
		{"no minimum", ``, ``, `{"type":"None"}`, 30 * time.Second, 0},
		{"a minimum below the default", `"minRetryInterval": "PT1S"`, ``, `{"type":"None"}`, 30 * time.Second, 0},
		{"no policy", two, ``, `{"type":"None",` + raised + `}`, 2 * time.Minute, 0},
		{"a policy without an interval", two, `, "retryPolicy": {"retryCount": 2}`, `{"type":"None","retryPolicy":{"retryCount":2,"retryInterval":"PT2M"}}`, 2 * time.Minute, 0},
		{"null for a policy", two, `, "retryPolicy": null`, `{"type":"None",` + raised + `}`, 2 * time.Minute, 0},
		{"an exponential one without an interval", two, `, "retryPolicy": {"retryType": "exponential", "jitter": "PT0S"}`, `{"type":"None","retryPolicy":{"retryType":"exponential","jitter":"PT0S","retryInterval":"PT2M"}}`, 2 * time.Minute, 0},
		{"none", two, `, "retryPolicy": {"retryType": "none"}`, `{"type":"None","retryPolicy":{"retryType":"none"}}`, 0, 0},
		{"an interval that is long enough", two, `, "retryPolicy": {"retryInterval": "PT3M"}`, `{"type":"None","retryPolicy":{"retryInterval":"PT3M"}}`, 3 * time.Minute, 0},
		{"one that is too short", two, `, "retryPolicy": {"retryInterval": "PT30S"}`, "action.retryPolicy.retryInterval: PT30S is shorter than the allowed PT2M", 0, 0},
		{
			"the second errorAction has a policy without an interval", two,
			`, "errorAction": [{"type": "None"}, {"type": "None", "retryPolicy": {"retryCount": 2}}]`,
			`{"type":"None","errorAction":[{"type":"None"},{"type":"None","retryPolicy":{"retryCount":2,"retryInterval":"PT2M"}}],` + raised + `}`,
			2 * time.Minute, 2 * time.Minute,
		},
		{"an errorAction without a policy", two, `, "errorAction": {"type": "None"}`, `{"type":"None","errorAction":{"type":"None"},` + raised + `}`, 2 * time.Minute, 2 * time.Minute},
		{
			"an errorAction without an interval", two, `, "retryPolicy": {"retryType": "none"}, "errorAction": {"type": "None", "retryPolicy": {"retryCount": 1}}`,
			`{"type":"None","retryPolicy":{"retryType":"none"},"errorAction":{"type":"None","retryPolicy":{"retryCount":1,"retryInterval":"PT2M"}}}`, 0, 2 * time.Minute,
		},
		{"the free plan", free, ``, `{"type":"None","retryPolicy":{"retryInterval":"PT1H"}}`, time.Hour, 0},
		{"the free plan, with a lower minimum", free + `, ` + two, `, "retryPolicy": {"retryInterval": "PT2M"}`, "action.retryPolicy.retryInterval: PT2M is shorter than the allowed PT1H", 0, 0},
	} {
		reading := decoder("08:00:00")
		reading.Limits = collection(t, row.collection).Limits(scheduler.Limits{MinRetryInterval: time.Second})
		def, err := reading.Definition(parseDocument(t, `{"action": {"type": "None"`+row.action+`}}`))
		if err != nil {
			mustSay(t, row.name, err.Error(), row.want)
			continue
		}
		mustSay(t, row.name, string(def.Properties()), `{"action":`+row.want+`}`)
		j := must.Get(scheduler.NewJob(key, uid, def, at("08:00:00"), 0))(t)
		j = must.Get(scheduler.DecodeJob(key, 1, must.Get(j.Encode(nil))(t), noActions{}, nil))(t)
		specs := []*scheduler.ActionSpec{&j.Def.Action}
		for i := range j.Def.Action.OnError {
			specs = append(specs, &j.Def.Action.OnError[i])
		}
		for _, spec := range specs {
			want := row.main
			if spec != &j.Def.Action {
				want = row.onError
			}
			due, ok := spec.Retry.Next(0, "id", scheduler.Result{Failed: true}, at("09:00:00"))
			if ok != (want > 0) || ok && due.Sub(at("09:00:00")) != want {
				t.Errorf("%s: as stored, the next try is after %v, %v; want %v", row.name, due.Sub(at("09:00:00")), ok, want)
			}
		}
	}
}

// TestMinRetryIntervalOfDefaults checks that the retry policy of defaults has the limits of a job's, and stays as it
// was stored if the limits of the process change.
func TestMinRetryIntervalOfDefaults(t *testing.T) {
	const two, short = `"minRetryInterval": "PT2M"`, `{"retryInterval": "PT2S"}`
	for _, row := range []struct {
		name, collection, policy string
		process                  time.Duration
		want                     string        // what is wrong
		after                    time.Duration // the first retry of a job that inherits the policy
	}{
		{"a process that allows it", ``, short, time.Second, "", 2 * time.Second},
		{"one that does not", ``, short, 0, "properties.defaults.retryPolicy.retryInterval: PT2S is shorter than the allowed PT15S", 0},
		{"a collection that does not", two, short, time.Second, "properties.defaults.retryPolicy.retryInterval: PT2S is shorter than the allowed PT2M", 0},
		{"the free plan", `"sku": {"name": "Free"}`, short, time.Second, "properties.defaults.retryPolicy.retryInterval: PT2S is shorter than the allowed PT1H", 0},
		{"no interval, in a collection with a minimum", two, `{"retryCount": 2}`, time.Second, "", 2 * time.Minute},
		{"none, in a collection with a minimum", two, `{"retryType": "none"}`, time.Second, "", 0},
		{"no interval, in a process with one", ``, `{"retryCount": 2}`, time.Minute, "", time.Minute},
	} {
		c := collection(t, strings.TrimPrefix(row.collection+`, "defaults": {"retryPolicy": `+row.policy+`}`, ", "))
		limits := scheduler.Limits{MinRetryInterval: row.process}
		if _, err := c.ReadDefaults(noActions{}, limits); err != nil || row.want != "" {
			mustSay(t, row.name, fmt.Sprint(err), row.want)
			continue
		}
		c = must.Get(scheduler.DecodeCollection("quota", 1, must.Get(c.Encode())(t)))(t)
		c.Defaults = must.Get(c.ReadDefaults(noActions{}, scheduler.Limits{}))(t)
		reading := decoder("08:00:00")
		reading.Limits = c.Limits(limits)
		def := must.Get(reading.Definition(parseDocument(t, `{"action": {"type": "None"}}`)))(t)
		j := must.Get(scheduler.NewJob(key, uid, def, at("08:00:00"), 0))(t)
		due, ok := j.Inheriting(c.Defaults).Def.Action.Retry.Next(0, "id", scheduler.Result{Failed: true}, at("09:00:00"))
		if got := due.Sub(at("09:00:00")); ok != (row.after > 0) || ok && got != row.after {
			t.Errorf("%s: the next try is after %v, %v; want %v", row.name, got, ok, row.after)
		}
	}
}

// TestAdmits covers exceeded recurrence quotas.
func TestAdmits(t *testing.T) {
	c := collection(t, `"quota": {"maxRecurrence": {"frequency": "hour", "interval": 2}}`)
	if err := c.Admits(definition(t, "08:00:00", once), decoder("08:00:00")); err != nil {
		t.Errorf("it does not recur: %v", err)
	}
	err := c.Admits(definition(t, "08:00:00", once+`, "recurrence": {"cron": "0 9,10 * * *"}`), decoder("08:00:00"))
	const want = "two occurrences are PT1H apart, and the quota of collection quota (maxRecurrence) allows one every 2 hours"
	if !errors.Is(err, scheduler.ErrConflict) || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want a conflict: %s", err, want)
	}
}

// TestAdmitsRules checks that calendar days and months, and a job's hash, satisfy a quota in their units.
func TestAdmitsRules(t *testing.T) {
	for _, row := range []struct {
		quota, timing string
		refused       bool
	}{
		{`"day"`, `"timeZone": "America/New_York", "recurrence": {"cron": "0 9 * * *"}`, false},
		{`"day"`, `"recurrence": {"cron": "0 9,10 * * *"}`, true},
		{`"month"`, `"recurrence": {"cron": "0 9 1 * *"}`, false},
		{`"month"`, `"recurrence": {"cron": "0 9 1,15 * *"}`, true},
		{`"minute", "interval": 30`, `"recurrence": {"cron": "H/59 * * * *", "dialect": "dsari"}`, false},
		{`"hour"`, `"recurrence": {"cron": "*/30 * * * *"}`, true},
		{`"hour"`, `"recurrence": {"frequency": "day", "schedule": {"minutes": [0, 15, 30, 45]}}`, true},
		{`"hour"`, `"recurrence": {"frequency": "day", "schedule": {"minutes": [0]}}`, false},
		{`"hour"`, `"recurrence": {"frequency": "minute", "interval": 60}`, false},
		{`"hour"`, `"recurrence": {"frequency": "minute", "interval": 59}`, true},
		{`"hour"`, `"recurrence": {"cron": "0 9 * * *; 30 9 1 1 *"}`, true},
		{`"hour"`, `"recurrence": {"cron": "@recur 59 minutes"}`, true},
		{`"hour"`, `"recurrence": {"rrule": "DTSTART:20240101T000000Z RRULE:FREQ=DAILY RRULE:FREQ=DAILY;BYHOUR=0;BYMINUTE=59"}`, true},
		{`"hour"`, `"timeZone": "America/New_York", "recurrence": {"cron": "30 1,2,3 * * *"}`, false},
		{`"week"`, `"recurrence": {"frequency": "week", "anchor": "lastExecution"}`, false},
		{`"month"`, `"recurrence": {"frequency": "month"}`, false},
	} {
		c := collection(t, `"quota": {"maxRecurrence": {"frequency": `+row.quota+`}}`)
		def := definition(t, "08:00:00", `"action": {"type": "None"}, `+row.timing)
		err := c.Admits(def, decoder("08:00:00"))
		if errors.Is(err, scheduler.ErrConflict) != row.refused || err != nil && !row.refused {
			t.Errorf("%s in %s: %v", row.timing, row.quota, err)
		}
	}
}
