package spec

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// timingOf reads the properties that say when a job runs, as they are put or as they were stored.
func timingOf(t *testing.T, text string, stored bool) Timing {
	t.Helper()
	v := must.Get(document.Parse([]byte(text)))(t)
	r := document.NewReader()
	r.Stored = stored
	timing := ReadTiming(r.Object(v, ""))
	must.Do(t, r.Err())
	return timing
}

// TestTooCostlyIsRefused shows that a rule which is too costly is told to be so at the member that has it, whether it is put
// or was stored by a version that let it pass.
func TestTooCostlyIsRefused(t *testing.T) {
	created := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	rules := strings.Repeat(" RRULE:FREQ=MINUTELY;INTERVAL=438;BYMONTHDAY=-3,-5,13,14,15,16,17,18,19;COUNT=99000000", 20)
	seldom := `{"recurrence":{"rrule":"DTSTART:20310101T000000Z` + rules + `"}}`
	for name, stored := range map[string]bool{"put": false, "stored": true} {
		_, err := NewPlan(timingOf(t, seldom, stored), created)
		problems, ok := errors.AsType[document.Problems](err)
		if !ok || len(problems) != 1 || problems[0].Path != "recurrence.rrule" || !strings.Contains(problems[0].Message, "part COUNT: too costly") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestLaterRunThatIsHardToFind shows that a search which was given up does not say that there is nothing, and that a stored
// job, which would come to its end, is given up later.
func TestLaterRunThatIsHardToFind(t *testing.T) {
	const excluded = ` RRULE:FREQ=HOURLY;INTERVAL=13;BYHOUR=1,2,3,4,5,6,7,8;BYMINUTE=0,13,26,39,52` +
		` EXRULE:FREQ=MINUTELY;INTERVAL=61;BYHOUR=1,2,3,4,5,6,7,8 EXRULE:FREQ=MINUTELY;INTERVAL=13;BYHOUR=1,2,3,4,5,6,7,8`
	for _, test := range []struct {
		name, rule   string
		stored, gave bool
		next         string
	}{
		{"one that is put", "FREQ=HOURLY;INTERVAL=86399;BYMONTH=1,6", false, true, ""},
		{"stored", "FREQ=HOURLY;INTERVAL=86399;BYMONTH=1,6", true, false, "2063-06-04T20:00:00Z"},
		{"stored, and there is none", "FREQ=DAILY;COUNT=1", true, false, ""},
	} {
		rules := `{"recurrence":{"rrule":"DTSTART:20240101T000000Z RRULE:` + test.rule + excluded + `"}}`
		p, err := NewPlan(timingOf(t, rules, test.stored), time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC))
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		n, ok := p.Next(p.first)
		if got := GaveUp(n, ok); got != test.gave {
			t.Errorf("%s: given up: %v", test.name, got)
		}
		if ok != (test.next != "") || ok && n.Format(time.RFC3339) != test.next {
			t.Errorf("%s: %s, %v, want %q", test.name, n, ok, test.next)
		}
	}
}

// TestStoredRulesHaveMorePatience shows that a rule which would be refused now is
// still a plan when it is read from the store, with the runs that it always had.
func TestStoredRulesHaveMorePatience(t *testing.T) {
	created := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	text := `{"recurrence":{"rrule":"DTSTART:20310101T000000Z RRULE:FREQ=MINUTELY;INTERVAL=438;BYMONTHDAY=-3,-5,-6,-7,13,19,-28,30;COUNT=600000"}}`
	if _, err := NewPlan(timingOf(t, text, false), created); err == nil {
		t.Fatal("it is not refused")
	}
	p := must.Get(NewPlan(timingOf(t, text, true), created))(t)
	if p.Work() <= 1 {
		t.Errorf("work: %v", p.Work())
	}
	n, at := 0, p.first
	for range 1000 {
		next, ok := p.Next(at)
		if !ok {
			t.Fatalf("nothing after %v", at)
		}
		at = next
		n++
	}
	if got := p.Count(p.first, at); got != n+1 {
		t.Errorf("%d runs, want %d", got, n+1)
	}
}

// TestCostlyListsAreCutShort shows that a preview of runs that are hard to find ends before its count, says so, and is not
// told to be complete.
func TestCostlyListsAreCutShort(t *testing.T) {
	rules := []string{"DTSTART:20240101T000000Z"}
	for i := range 40 {
		rules = append(rules, fmt.Sprintf("RRULE:FREQ=SECONDLY;INTERVAL=%d;BYMINUTE=%d;BYSECOND=7;BYMONTHDAY=29,30,31;BYMONTH=2,3,4",
			[]int{7207, 7211, 7213, 7219}[i%4], []int{1, 2, 3, 5, 7}[i%5]))
	}
	p := must.Get(NewPlan(timingOf(t, `{"recurrence":{"rrule":"`+strings.Join(rules, " ")+`"}}`, true), time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)))(t)
	v := p.Preview(time.Time{}, 1000)
	if len(v.Times) == 0 || len(v.Times) == 1000 || v.Complete {
		t.Fatalf("%d runs, complete: %t", len(v.Times), v.Complete)
	}
	if !strings.Contains(strings.Join(v.Notes, "\n"), "cut short") {
		t.Errorf("notes: %q", v.Notes)
	}
	at := v.Times[0]
	for i, want := range v.Times[1:] { // what is told is right
		next, ok := p.Next(at)
		if !ok || !next.Equal(want) {
			t.Fatalf("run %d: %v, want %v", i+1, next, want)
		}
		at = next
	}
}
