package rrule

import (
	"fmt"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/language"
)

// TestExcludedForMonths takes months out of sets second by second of which a search would have to pass tens of thousands.
func TestExcludedForMonths(t *testing.T) {
	for _, test := range []struct {
		rules, next, last string // after New Year 2025, and before July
		july              int    // instances on its first day
	}{
		{"RRULE:FREQ=MINUTELY;INTERVAL=3 EXRULE:FREQ=SECONDLY;INTERVAL=90;BYMONTH=1,2,3", "2025-04-01T00:00:00Z", "2025-06-30T23:57:00Z", 480},
		{"RRULE:FREQ=MINUTELY;INTERVAL=6 EXRULE:FREQ=SECONDLY;INTERVAL=90;BYMONTH=1,2,3,4,5,6", "2025-07-01T00:00:00Z", "2024-12-31T23:54:00Z", 240},
		{"RRULE:FREQ=MINUTELY;INTERVAL=6 RRULE:FREQ=MINUTELY;INTERVAL=15 RRULE:FREQ=YEARLY RRULE:FREQ=DAILY;BYHOUR=5 " +
			"EXRULE:FREQ=SECONDLY;INTERVAL=90;BYMONTH=1,2,3,4", "2025-05-01T00:00:00Z", "2025-06-30T23:54:00Z", 288},
		{"RRULE:FREQ=SECONDLY;INTERVAL=48 EXRULE:FREQ=SECONDLY;INTERVAL=16;BYMONTH=1,2,3,4,5", "2025-06-01T00:00:00Z", "2025-06-30T23:59:12Z", 1800},
		{"RRULE:FREQ=MINUTELY;INTERVAL=90 EXRULE:FREQ=MINUTELY;INTERVAL=45;BYMONTH=1,2,3,4,5", "2025-06-01T00:00:00Z", "2025-06-30T22:30:00Z", 16},
	} {
		rule := must.Get(Parse("DTSTART:20240101T000000Z "+test.rules, language.RFC5545))(t)
		s := must.Get(rule.Compile(language.Context{}))(t)
		july := time.Date(2025, 7, 1, 0, 0, 0, 0, time.UTC)
		next, _ := s.Next(time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC))
		last, _ := s.Last(july.Add(-time.Second))
		got := fmt.Sprint(next.Format(time.RFC3339), " ", last.Format(time.RFC3339), " ", s.Count(july, july.AddDate(0, 0, 1).Add(-time.Second)))
		if want := fmt.Sprint(test.next, " ", test.last, " ", test.july); got != want {
			t.Errorf("%s:\n got %s\nwant %s", test.rules, got, want)
		}
	}
}

// TestExclusionOfManyTiles shows that an exclusion which many others stand beside is taken out as a whole.
func TestExclusionOfManyTiles(t *testing.T) {
	rule, err := Parse("DTSTART:20280415T192530Z RRULE:FREQ=HOURLY;BYMONTHDAY=11,21;INTERVAL=97 "+
		"EXRULE:INTERVAL=24;FREQ=SECONDLY;BYMINUTE=24,57,45;BYDAY=MO,TU,FR,SA EXRULE:FREQ=HOURLY", language.RFC5545)
	if err != nil {
		t.Fatal(err)
	}
	s := must.Get(rule.Compile(language.Context{}))(t)
	if at, ok := s.Next(time.Time{}); ok {
		t.Errorf("fires at %s, want never", at)
	}
}
