package spec_test

import (
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// TestCreationGivesNoSeconds shows that a schedule of a job without startTime is on the full minute, whatever second the
// job is created at, and that the seconds of a startTime stay.
func TestCreationGivesNoSeconds(t *testing.T) {
	tests := []struct {
		name, job string
		want      []string // after the run at once, if there is one
		says      string
	}{
		{
			"hours and minutes", `{"recurrence":{"frequency":"day","schedule":{"hours":[5],"minutes":[15]}}}`,
			[]string{"2024-03-16T05:15:00Z", "2024-03-17T05:15:00Z"},
			"at once, then at 05:15 every day, UTC",
		},
		{
			"in the minute of the creation", `{"recurrence":{"frequency":"day","schedule":{"hours":[10],"minutes":[30,31]}}}`,
			[]string{"2024-03-15T10:31:00Z", "2024-03-16T10:30:00Z"},
			"at once, then at 10:30 and 10:31 every day, UTC",
		},
		{
			"hours alone", `{"recurrence":{"frequency":"day","schedule":{"hours":[5,17]}}}`,
			[]string{"2024-03-15T17:30:00Z", "2024-03-16T05:30:00Z"},
			"at once, then at 05:30 and 17:30 every day, UTC",
		},
		{
			"days alone", `{"recurrence":{"frequency":"week","schedule":{"weekDays":["sunday"]}}}`,
			[]string{"2024-03-17T10:30:00Z"},
			"at once, then at 10:30 every Sunday, UTC",
		},
		{
			"last day", `{"recurrence":{"frequency":"month","schedule":{"monthDays":[-1],"minutes":[0],"hours":[6]}}}`,
			[]string{"2024-03-31T06:00:00Z", "2024-04-30T06:00:00Z"},
			"at once, then at 06:00 on the last day of every month, UTC",
		},
		{
			"minutes of minutes", `{"recurrence":{"frequency":"minute","interval":10,"schedule":{"hours":[11]}}}`,
			[]string{"2024-03-15T11:00:00Z", "2024-03-15T11:10:00Z"},
			"at once, then every 10 minutes, counted from 2024-03-15 10:30, in hour 11 only, UTC",
		},
		{
			"seconds", `{"recurrence":{"frequency":"second","interval":25,"schedule":{"hours":[10],"minutes":[31]}}}`,
			[]string{"2024-03-15T10:31:01Z", "2024-03-15T10:31:26Z"},
			"",
		},
		{
			"no schedule", `{"recurrence":{"frequency":"day"}}`, []string{"2024-03-16T10:30:36.026Z"}, "at once, then at 10:30:36 every day, UTC",
		},
		{
			"a start", `{"startTime":"2024-03-10T08:20:07.5Z","recurrence":{"frequency":"day","schedule":{"hours":[5],"minutes":[15]}}}`,
			[]string{"2024-03-16T05:15:07.5Z", "2024-03-17T05:15:07.5Z"},
			"at 05:15:07 every day, UTC",
		},
	}
	created := instant(t, "2024-03-15T10:30:36.026Z")
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := must.Get(planOf([]byte(test.job), created))(t)
			at := created
			for _, want := range test.want {
				if at, _ = p.Next(at); at.Format(time.RFC3339Nano) != want {
					t.Errorf("%s, not %s", at.Format(time.RFC3339Nano), want)
				}
			}
			if n := p.Count(created.Add(1), at); n != len(test.want) {
				t.Errorf("%d runs are counted, not %d", n, len(test.want))
			}
			if last, ok := p.Last(at); !ok || !last.Equal(at) {
				t.Errorf("the last is %v", last)
			}
			if first, ok := p.First(); !ok || test.name != "a start" && !first.Equal(created) {
				t.Errorf("first: %v", first)
			}
			if got := p.Describe(); test.says != "" && got != test.says {
				t.Errorf("%q, not %q", got, test.says)
			}
		})
	}
}
