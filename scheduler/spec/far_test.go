package spec_test

import (
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec"
)

// TestFarFuture shows that instants which no count of nanoseconds since 1970 can tell, those from 2262 to 9999, are as
// right as all others: the first runs, the last one, how many there are, and the run after a late one.
func TestFarFuture(t *testing.T) {
	end := time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
	for _, test := range []struct {
		job         string
		first, next string // next is empty if there is none
		last        string
		count       int
	}{
		{`{"startTime":"2263-01-01"}`, "2263-01-01T00:00:00Z", "", "2263-01-01T00:00:00Z", 1},
		{`{"startTime":"2263-01-01","recurrence":{"frequency":"day"}}`, "2263-01-01T00:00:00Z", "2263-01-02T00:00:00Z", "9999-12-31T00:00:00Z", 2_825_881},
		{`{"startTime":"9990-01-01","recurrence":{"frequency":"year","interval":3}}`, "9990-01-01T00:00:00Z", "9993-01-01T00:00:00Z", "9999-01-01T00:00:00Z", 4},
		{
			`{"startTime":"2263-01-01","recurrence":{"frequency":"week","schedule":{"hours":[5],"minutes":[15]}}}`,
			"2263-01-01T05:15:00Z", "2263-01-08T05:15:00Z", "9999-12-30T05:15:00Z", 403_698,
		},
		{`{"recurrence":{"cron":"0 9 1 1 * 2800-2999"}}`, "2800-01-01T09:00:00Z", "2801-01-01T09:00:00Z", "2999-01-01T09:00:00Z", 200},
		{`{"startTime":"2263-01-01","recurrence":{"cron":"@recur 2 weeks"}}`, "2263-01-01T00:00:00Z", "2263-01-15T00:00:00Z", "9999-12-23T00:00:00Z", 201_849},
		{
			`{"recurrence":{"rrule":"DTSTART:22630101T000000Z RRULE:FREQ=DAILY;INTERVAL=2"}}`,
			"2263-01-01T00:00:00Z", "2263-01-03T00:00:00Z", "9999-12-31T00:00:00Z", 1_412_941,
		},
		{
			`{"startTime":"2263-01-01","recurrence":{"frequency":"day","anchor":"lastExecution"}}`,
			"2263-01-01T00:00:00Z", "2263-01-02T00:00:00Z", "9999-12-31T00:00:00Z", 2_825_881,
		},
		{ // the clock shows the year 10000 before the last instant
			`{"timeZone":"Europe/Berlin","recurrence":{"cron":"0 0 1 1 *"}}`,
			"2026-12-31T23:00:00Z", "2027-12-31T23:00:00Z", "9998-12-31T23:00:00Z", 7973,
		},
	} {
		p, err := planOf([]byte(test.job), instant(t, "2026-01-01T00:00:00Z"))
		if err != nil {
			t.Fatal(test.job, err)
		}
		first, _ := p.First()
		next, more := p.Next(first)
		last, _ := p.Last(end)
		if !first.Equal(instant(t, test.first)) || more != (test.next != "") || more && !next.Equal(instant(t, test.next)) ||
			!last.Equal(instant(t, test.last)) || p.Count(first, end) != test.count {
			t.Errorf("%s: %v, %v %v, %v, %d", test.job, first, next, more, last, p.Count(first, end))
		}
		if strings.Contains(test.job, "lastExecution") {
			if next, ok := afterRun(p, first, first.Add(time.Hour)); !ok || !next.Equal(first.Add(25*time.Hour)) {
				t.Errorf("%s: after a late run %v, %v", test.job, next, ok)
			}
		}
		if gap := p.SmallestGap(0); more && gap <= 0 || !more && gap != spec.Forever {
			t.Errorf("%s: %v", test.job, gap)
		}
	}
}
