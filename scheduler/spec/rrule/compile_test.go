package rrule

import (
	"slices"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/instant"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/language"
)

// TestRRuleFar shows that long exclusions, and ends of rules and exclusions, neither end a set early nor lose a part of
// it, and that no UNTIL is passed.
func TestRRuleFar(t *testing.T) {
	tests := []struct {
		name, text string
		dst        instant.DST
		after      string
		want       []string
	}{
		{
			"months out of minutes", "DTSTART:20260101T000000Z RRULE:FREQ=MINUTELY EXRULE:FREQ=MINUTELY;BYMONTH=3,4,5;UNTIL=20300101T000000Z",
			instant.DST{},
			"2026-02-28T23:57:30Z",
			[]string{"2026-02-28T23:58:00Z", "2026-02-28T23:59:00Z", "2026-06-01T00:00:00Z"},
		},
		{
			"in a zone", "DTSTART;TZID=Europe/Berlin:20260101T000000 RRULE:FREQ=MINUTELY EXRULE:FREQ=MINUTELY;BYMONTH=7,8;UNTIL=20300101T000000Z",
			instant.DST{},
			"2026-06-30T21:58:30Z",
			[]string{"2026-06-30T21:59:00Z", "2026-08-31T22:00:00Z"},
		},
		{
			"until the exclusion ends", "DTSTART:20260101T000000Z RRULE:FREQ=DAILY EXRULE:FREQ=DAILY;COUNT=3",
			instant.DST{},
			"2025-01-01T00:00:00Z",
			[]string{"2026-01-04T00:00:00Z", "2026-01-05T00:00:00Z"},
		},
		{
			"steps out of steps", "DTSTART:20260101T000000Z RRULE:FREQ=MINUTELY;INTERVAL=7 EXRULE:FREQ=SECONDLY;INTERVAL=7;BYMONTH=1,2,3,4,5,6,7,8,9,10,11",
			instant.DST{},
			"2026-01-01T00:00:00Z",
			[]string{"2026-12-01T00:03:00Z", "2026-12-01T00:10:00Z"},
		},
		{
			"days that cancel each other", "DTSTART:20260101T000000Z RRULE:FREQ=YEARLY;INTERVAL=40;BYHOUR=20 RRULE:FREQ=DAILY;INTERVAL=2;BYHOUR=2 RRULE:FREQ=DAILY;INTERVAL=6;BYHOUR=3 EXRULE:FREQ=DAILY;INTERVAL=2;BYHOUR=2 EXRULE:FREQ=DAILY;INTERVAL=3;BYHOUR=3",
			instant.DST{},
			"2026-01-02T00:00:00Z",
			[]string{"2066-01-01T20:00:00Z", "2106-01-01T20:00:00Z"},
		},
		{
			"a step that takes centuries", "DTSTART:20240101T000001Z RRULE:FREQ=SECONDLY;INTERVAL=86401;BYHOUR=0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22;BYMINUTE=59",
			instant.DST{},
			"2100-01-01T00:00:00Z",
			[]string{"2102-09-08T07:59:00Z"},
		},
		{
			"each COUNT counts its own rule, what both give included", "DTSTART:20260101T000000Z RRULE:FREQ=DAILY;COUNT=3 RRULE:FREQ=DAILY;INTERVAL=2;COUNT=3",
			instant.DST{},
			"2025-01-01T00:00:00Z",
			[]string{"2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z", "2026-01-05T00:00:00Z"},
		},
		{
			"steps that take out the rule that lasts longest", "DTSTART:20181103T001500Z RRULE:FREQ=WEEKLY;COUNT=2 RRULE:FREQ=HOURLY;INTERVAL=24;COUNT=3 EXRULE:FREQ=HOURLY;INTERVAL=7",
			instant.DST{},
			"2018-11-01T00:00:00Z",
			[]string{"2018-11-04T00:15:00Z", "2018-11-05T00:15:00Z"},
		},
		{
			"an UNTIL in a gap, beside a rule without", "DTSTART;TZID=America/New_York:20260307T023000 RRULE:FREQ=DAILY;UNTIL=20260308T070000Z RRULE:FREQ=YEARLY;BYMONTH=7",
			instant.DST{},
			"2026-03-01T00:00:00Z",
			[]string{"2026-03-07T07:30:00Z", "2026-07-07T06:30:00Z"},
		},
		{
			"an UNTIL between two equal times", "DTSTART;TZID=America/New_York:20261031T013000 RRULE:FREQ=DAILY;UNTIL=20261101T053000Z RRULE:FREQ=YEARLY;BYMONTH=12",
			instant.DST{Overlap: instant.OverlapBoth},
			"2026-03-01T00:00:00Z",
			[]string{"2026-10-31T05:30:00Z", "2026-11-01T05:30:00Z", "2026-12-31T06:30:00Z"},
		},
	}
	for _, test := range tests {
		rule := must.Get(Parse(test.text, language.RFC5545))(t)
		s, err := rule.Compile(language.Context{DST: test.dst})
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		at := must.Get(time.Parse(time.RFC3339, test.after))(t)
		var got []string
		for range test.want {
			var ok bool
			if at, ok = s.Next(at); !ok {
				break
			}
			got = append(got, at.Format(time.RFC3339))
			if last, ok := s.Last(at); !ok || !last.Equal(at) || s.Count(at, at) != 1 {
				t.Errorf("%s: Last(%s) = %s, Count = %d", test.name, at, last, s.Count(at, at))
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s:\n got %v\nwant %v", test.name, got, test.want)
		}
	}
}
