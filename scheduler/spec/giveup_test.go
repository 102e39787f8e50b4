package spec

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// allOf returns the BY part of every one of n numbers.
func allOf(part string, n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = strconv.Itoa(i)
	}
	return ";" + part + "=" + strings.Join(list, ",")
}

// TestExclusionsDoNotEndARule shows that a rule of seconds goes on after exclusions of many hours in a row, forward,
// backward and counted.
func TestExclusionsDoNotEndARule(t *testing.T) {
	rules := []string{"DTSTART:20260101T000000Z RRULE:FREQ=SECONDLY"}
	steps := []int{7, 11, 13, 17}
	for _, n := range steps {
		rules = append(rules, fmt.Sprintf("EXRULE:FREQ=HOURLY;INTERVAL=%d%s%s", n, allOf("BYMINUTE", 60), allOf("BYSECOND", 60)))
	}
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	p := must.Get(NewPlan(timingOf(t, `{"recurrence":{"rrule":"`+strings.Join(rules, " ")+`"}}`, false), start))(t)
	free := func(hour int) bool {
		for _, n := range steps {
			if hour%n == 0 {
				return false
			}
		}
		return true
	}
	last, n := start, 0 // last is the last second of a free hour before an hour
	for hour := range 24 * 90 {
		at := start.Add(time.Duration(hour) * time.Hour)
		if !free(hour) {
			continue
		}
		if hour > 1 && at.Sub(last) > time.Second {
			if got, ok := p.Next(last); !ok || !got.Equal(at) {
				t.Fatalf("after %s: %s, %v, want %s", last, got, ok, at)
			}
			if got, ok := p.Last(at.Add(-1)); !ok || !got.Equal(last) {
				t.Fatalf("before %s: %s, %v, want %s", at, got, ok, last)
			}
		}
		last = at.Add(time.Hour - time.Second)
		if n += 3600; hour < 24*30 {
			if got := p.Count(start, last); got != n {
				t.Fatalf("%d until %s, want %d", got, last, n)
			}
		}
	}
}

// TestSearchesSayThatTheyGaveUp shows that a search which exceeds its budget never reads as one that has found nothing.
func TestSearchesSayThatTheyGaveUp(t *testing.T) {
	hidden := "DTSTART:20240101T000000Z RRULE:FREQ=HOURLY;INTERVAL=13;BYHOUR=1,2,3,4,5,6,7,8;BYMINUTE=0,13,26,39,52" +
		" EXRULE:FREQ=MINUTELY;INTERVAL=61;BYHOUR=1,2,3,4,5,6,7,8 EXRULE:FREQ=MINUTELY;INTERVAL=13;BYHOUR=1,2,3,4,5,6,7,8"
	start := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	seldom := hidden + " RRULE:FREQ=HOURLY;INTERVAL=86399;BYMONTH=1,6"
	p := must.Get(NewPlan(timingOf(t, `{"recurrence":{"rrule":"`+seldom+`"}}`, false), start))(t)
	first, _ := p.First()
	if next, ok := p.Next(first); !GaveUp(next, ok) {
		t.Errorf("next: %s, %v", next, ok)
	}
	if last, ok := p.Last(start.AddDate(30, 0, 0)); !GaveUp(last, ok) {
		t.Errorf("last: %s, %v", last, ok)
	}
	if v := p.Preview(first, 3); v.Complete || !strings.Contains(strings.Join(v.Notes, "\n"), "cut short") {
		t.Errorf("preview: %+v", v)
	}
	if _, complete := p.Upcoming(3); complete {
		t.Error("the upcoming runs are complete")
	}

	many := "DTSTART:20240101T000000Z RRULE:FREQ=SECONDLY;INTERVAL=7 RRULE:FREQ=SECONDLY;INTERVAL=11"
	p = must.Get(NewPlan(timingOf(t, `{"recurrence":{"rrule":"`+many+`"}}`, false), start))(t)
	hour := time.Hour - time.Second
	if n, all := p.Counted(start, start.Add(hour)); !all || n != 515+328-47 {
		t.Errorf("in an hour: %d, all: %t", n, all)
	}
	if n, all := p.Counted(start, start.AddDate(1, 0, 0)); all || n < 1000 {
		t.Errorf("in a year: %d, all: %t", n, all)
	}
}
