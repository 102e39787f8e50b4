package spec_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

func readRecurrence(t *testing.T, text string) (spec.Recurrence, error) {
	t.Helper()
	v := must.Get(document.Parse([]byte(text)))(t)
	r := document.NewReader()
	o := r.Object(v, "recurrence")
	rec := spec.ReadRecurrence(o)
	o.Done()
	return rec, r.Err()
}

func TestReadRecurrence(t *testing.T) {
	got, err := readRecurrence(t, `{
		"Frequency": "MONTH", "interval": 2, "count": 10, "endTime": "2012-11-04", "anchor": "Grid",
		"schedule": {"minutes": [0, 30], "hours": [6], "monthDays": [1, -1], "months": [12],
			"monthlyOccurrences": [{"day": "FRIDAY", "Occurrence": -1}, {"day": "sunday"}]}
	}`)
	want := spec.Recurrence{
		Frequency: spec.Month, Interval: 2, Count: 10, End: instant(t, "2012-11-04"),
		Schedule: spec.Elements{
			Minutes: []int{0, 30}, Hours: []int{6}, MonthDays: []int{1, -1}, Months: []int{12},
			MonthlyOccurrences: []spec.MonthlyOccurrence{{Day: time.Friday, Occurrence: -1}, {Day: time.Sunday}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	got, err = readRecurrence(t, `{"frequency": "second"}`)
	if diff := cmp.Diff(spec.Recurrence{Frequency: spec.Second, Interval: 1}, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
}

func TestReadRecurrenceProblems(t *testing.T) {
	tests := []struct{ text, want string }{
		{`{}`, `recurrence.frequency: is required; or cron, or rrule`},
		{`{"frequency":null}`, `recurrence.frequency: is required; or cron, or rrule`},
		{`{"frequency":"Fortnight"}`, `recurrence.frequency: "Fortnight" is not one of second, minute, hour, day, week, month, year`},
		{`{"frequency":"Day","interval":549}`, `recurrence.interval: 549 is not in 1-548`},
		{`{"frequency":"Month","interval":19}`, `recurrence.interval: 19 is not in 1-18`},
		{`{"frequency":"Hour","interval":1001}`, `recurrence.interval: 1001 is not in 1-1000`},
		{`{"frequency":"Minute","interval":-1}`, `recurrence.interval: -1 is not in 1-1000`},
		{`{"frequency":"Year","interval":0}`, `recurrence.interval: 0 is not at least 1`},
		{`{"frequency":"Day","count":0}`, `recurrence.count: 0 is not at least 1`},
		{`{"frequency":"Day","endTime":"2024-02-30"}`, `recurrence.endTime: "2024-02-30" is not a date or time: February 2024 has no day 30`},
		{`{"frequency":"Day","endTime":5}`, `recurrence.endTime: must be a string, not a number`},
		{`{"frequency":"Day","schedule":[]}`, `recurrence.schedule: must be an object, not an array`},
		{`{"frequency":"Day","intervall":2}`, `recurrence.intervall: unknown field; did you mean "interval"?`},
		{`{"frequency":"Day","schedule":{"minute":[1]}}`, `recurrence.schedule.minute: unknown field; did you mean "minutes"?`},
		{`{"frequency":"Day","schedule":{"hours":["9"]}}`, `recurrence.schedule.hours[0]: must be a whole number, not a string`},
		{`{"frequency":"Day","schedule":{"minutes":[1,60,-1]}}`, "recurrence.schedule.minutes[1]: 60 is not in 0-59\nrecurrence.schedule.minutes[2]: -1 is not in 0-59"},
		{`{"frequency":"Day","schedule":{"months":[0,13]}}`, "recurrence.schedule.months[0]: 0 is not in 1-12\nrecurrence.schedule.months[1]: 13 is not in 1-12"},
		{`{"frequency":"Day","schedule":{"weekDays":["Monday"]}}`, `recurrence.schedule.weekDays: can be used with the frequency week only, not with day`},
		{`{"frequency":"Month","schedule":{"weekDays":["Monday"]}}`, `recurrence.schedule.weekDays: can be used with the frequency week only, not with month`},
		{`{"frequency":"Hour","schedule":{"weekDays":["Monday"]}}`, `recurrence.schedule.weekDays: can be used with the frequency week only, not with hour`},
		{`{"frequency":"Year","schedule":{"monthDays":[1]}}`, `recurrence.schedule.monthDays: can be used with the frequency month only, not with year`},
		{`{"frequency":"Week","schedule":{"weekDays":[1]}}`, `recurrence.schedule.weekDays[0]: must be a string, not a number`},
		{`{"frequency":"Week","schedule":{"weekDays":["Monday","Monday","Monday","Monday","Monday","Monday","Monday","Monday"]}}`, `recurrence.schedule.weekDays: 8 days; a week has 7`},
		{`{"frequency":"Month","schedule":{"monthDays":[1,0,32]}}`, "recurrence.schedule.monthDays[2]: 32 is not in -31 to 31\nrecurrence.schedule.monthDays[1]: 0 is not a day; days count from 1, or from -1 at the end of the month"},
		{`{"frequency":"Month","schedule":{"monthlyOccurrences":[{"day":"friday","occurrence":0}]}}`, `recurrence.schedule.monthlyOccurrences[0].occurrence: 0 is not an occurrence; leave it out to mean every one`},
		{`{"frequency":"Month","schedule":{"monthlyOccurrences":[{"day":"friday","occurrence":6}]}}`, `recurrence.schedule.monthlyOccurrences[0].occurrence: 6 is not in -5 to 5; no month has more of a weekday`},
		{`{"frequency":"Month","schedule":{"monthlyOccurrences":[{"day":"fri"}, {"day":"friday","occurrense":1}]}}`, `recurrence.schedule.monthlyOccurrences[0].day: "fri" is not one of Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, Sunday; did you mean "Friday"?` + "\n" + `recurrence.schedule.monthlyOccurrences[1].occurrense: unknown field; did you mean "occurrence"?`},
		{`{"frequency":"Month","schedule":{"monthlyOccurrences":["friday"]}}`, `recurrence.schedule.monthlyOccurrences[0]: must be an object, not a string`},
		{`{"frequency":"Day","anchor":"lastExecution","schedule":{"hours":[1]}}`, `recurrence.anchor: lastExecution applies to a recurrence without schedule`},
		{`{"frequency":"Day","anchor":"drift"}`, `recurrence.anchor: "drift" is not one of grid, lastExecution`},
	}
	for _, test := range tests {
		_, err := readRecurrence(t, test.text)
		if err == nil || err.Error() != test.want {
			t.Errorf("%s:\n got %v\nwant %s", test.text, err, test.want)
		}
	}
}

// All problems are reported at once.
func TestReadRecurrenceReportsAll(t *testing.T) {
	_, err := readRecurrence(t, `{"frequency":"weak","interval":0,"count":1.5,"endTime":"soon","schedule":{"hours":[24],"weekDays":["x"],"y":1},"z":1}`)
	problems, _ := errors.AsType[document.Problems](err)
	var paths []string
	for _, p := range problems {
		paths = append(paths, p.Path)
	}
	want := []string{
		"recurrence.frequency", "recurrence.interval", "recurrence.count", "recurrence.endTime", "recurrence.schedule.weekDays[0]",
		"recurrence.schedule.y", "recurrence.schedule.hours[0]", "recurrence.z",
	}
	if diff := cmp.Diff(want, paths); diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}

// A Recurrence made by hand is held to the same rules when it is compiled.
func TestCompileValidates(t *testing.T) {
	r := spec.Recurrence{
		Interval: -1, Count: -1, Anchor: 7,
		Schedule: spec.Elements{
			Minutes: []int{60}, Hours: []int{24}, WeekDays: []time.Weekday{7}, MonthDays: []int{0, 32}, Months: []int{13},
			MonthlyOccurrences: []spec.MonthlyOccurrence{{Day: 8, Occurrence: 6}},
		},
	}
	_, err := r.Compile(time.Now(), time.Time{})
	problems, _ := errors.AsType[document.Problems](err)
	if len(problems) != 12 {
		t.Errorf("%d problems: %v", len(problems), err)
	}
	if _, err := spec.NewPlan(spec.Timing{Recurrence: &spec.Recurrence{Frequency: spec.Week, Interval: 79}}, time.Now()); err == nil || !strings.HasPrefix(err.Error(), "recurrence.interval: ") {
		t.Errorf("error is %v", err)
	}
}

func TestNames(t *testing.T) {
	got := []string{spec.Second.String(), spec.Year.String(), spec.Frequency(0).String(), spec.Frequency(9).String(), spec.AnchorGrid.String(), spec.AnchorLastExecution.String(), spec.Anchor(2).String()}
	want := []string{"second", "year", "none", "none", "grid", "lastExecution", "unknown"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if spec.Frequency(0).Times(1) != 0 || spec.Day.Times(0) != 0 || spec.Week.Times(2) != 14*24*time.Hour || spec.Year.Times(300) != spec.Forever {
		t.Error("Times is wrong")
	}
}
