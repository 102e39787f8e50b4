package worker_test

import (
	"slices"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// TestLanguages puts a job of every language, and checks when it runs first. What it runs at then is package spec's.
func TestLanguages(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		time.Sleep(time.Second) // past midnight, at which a job that is created in that very instant runs
		for name, test := range map[string]struct{ timing, want string }{
			"obsidian":          {`"recurrence": {"cron": "30 9,17 * * *"}`, "09:30:00"},
			"zone-of-the-job":   {`"timeZone": "America/New_York", "recurrence": {"cron": "0 9 * * *"}`, "14:00:00"},
			"zone-of-its-own":   {`"timeZone": "Asia/Tokyo", "recurrence": {"cron": "0 9 * * * * America/New_York"}`, "14:00:00"},
			"hello":             {`"recurrence": {"cron": "H H * * *", "dialect": "dsari"}`, "11:10:32"},
			"job1":              {`"recurrence": {"rrule": "RRULE:FREQ=DAILY", "dialect": "dsari"}`, "20:41:23"},
			"rfc5545":           {`"recurrence": {"rrule": "DTSTART:19990101T080000Z\nRRULE:FREQ=DAILY;BYHOUR=8,20\nEXRULE:FREQ=DAILY"}`, "20:00:00"},
			"start-for-DTSTART": {`"startTime": "1999-12-31T07:00:00Z", "recurrence": {"rrule": "RRULE:FREQ=HOURLY;INTERVAL=18"}`, "01:00:00"},
			"awx":               {`"recurrence": {"rrule": "DTSTART:19990102T080000Z RRULE:FREQ=DAILY;INTERVAL=2", "dialect": "awx"}`, "08:00:00"},
		} {
			w.put(name, `{`+action+`, `+test.timing+`}`)
			if next := w.get(name).Status.Next; !next.Equal(timeOfDay(t, test.want)) {
				t.Errorf("%s: runs first at %s, want %s", name, next, test.want)
			}
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
