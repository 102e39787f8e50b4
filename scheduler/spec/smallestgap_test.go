package spec_test

import (
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// TestSmallestGap measures how close two occurrences come, in every language.
func TestSmallestGap(t *testing.T) {
	const day = 24 * time.Hour
	tests := []struct {
		timing string
		want   time.Duration
	}{
		{`"recurrence":{"frequency":"minute","interval":20}`, 20 * time.Minute},
		{`"recurrence":{"frequency":"day","schedule":{"hours":[9,17]}}`, 8 * time.Hour},
		{`"recurrence":{"frequency":"day","schedule":{"minutes":[0,15,30,45],"hours":[9]}}`, 15 * time.Minute},
		{`"recurrence":{"frequency":"day","schedule":{"minutes":[0,15,30,45],"hours":[9]},"count":1}`, spec.Forever},
		{`"recurrence":{"frequency":"minute","count":2}`, time.Minute},
		{`"recurrence":{"frequency":"week","interval":2,"schedule":{"weekDays":["monday","sunday"]}}`, 6 * day},
		{`"recurrence":{"frequency":"month"}`, 28 * day},
		{`"recurrence":{"frequency":"month","schedule":{"monthDays":[-1]}}`, 28 * day},
		{`"recurrence":{"frequency":"month","schedule":{"monthDays":[1,31]}}`, day},
		{`"recurrence":{"frequency":"year","interval":1000}`, spec.Forever},
		{`"recurrence":{"frequency":"day","endTime":"2024-01-01"}`, spec.Forever},
		{`"recurrence":{"frequency":"day","anchor":"lastExecution"}`, 22 * time.Hour},

		{`"recurrence":{"cron":"*/20 * * * *"}`, 20 * time.Minute},
		{`"recurrence":{"cron":"59 23 * * *; 0 0 1 * *"}`, time.Minute},
		{`"recurrence":{"cron":"0 */2 * * *; 30 0 29 2 *"}`, 30 * time.Minute},
		{`"recurrence":{"cron":"* * * * *"}`, time.Minute},
		{`"recurrence":{"cron":"* * * * *","count":3}`, time.Minute},
		{`"recurrence":{"cron":"0 0 1 1 * 2030"}`, spec.Forever},
		{`"recurrence":{"cron":"0 9 31 2 *"}`, spec.Forever},
		{`"recurrence":{"cron":"0 0 * * * 5","dialect":"dsari"}`, day},
		{`"recurrence":{"cron":"0 9 * * * 0","dialect":"dsari"}`, day},
		{`"recurrence":{"cron":"@recur 90 minutes"}`, 90 * time.Minute},

		{`"recurrence":{"rrule":"DTSTART:20240101T000000Z RRULE:FREQ=DAILY RRULE:FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=31;BYHOUR=0;BYMINUTE=1"}`, time.Minute},
		{`"recurrence":{"rrule":"DTSTART:20240101T000000Z RRULE:FREQ=HOURLY EXRULE:FREQ=HOURLY;INTERVAL=2"}`, 2 * time.Hour},

		// What a change of the clock does is not how often a job runs.
		{`"timeZone":"America/New_York","recurrence":{"cron":"0 9 * * *"}`, day},
		{`"timeZone":"America/New_York","recurrence":{"cron":"30 2 * * *"}`, day},
		{`"timeZone":"America/New_York","dst":{"gap":"shift"},"recurrence":{"cron":"30 2 * * *"}`, day},
		{`"timeZone":"America/New_York","dst":{"overlap":"both"},"recurrence":{"cron":"30 1 * * *"}`, day},
		{`"timeZone":"America/New_York","recurrence":{"cron":"0 1-23/2 * * *"}`, 2 * time.Hour},
		{`"timeZone":"America/New_York","recurrence":{"cron":"30 2,3 * * *"}`, time.Hour},
		{`"timeZone":"Australia/Lord_Howe","recurrence":{"cron":"0 * * * *"}`, time.Hour},
	}
	for _, test := range tests {
		start := `"startTime":"2024-01-01",`
		p := must.Get(planOf([]byte(`{`+start+test.timing+`}`), instant(t, "2024-01-01")))(t)
		if got := p.SmallestGap(0); got != test.want {
			t.Errorf("%s: %v, want %v", test.timing, got, test.want)
		}
	}
}

// TestSmallestGapIgnoresRunAtOnce: a run at once shortly before the first occurrence does not make the job look frequent.
func TestSmallestGapIgnoresRunAtOnce(t *testing.T) {
	p := must.Get(planOf([]byte(`{"recurrence":{"frequency":"day","schedule":{"hours":[11],"minutes":[0]}}}`), instant(t, "2024-01-01T10:59:59Z")))(t)
	if got := p.SmallestGap(0); got != 24*time.Hour {
		t.Errorf("%v", got)
	}
}

// TestSmallestGapEndsEarly: what is closer than is asked for ends the search.
func TestSmallestGapEndsEarly(t *testing.T) {
	p := must.Get(planOf([]byte(`{"recurrence":{"cron":"0,50 0 * * *; 0 0 1 1 *; 1 0 1 1 *"}}`), instant(t, "2024-02-01")))(t)
	if got := p.SmallestGap(time.Hour); got != 50*time.Minute {
		t.Errorf("below an hour: %v", got)
	}
	if got := p.SmallestGap(0); got != time.Minute {
		t.Errorf("of all: %v", got)
	}
}

func BenchmarkSmallestGap(b *testing.B) {
	for _, timing := range []string{
		`{"recurrence":{"cron":"* * * * *"}}`,
		`{"recurrence":{"cron":"0 */2 * * *; 30 0 29 2 *"}}`,
		`{"startTime":"2024-01-01","recurrence":{"frequency":"minute"}}`,
		`{"recurrence":{"rrule":"DTSTART;TZID=Europe/Paris:20240101T000000 RRULE:FREQ=MINUTELY;INTERVAL=7 EXRULE:FREQ=HOURLY;BYMINUTE=3"}}`,
	} {
		b.Run(timing, func(b *testing.B) {
			p := must.Get(planOf([]byte(timing), time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)))(b)
			for b.Loop() {
				p.SmallestGap(time.Second)
			}
		})
	}
}
