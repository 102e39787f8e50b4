package spec_test

import (
	"slices"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// The neighbours of the vectors: what the page says in words, and the readings that doc.go lists.
func TestRecurrence(t *testing.T) {
	tests := []struct {
		name, job, created string
		want               []string // the first runs
	}{
		{
			"fractions of a second are kept", `{"startTime":"2024-01-10T08:20:37.25Z","recurrence":{"frequency":"Day","schedule":{"minutes":[0],"hours":[9]}}}`,
			"2024-01-01",
			[]string{"2024-01-10T09:00:37.25Z", "2024-01-11T09:00:37.25Z"},
		},
		{
			"an offset over midnight moves the weekday", `{"startTime":"2024-01-10T23:30:00-02:00","recurrence":{"frequency":"Week","schedule":{"hours":[1]}}}`,
			"2024-01-01",
			[]string{"2024-01-11T01:30:00Z", "2024-01-18T01:30:00Z"},
		},
		{
			"empty elements say nothing", `{"startTime":"2024-01-31T08:00Z","recurrence":{"frequency":"Month","schedule":{"minutes":[],"hours":[],"monthDays":[],"monthlyOccurrences":[],"weekDays":[],"months":[]}}}`,
			"2024-01-01",
			[]string{"2024-01-31T08:00:00Z", "2024-02-29T08:00:00Z", "2024-03-31T08:00:00Z"},
		},
		{
			"null is absent", `{"startTime":"2024-01-31T08:00Z","recurrence":{"frequency":"Month","interval":null,"count":null,"endTime":null,"schedule":null}}`,
			"2024-01-01",
			[]string{"2024-01-31T08:00:00Z", "2024-02-29T08:00:00Z"},
		},
		{
			"with a schedule, months without the start's day are skipped", `{"startTime":"2024-01-31T08:00Z","recurrence":{"frequency":"Month","schedule":{"hours":[9]}}}`,
			"2024-01-01",
			[]string{"2024-01-31T09:00:00Z", "2024-03-31T09:00:00Z", "2024-05-31T09:00:00Z"},
		},
		{
			"every second year from a leap day", `{"startTime":"2024-02-29T08:00Z","recurrence":{"frequency":"Year","interval":2}}`,
			"2024-01-01",
			[]string{"2024-02-29T08:00:00Z", "2026-02-28T08:00:00Z", "2028-02-29T08:00:00Z"},
		},
		{
			"months of every second year", `{"startTime":"2024-03-10T08:00Z","recurrence":{"frequency":"Year","interval":2,"schedule":{"months":[1,6]}}}`,
			"2024-01-01",
			[]string{"2024-06-10T08:00:00Z", "2026-01-10T08:00:00Z", "2026-06-10T08:00:00Z", "2028-01-10T08:00:00Z"},
		},
		{
			"a year's minutes are those of one whole day", `{"startTime":"2024-03-10T22:50Z","recurrence":{"frequency":"Year","schedule":{"minutes":[30]}}}`,
			"2024-01-01",
			[]string{"2024-03-10T23:30:00Z", "2025-03-10T00:30:00Z", "2025-03-10T01:30:00Z"},
		},
		{
			"days limited to a month keep their rhythm", `{"startTime":"2024-01-30T08:00Z","recurrence":{"frequency":"Day","interval":10,"schedule":{"months":[2,12]}}}`,
			"2024-01-01",
			[]string{"2024-02-09T08:00:00Z", "2024-02-19T08:00:00Z", "2024-02-29T08:00:00Z", "2024-12-05T08:00:00Z"},
		},
		{
			"hours limit the frequency hour", `{"startTime":"2024-01-10T08:20Z","recurrence":{"frequency":"Hour","interval":5,"schedule":{"hours":[8,9,13]}}}`,
			"2024-01-01",
			[]string{"2024-01-10T08:20:00Z", "2024-01-10T13:20:00Z", "2024-01-11T09:20:00Z", "2024-01-15T08:20:00Z"},
		},
		{
			"minutes expand the frequency hour", `{"startTime":"2024-01-10T22:47Z","recurrence":{"frequency":"Hour","interval":3,"schedule":{"minutes":[50,10]}}}`,
			"2024-01-01",
			[]string{"2024-01-10T22:50:00Z", "2024-01-11T01:10:00Z", "2024-01-11T01:50:00Z", "2024-01-11T04:10:00Z"},
		},
		{
			"minutes limit the frequency minute", `{"startTime":"2024-01-10T08:20Z","recurrence":{"frequency":"Minute","interval":15,"schedule":{"minutes":[5,35,40]}}}`,
			"2024-01-01",
			[]string{"2024-01-10T08:35:00Z", "2024-01-10T09:05:00Z", "2024-01-10T09:35:00Z"},
		},
		{
			"seconds limited to a minute of the day", `{"startTime":"2024-01-10T08:20:07Z","recurrence":{"frequency":"Second","interval":25,"schedule":{"hours":[9],"minutes":[1]}}}`,
			"2024-01-01",
			[]string{"2024-01-10T09:01:22Z", "2024-01-10T09:01:47Z", "2024-01-11T09:01:22Z"},
		},
		{
			"a Sunday belongs to the week before it", `{"startTime":"2024-01-14T08:20Z","recurrence":{"frequency":"Week","interval":2,"schedule":{"weekDays":["Monday","Sunday"]}}}`,
			"2024-01-01",
			[]string{"2024-01-14T08:20:00Z", "2024-01-22T08:20:00Z", "2024-01-28T08:20:00Z"},
		},
		{
			"one day from both ends is one run", `{"startTime":"2024-01-01T06:00Z","recurrence":{"frequency":"Month","schedule":{"monthDays":[-1,31,30,-31,1]}}}`,
			"2024-01-01",
			[]string{"2024-01-01T06:00:00Z", "2024-01-30T06:00:00Z", "2024-01-31T06:00:00Z", "2024-02-01T06:00:00Z", "2024-02-29T06:00:00Z"},
		},
		{
			"29 February on a Friday", `{"startTime":"2024-01-01T06:00Z","recurrence":{"frequency":"Month","schedule":{"months":[2],"monthDays":[29],"monthlyOccurrences":[{"day":"friday","Occurrence":5}]}}}`,
			"2024-01-01",
			[]string{"2036-02-29T06:00:00Z", "2064-02-29T06:00:00Z", "2092-02-29T06:00:00Z", "2104-02-29T06:00:00Z"},
		},
		{
			"the end is included to the nanosecond", `{"startTime":"2024-01-10T08:20:00.5Z","recurrence":{"frequency":"Day","endTime":"2024-01-11T08:20:00.5Z"}}`,
			"2024-01-01",
			[]string{"2024-01-10T08:20:00.5Z", "2024-01-11T08:20:00.5Z"},
		},
		{
			"and not a nanosecond more", `{"startTime":"2024-01-10T08:20:00.5Z","recurrence":{"frequency":"Day","endTime":"2024-01-11T08:20:00.499999999Z"}}`,
			"2024-01-01",
			[]string{"2024-01-10T08:20:00.5Z"},
		},
		{
			"an interval beyond the calendar", `{"startTime":"2024-01-10T08:20:00Z","recurrence":{"frequency":"Year","interval":2147483647}}`,
			"2024-01-01",
			[]string{"2024-01-10T08:20:00Z"},
		},
		{
			"the calendar ends with the year 9999", `{"startTime":"9999-12-30T00:00:00Z","recurrence":{"frequency":"Day"}}`,
			"2024-01-01",
			[]string{"9999-12-30T00:00:00Z", "9999-12-31T00:00:00Z"},
		},
		{
			"and is as good at its beginning", `{"startTime":"0001-01-02T00:00:00Z","recurrence":{"frequency":"Week","schedule":{"weekDays":["Saturday"]}}}`,
			"2024-01-01",
			[]string{"2024-01-06T00:00:00Z", "2024-01-13T00:00:00Z"},
		},
	}
	for _, test := range tests {
		p, err := planOf([]byte(test.job), instant(t, test.created))
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		got, _ := p.Upcoming(len(test.want))
		if want := instants(t, test.want...); !slices.Equal(got, want) {
			t.Errorf("%s:\n got %v\nwant %v", test.name, got, want)
		}
	}
}

// A schedule that never fires is accepted, as one whose end is past is, and every question is answered at once.
func TestNever(t *testing.T) {
	start := instant(t, "2024-01-10T08:20:00Z")
	tests := map[string]spec.Recurrence{
		"30 February":        {Frequency: spec.Month, Schedule: spec.Elements{MonthDays: []int{30, 31}, Months: []int{2}}},
		"31 April and June":  {Frequency: spec.Month, Schedule: spec.Elements{MonthDays: []int{31, -31}, Months: []int{4, 6, 9, 11}}},
		"the 31st, 1st week": {Frequency: spec.Month, Schedule: spec.Elements{MonthDays: []int{31}, MonthlyOccurrences: []spec.MonthlyOccurrence{{Day: time.Friday, Occurrence: 1}}}},
		"February by years":  {Frequency: spec.Month, Interval: 12, Schedule: spec.Elements{Months: []int{2}}},
		"29 February, odd years": {
			Frequency: spec.Month, Interval: 12, Schedule: spec.Elements{MonthDays: []int{29}, Months: []int{2}},
		},
		"odd hours, even grid":  {Frequency: spec.Hour, Interval: 2, Schedule: spec.Elements{Hours: []int{1, 9, 23}}},
		"minutes off the grid":  {Frequency: spec.Minute, Interval: 10, Schedule: spec.Elements{Minutes: []int{5, 15}}},
		"a day of other months": {Frequency: spec.Minute, Interval: 720, Schedule: spec.Elements{Hours: []int{9}, Months: []int{1}}},
		"an end in the past":    {Frequency: spec.Day, End: instant(t, "2023-01-01")},
		"an end before the day": {Frequency: spec.Day, End: instant(t, "2024-01-10")},
	}
	for name, r := range tests {
		s, err := r.Compile(start, time.Time{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, at := range []time.Time{{}, start.Add(-1), start, instant(t, "1969-12-31T23:59:59.5Z"), instant(t, "3000-01-01")} {
			if next, ok := s.Next(at); ok {
				t.Errorf("%s: Next(%v) = %v", name, at, next)
			}
			if last, ok := s.Last(at); ok {
				t.Errorf("%s: Last(%v) = %v", name, at, last)
			}
		}
		if n := s.Count(time.Time{}, instant(t, "9999-12-31")); n != 0 {
			t.Errorf("%s: Count is %d", name, n)
		}
	}
}

// Between two runs there is nothing: asked at any second in between, and a nanosecond beside, the next run is the next
// run. Long gaps are sampled.
func TestNothingBetween(t *testing.T) {
	for _, v := range readVectors(t) {
		if v.Error {
			continue
		}
		p := must.Get(planOf(v.Job, v.Now))(t)
		for i := 1; i < len(v.Expected); i++ {
			last, next := v.Expected[i-1], v.Expected[i]
			step := max(time.Second, next.Sub(last)/1000).Truncate(time.Second)
			for at := last; at.Before(next); at = at.Add(step) {
				checkBetween(t, v.ID, p, last, at, next)
			}
			checkBetween(t, v.ID, p, last, last.Add(1), next)
			checkBetween(t, v.ID, p, last, next.Add(-1), next)
		}
	}
}

func checkBetween(t *testing.T, id string, p *spec.Plan, last, at, next time.Time) {
	t.Helper()
	if got, ok := p.Next(at); !ok || !got.Equal(next) {
		t.Fatalf("%s: Next(%v) = %v, %v; want %v", id, at, got, ok, next)
	}
	if got, ok := p.Last(at); !ok || !got.Equal(last) {
		t.Fatalf("%s: Last(%v) = %v, %v; want %v", id, at, got, ok, last)
	}
	if n := p.Count(last, at); n != 1 {
		t.Fatalf("%s: Count(%v, %v) = %d, want 1", id, last, at, n)
	}
}

// Ten years without a scheduler: what was missed is counted, not walked.
func TestCountOfLongOutage(t *testing.T) {
	start, from, to := instant(t, "2000-01-01T00:00:30Z"), instant(t, "2014-01-01"), instant(t, "2024-01-01")
	const days = 3652 // of which 310 are in January
	tests := []struct {
		name string
		r    spec.Recurrence
		want int
	}{
		{"minutes", spec.Recurrence{Frequency: spec.Minute}, days * 1440},
		{"seconds", spec.Recurrence{Frequency: spec.Second, Schedule: spec.Elements{Hours: []int{9}}}, days * 3600},
		{"quarters by day", spec.Recurrence{Frequency: spec.Day, Schedule: spec.Elements{Minutes: []int{0, 15, 30, 45}}}, days * 96},
		{"minutes in January", spec.Recurrence{Frequency: spec.Minute, Schedule: spec.Elements{Months: []int{1}}}, 310 * 1440},
		{"Sundays", spec.Recurrence{Frequency: spec.Week, Schedule: spec.Elements{WeekDays: []time.Weekday{time.Sunday}}}, 522},
		{"last days", spec.Recurrence{Frequency: spec.Month, Schedule: spec.Elements{MonthDays: []int{-1}}}, 120},
		{"years", spec.Recurrence{Frequency: spec.Year}, 10},
	}
	for _, test := range tests {
		s := must.Get(test.r.Compile(start, time.Time{}))(t)
		if n := s.Count(from, to); n != test.want {
			t.Errorf("%s: %d, want %d", test.name, n, test.want)
		}
		if n := s.Count(to, from); n != 0 {
			t.Errorf("%s: %d from the end to the beginning", test.name, n)
		}
	}
}

// instant reads a time as documents write it.
func instant(t *testing.T, text string) time.Time {
	t.Helper()
	return instants(t, text)[0]
}
