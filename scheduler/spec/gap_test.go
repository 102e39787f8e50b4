package spec

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/instant"
)

// planOf returns the plan of a job whose timing is written in JSON.
func planOf(t *testing.T, properties string, created time.Time) *Plan {
	t.Helper()
	return must.Get(NewPlan(timingOf(t, properties, false), created))(t)
}

func TestDSTGap(t *testing.T) {
	tests := map[string]struct{ timing, want string }{
		"next is the policy": {`"recurrence": {"cron": "30 2 * * *"}`, ""},
		"skip":               {`"recurrence": {"cron": "30 2 * * *"}, "dst": {"gap": "skip"}`, "2026-03-08T07:00:00Z 1 2026-03-08 02:30"},
		"follows the clock":  {`"recurrence": {"cron": "0 * * * *"}`, "2026-03-08T07:00:00Z 1 2026-03-08 02:00"},
		"many":               {`"recurrence": {"cron": "*/5 * * * *"}`, "2026-03-08T07:00:00Z 12 2026-03-08 02:00 to 02:55"},
		"no time in the gap": {`"recurrence": {"cron": "30 3 * * *"}, "dst": {"gap": "skip"}`, ""},
		"another day":        {`"recurrence": {"cron": "30 2 9 3 *"}, "dst": {"gap": "skip"}`, ""},
		"a year later":       {`"recurrence": {"cron": "30 2 14 3 *"}, "dst": {"gap": "skip"}`, "2027-03-14T07:00:00Z 1 2027-03-14 02:30"},
		"AWX": {
			`"recurrence": {"rrule": "DTSTART;TZID=America/New_York:20260101T023000 RRULE:FREQ=DAILY;INTERVAL=1", "dialect": "awx"}`,
			"2026-03-08T07:00:00Z 1 2026-03-08 02:30",
		},
		"RFC 5545 shifts":    {`"recurrence": {"rrule": "DTSTART;TZID=America/New_York:20260101T023000\nRRULE:FREQ=DAILY"}`, ""},
		"union, common once": {`"recurrence": {"cron": "*/20 * * * * ; */30 * * * *"}`, "2026-03-08T07:00:00Z 4 2026-03-08 02:00 to 02:40"},
		"union, one of two":  {`"recurrence": {"cron": "*/20 * * * * ; 30 2 * * *"}`, "2026-03-08T07:00:00Z 3 2026-03-08 02:00 to 02:40"},
		"ended before":       {`"recurrence": {"cron": "0 * * * *", "endTime": "2026-03-08T06:59:59Z"}`, ""},
		"starts after":       {`"startTime": "2026-03-08T07:00:00Z", "recurrence": {"cron": "0 * * * *"}`, "2027-03-14T07:00:00Z 1 2027-03-14 02:00"},
		"ends with the change": {
			`"recurrence": {"cron": "30 2 * * *", "endTime": "2026-03-08T08:00:00Z"}, "dst": {"gap": "skip"}`,
			"2026-03-08T07:00:00Z 1 2026-03-08 02:30",
		},
		"Azure counts UTC": {`"recurrence": {"frequency": "hour", "interval": 1}`, ""},
		"once":             {`"dst": {"gap": "skip"}`, ""},
		"@recur in days":   {`"recurrence": {"cron": "@recur 1 day 2026-01-01 02:30"}, "dst": {"gap": "skip"}`, "2026-03-08T07:00:00Z 1 2026-03-08 02:30"},
	}
	created := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := planOf(t, `{"timeZone": "America/New_York", `+test.timing+`}`, created)
			got := ""
			if g, ok := p.DSTGap(created, created.AddDate(2, 0, 0)); ok {
				got = g.At.Format(time.RFC3339) + " " + strconv.Itoa(g.Count) + " " + g.Text
			}
			if test.want == "" && got != "" || !strings.HasPrefix(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// What a gap takes is every local time, of the second before a change on, that no instant shows; found out second
// by second in zones whose clocks jump by an hour, by half of one, by a day and at midnight.
func TestDSTGapEverySecond(t *testing.T) {
	zones := []string{"America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "America/Sao_Paulo", "Africa/Casablanca", "UTC"}
	rules := []string{"*/7 * * * *", "30 2 * * *", "0 0 * * *", "15 0,2 * * * ; */9 * * * *"}
	from, to := time.Date(2011, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2013, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, name := range zones {
		zone := must.Get(LoadZone(name))(t)
		for _, text := range rules {
			rule := must.Get(ParseCron(text, Obsidian))(t)
			recurrence := &Recurrence{Rule: rule}
			p := must.Get(NewPlan(Timing{Zone: zone, DST: DST{Gap: GapSkip, Overlap: instant.OverlapFirst}, Recurrence: recurrence}, from))(t)
			local := must.Get(NewPlan(Timing{Recurrence: recurrence}, from.AddDate(0, -1, 0)))(t)
			want := jumpedOver(zone, local, from, to)
			for after := from; ; {
				g, ok := p.DSTGap(after, to)
				if !ok {
					break
				}
				if want[g.At] != g.Count {
					t.Errorf("%s in %s: %d left out at %s, want %d", text, name, g.Count, g.At, want[g.At])
				}
				delete(want, g.At)
				after = g.At
			}
			if len(want) > 0 {
				t.Errorf("%s in %s: not found: %v", text, name, want)
			}
		}
	}
}

// jumpedOver counts the times of a plan, which counts in UTC, that the clock of a zone jumps over at each change.
func jumpedOver(zone *time.Location, local *Plan, from, to time.Time) map[time.Time]int {
	counts := map[time.Time]int{}
	_, before := from.In(zone).Zone()
	for t := from; !t.After(to); t = t.Add(15 * time.Minute) { // no clock is changed at other times
		_, offset := t.In(zone).Zone()
		for w := before; w < offset; w++ {
			at := t.Add(time.Duration(w) * time.Second)
			if local.Count(at, at) > 0 {
				counts[t]++
			}
		}
		before = offset
	}
	return counts
}

func BenchmarkDSTGap(b *testing.B) {
	zone := must.Get(LoadZone("America/New_York"))(b)
	rule := must.Get(ParseCron("* * * * *", Obsidian))(b)
	start := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	p := must.Get(NewPlan(Timing{Zone: zone, Recurrence: &Recurrence{Rule: rule}}, start))(b)
	b.ReportAllocs()
	for b.Loop() {
		p.DSTGap(start, start.Add(time.Minute))
	}
}
