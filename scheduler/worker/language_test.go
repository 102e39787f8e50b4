package worker_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/service"
)

// calledAt returns when the target was called for a job, to the second.
func (w *world) calledAt(name string) []string {
	var times []string
	for _, c := range w.sink.seen() {
		if strings.HasPrefix(c.key, key(name).String()+"@") {
			times = append(times, c.at.UTC().Format("01-02T15:04:05"))
		}
	}
	return times
}

// TestLanguages runs a job of every language for two days.
func TestLanguages(t *testing.T) {
	tests := []struct {
		name, timing string
		want         []string
	}{
		{"obsidian", `"recurrence": {"cron": "30 9,17 * * *"}`, []string{"01-01T09:30:00", "01-01T17:30:00"}},
		{"zone-of-the-job", `"timeZone": "America/New_York", "recurrence": {"cron": "0 9 * * *"}`, []string{"01-01T14:00:00"}},
		{"zone-of-its-own", `"timeZone": "Asia/Tokyo", "recurrence": {"cron": "0 9 * * * * America/New_York"}`, []string{"01-01T14:00:00"}},
		{"hello", `"recurrence": {"cron": "H H * * *", "dialect": "dsari"}`, []string{"01-01T11:10:32"}},
		{"job1", `"recurrence": {"rrule": "RRULE:FREQ=DAILY", "dialect": "dsari"}`, []string{"01-01T20:41:23"}},
		{"rfc5545", `"recurrence": {"rrule": "DTSTART:19990101T080000Z\nRRULE:FREQ=DAILY;BYHOUR=8,20\nEXRULE:FREQ=DAILY"}`, []string{"01-01T20:00:00"}},
		{"start-for-DTSTART", `"startTime": "1999-12-31T07:00:00Z", "recurrence": {"rrule": "RRULE:FREQ=HOURLY;INTERVAL=18"}`, []string{"01-01T01:00:00", "01-01T19:00:00"}},
		{"awx", `"recurrence": {"rrule": "DTSTART:19990102T080000Z RRULE:FREQ=DAILY;INTERVAL=2", "dialect": "awx"}`, []string{"01-01T08:00:00"}},
		{"count", `"recurrence": {"cron": "0 * * * *", "count": 2}`, []string{"01-01T01:00:00", "01-01T02:00:00"}},
		{"end", `"recurrence": {"cron": "0 */8 * * *", "endTime": "2000-01-01T16:00:00Z"}`, []string{"01-01T08:00:00", "01-01T16:00:00"}},
	}
	inBubble(t, func(t *testing.T, w *world) {
		time.Sleep(time.Second) // past midnight, at which a job that is created in that very instant runs
		for _, test := range tests {
			w.put(test.name, `{`+action+`, `+test.timing+`}`)
		}
		time.Sleep(time.Until(time.Date(2000, 1, 1, 21, 0, 0, 0, time.UTC)))
		for _, test := range tests {
			if got := w.calledAt(test.name); !slices.Equal(got, test.want) {
				t.Errorf("%s: called at\n     %v\nwant %v", test.name, got, test.want)
			}
		}
	})
}

// TestRecurMoves shows that an @recur counts from the last execution, one by hand included (Obsidian Scheduler, "Scheduling Jobs", the note on ad hoc
// jobs).
func TestRecurMoves(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		start := time.Now().UTC()
		w.put("job", `{`+action+`, "recurrence": {"cron": "@recur 3 hours"}}`)
		time.Sleep(4 * time.Hour)
		w.must(w.service.Trigger(t.Context(), key("job")))
		time.Sleep(6*time.Hour + time.Minute)
		var got []time.Duration
		for _, c := range w.sink.seen() {
			got = append(got, c.at.Sub(start).Truncate(time.Minute))
		}
		want := []time.Duration{0, 3 * time.Hour, 4 * time.Hour, 7 * time.Hour, 10 * time.Hour}
		if !slices.Equal(got, want) {
			t.Errorf("called after %v, want %v", got, want)
		}
	})
}

// TestQuotaOfRules shows that calendar days and months, and a job's own hash, satisfy a quota in their units.
func TestQuotaOfRules(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		tests := []struct {
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
		}
		for _, test := range tests {
			if _, _, err := w.service.PutCollection(t.Context(), "quota", []byte(`{"properties": {"quota": {"maxRecurrence": {"frequency": `+test.quota+`}}}}`)); err != nil {
				t.Fatal(err)
			}
			_, _, err := w.service.Put(t.Context(), service.Edit{
				Key: scheduler.Key{Collection: "quota", Job: "job1"}, Body: []byte(`{"state": "disabled", ` + action + `, ` + test.timing + `}`),
			})
			if errors.Is(err, scheduler.ErrConflict) != test.refused || err != nil && !test.refused {
				t.Errorf("%s under %s: %v", test.timing, test.quota, err)
			}
		}
	})
}

// TestZoneEdit shows that a new zone plans the job anew.
func TestZoneEdit(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.put("job", `{`+action+`, "timeZone": "America/New_York", "recurrence": {"cron": "0 12 * * *"}}`)
		before := w.get("job").Status.Next
		_, err := w.service.Patch(t.Context(), service.Edit{Key: key("job"), Body: []byte(`{"timeZone": "Europe/Paris"}`)})
		w.must(nil, err)
		after := w.get("job").Status.Next
		if before.UTC().Hour() != 17 || after.UTC().Hour() != 11 {
			t.Errorf("next run at %s, then at %s", before, after)
		}
	})
}

// TestRecurCountsFromTheExecution shows that an @recur counts from when its last execution began, late by an outage or by its
// jitter, and not from retries; unless it is to keep its grid.
func TestRecurCountsFromTheExecution(t *testing.T) {
	tests := []struct {
		name, more string
		want       []time.Duration
	}{
		{"job", `"recurrence": {"cron": "@recur 1 minute"}`, []time.Duration{0, 110500, 170500, 230500}},
		{"allow", `"overlap": "allow", "recurrence": {"cron": "@recur 1 minute"}`, []time.Duration{0, 110500, 170500, 230500}},
		{"grid", `"recurrence": {"cron": "@recur 1 minute", "anchor": "grid"}`, []time.Duration{0, 110500, 120000, 180000, 240000}},
		{"anchored", `"recurrence": {"frequency": "minute", "anchor": "lastExecution"}`, []time.Duration{0, 110500, 170500, 230500}},
	}
	inBubble(t, func(t *testing.T, w *world) {
		start := time.Now().UTC().Truncate(time.Minute).Add(2 * time.Minute)
		begin := `{` + action + `, "startTime": "` + start.Format(time.RFC3339) + `", `
		for _, test := range tests {
			w.put(test.name, begin+test.more+`}`)
		}
		w.put("jitter", begin+`"jitter": "PT40S", "recurrence": {"cron": "@recur 1 minute"}}`)
		time.Sleep(time.Until(start.Add(50 * time.Second)))
		w.stopWorker()
		time.Sleep(time.Until(start.Add(110500 * time.Millisecond)))
		w.startWorker()
		time.Sleep(time.Until(start.Add(245 * time.Second)))
		for _, test := range tests {
			var got []time.Duration
			for _, r := range w.history(test.name) {
				if r.IsAttempt() {
					got = append(got, r.Started.Sub(start)/time.Millisecond)
				}
			}
			slices.Sort(got)
			if !slices.Equal(got, test.want) {
				t.Errorf("%s: began after %d ms, want %d", test.name, got, test.want)
			}
		}
		var last *scheduler.Record
		for _, r := range w.history("jitter") {
			if last != nil && !r.Nominal.Equal(last.Started.Add(time.Minute)) {
				t.Errorf("jitter: an execution that began at %s is followed by the occurrence of %s", last.Started, r.Nominal)
			}
			if last = r; r.Started.Sub(r.Nominal) < time.Second {
				t.Errorf("jitter: the occurrence of %s began at %s, which shows nothing", r.Nominal, r.Started)
			}
		}
	})
}
