package rrule

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/instant"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/language"
)

// TestSingleDates has single dates that no oracle reads: days that are excluded as a whole, times that a clock jumps over
// or shows twice, and sets without a DTSTART.
func TestSingleDates(t *testing.T) {
	both := instant.DST{Overlap: instant.OverlapBoth}
	skip := instant.DST{Gap: instant.GapSkip}
	for _, test := range []struct {
		name, text string
		setting    language.Context
		want       string // after New Year 2024, until the year 2025
		describe   string
		doubt      string
	}{
		{
			"a day of many instances",
			"DTSTART;TZID=America/New_York:20240310T000000 RRULE:FREQ=HOURLY;INTERVAL=6;COUNT=8 EXDATE;VALUE=DATE:20240310",
			language.Context{},
			"03-11T04:00:00 03-11T10:00:00 03-11T16:00:00 03-11T22:00:00",
			"at 00:00, 06:00, 12:00 and 18:00 every day, 8 times, except on 10 March 2024, from 10 March 2024 00:00 on, America/New_York", "",
		},
		{
			"a day of another zone",
			"DTSTART:20240310T000000Z RRULE:FREQ=HOURLY;INTERVAL=6;COUNT=8 EXDATE;TZID=Asia/Tokyo;VALUE=DATE:20240310",
			language.Context{},
			"03-10T18:00:00 03-11T00:00:00 03-11T06:00:00 03-11T12:00:00 03-11T18:00:00",
			"at 00:00, 06:00, 12:00 and 18:00 every day, 8 times, except on 10 March 2024 Asia/Tokyo, from 10 March 2024 00:00 on, UTC", "",
		},
		{
			"a time in a gap, which is shifted as the rule's is",
			"DTSTART;TZID=America/New_York:20240309T023000 RRULE:FREQ=DAILY;COUNT=3 EXDATE:20240310T023000 RDATE:20240310T021500",
			language.Context{},
			"03-09T07:30:00 03-10T07:15:00 03-11T06:30:00",
			"at 02:30 every day, 3 times; and on 10 March 2024 02:15, except on 10 March 2024 02:30, from 9 March 2024 on, America/New_York", "",
		},
		{
			"a time in a gap, which is left out",
			"DTSTART;TZID=America/New_York:20240309T023000 RRULE:FREQ=DAILY;COUNT=3 RDATE:20240310T021500",
			language.Context{DST: skip},
			"03-09T07:30:00 03-11T06:30:00",
			"at 02:30 every day, 3 times; and on 10 March 2024 02:15, from 9 March 2024 on, America/New_York", "",
		},
		{
			"a time that is shown twice",
			"DTSTART;TZID=America/New_York:20241102T013000 RRULE:FREQ=DAILY;COUNT=3 EXDATE:20241103T063000Z",
			language.Context{DST: both},
			"11-02T05:30:00 11-03T05:30:00 11-04T06:30:00",
			"at 01:30 every day, 3 times, except on 3 November 2024 06:30 UTC, from 2 November 2024 on, America/New_York", "",
		},
		{
			"the second showing does not happen, and can be asked for in UTC",
			"DTSTART;TZID=America/New_York:20241102T013000 RRULE:FREQ=DAILY;COUNT=2 RDATE:20241103T063000Z",
			language.Context{},
			"11-02T05:30:00 11-03T05:30:00 11-03T06:30:00",
			"at 01:30 every day, 2 times; and on 3 November 2024 06:30 UTC, from 2 November 2024 on, America/New_York", "",
		},
		{
			"single dates alone need no start",
			"RDATE;TZID=Europe/Berlin:20240701T090000,20240101T090000",
			language.Context{},
			"01-01T08:00:00 07-01T07:00:00",
			"on 1 July 2024 09:00 Europe/Berlin and 1 January 2024 09:00 Europe/Berlin, UTC", "",
		},
		{
			"a start of its own with a fraction moves the rule alone",
			"RRULE:FREQ=DAILY;COUNT=2 RDATE:20240105T000000 EXDATE:20240101T120000",
			language.Context{Start: time.Date(2024, 1, 1, 12, 0, 0, 5e8, time.UTC)},
			"01-02T12:00:00.5 01-05T00:00:00",
			"at 12:00 every day, 2 times; and on 5 January 2024 00:00, except on 1 January 2024 12:00, UTC", "",
		},
		{
			"one that excludes nothing, as it is on another clock",
			"DTSTART;TZID=America/New_York:20240601T090000 RRULE:FREQ=DAILY;COUNT=2 EXDATE:20240601T090000Z,20240602T130000Z",
			language.Context{},
			"06-01T13:00:00",
			"at 09:00 every day, 2 times, except on 1 June 2024 09:00 UTC and 2 June 2024 13:00 UTC, from 1 June 2024 on, America/New_York",
			"EXDATE 1 June 2024 09:00 UTC excludes nothing: no occurrence is due then",
		},
		{
			"many are described by their ends",
			"DTSTART:20240601T090000Z RRULE:FREQ=DAILY;COUNT=6 EXDATE:20240601T090000Z,20240604T090000Z,20240602T090000Z,20240603T090000Z",
			language.Context{},
			"06-05T09:00:00 06-06T09:00:00",
			"at 09:00 every day, 6 times, except on 4 dates from 1 June 2024 to 4 June 2024, from 1 June 2024 on, UTC", "",
		},
	} {
		rule, err := Parse(test.text, language.RFC5545)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		s, err := rule.Compile(test.setting)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		var got []string
		for at, ok := s.Next(time.Time{}); ok && at.Year() < 2025; at, ok = s.Next(at) {
			got = append(got, at.Format("01-02T15:04:05.999"))
		}
		if !slices.Equal(got, strings.Fields(test.want)) {
			t.Errorf("%s:\n got %v\nwant %s", test.name, got, test.want)
		}
		if text := rule.Describe(test.setting); text != test.describe {
			t.Errorf("%s:\n got %s\nwant %s", test.name, text, test.describe)
		}
		if doubts := strings.Join(rule.(*Set).Hints(test.setting, s), "; "); doubts != test.doubt {
			t.Errorf("%s: doubts %q, want %q", test.name, doubts, test.doubt)
		}
	}
}

// TestSingleDatesOfOtherDialects shows that dsari and AWX, which have none, refuse them.
func TestSingleDatesOfOtherDialects(t *testing.T) {
	for _, name := range []string{"RDATE", "EXDATE"} {
		_, err := Parse("RRULE:FREQ=DAILY "+name+":20240101T000000Z", language.Dsari)
		if err == nil || !strings.Contains(err.Error(), name+": single dates are not part of the dialect dsari") {
			t.Errorf("dsari: %s: %v", name, err)
		}
		_, err = Parse("DTSTART:20240101T000000Z RRULE:FREQ=DAILY;INTERVAL=1 "+name+":20240101T000000Z", language.AWX)
		if err == nil || err.Error() != name+" not allowed in rrule." {
			t.Errorf("awx: %s: %v", name, err)
		}
	}
}
