package spec

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// hostile are texts of a kilobyte at most that cost a careless implementation seconds, or never end: rules that never
// fire, exclusions that leave nothing, steps that hardly ever meet the times they are limited to, counts without end.
func hostile() map[string]string {
	repeat := func(n int, format string, args func(i int) []any) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, args(i)...)
		}
		return b.String()
	}
	halves := "EXRULE:%s;BYHOUR=0,1,2,3,4,5,6,7,8,9,10,11 EXRULE:%[1]s;BYHOUR=12,13,14,15,16,17,18,19,20,21,22,23"
	texts := map[string]string{
		"30 February":                "RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30",
		"unreachable hour":           "RRULE:FREQ=HOURLY;INTERVAL=4;BYHOUR=1",
		"all seconds excluded":       "RRULE:FREQ=SECONDLY EXRULE:FREQ=SECONDLY",
		"excluded by halves":         "RRULE:FREQ=SECONDLY;INTERVAL=7 " + fmt.Sprintf(halves, "FREQ=SECONDLY;INTERVAL=7"),
		"excluded on another grid":   "RRULE:FREQ=SECONDLY;INTERVAL=14 " + fmt.Sprintf(halves, "FREQ=SECONDLY;INTERVAL=7"),
		"excluded by another unit":   "RRULE:FREQ=MINUTELY;INTERVAL=7 EXRULE:FREQ=SECONDLY;INTERVAL=7",
		"a second later every day":   "RRULE:FREQ=SECONDLY;INTERVAL=86401;BYHOUR=0;BYMINUTE=0;BYSECOND=0",
		"count of a step":            "RRULE:FREQ=MINUTELY;INTERVAL=7;COUNT=999999",
		"count of a rare step":       "RRULE:FREQ=SECONDLY;INTERVAL=7;BYHOUR=9;BYMONTH=1;COUNT=999999999",
		"count of leap days":         "RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;COUNT=999999999",
		"two days, never the same":   "RRULE:FREQ=DAILY;INTERVAL=2;BYMONTHDAY=1 EXRULE:FREQ=DAILY;INTERVAL=2",
		"the wrong weekday":          "RRULE:FREQ=DAILY;INTERVAL=7;BYDAY=TU",
		"rare weeks with a leap day": "RRULE:FREQ=WEEKLY;INTERVAL=2000;BYMONTH=2;BYMONTHDAY=29",
		"many rare steps": repeat(12, "RRULE:FREQ=SECONDLY;INTERVAL=%d;BYMONTH=2;BYHOUR=%d;BYMINUTE=0;BYSECOND=0 ",
			func(i int) []any { return []any{86399 - 2*i, i} }),
		"many exclusions": "RRULE:FREQ=DAILY " + repeat(20, "EXRULE:FREQ=DAILY;INTERVAL=%d;BYMONTHDAY=%[1]d ",
			func(i int) []any { return []any{i + 1} }),
		"many rules, all excluded": repeat(11, "RRULE:FREQ=WEEKLY;INTERVAL=%d;BYHOUR=%d EXRULE:FREQ=DAILY;INTERVAL=%d;BYHOUR=%[2]d ",
			func(i int) []any { return []any{2*i + 2, i, i + 1} }),
		"count of many steps": "RRULE:FREQ=MINUTELY;INTERVAL=7;BYSECOND=1,2,3,5,6,7,8,9;BYSETPOS=1,2,3,4,5,6,-1;COUNT=999999999",
		"counts of steps": repeat(9, "RRULE:FREQ=SECONDLY;INTERVAL=%d;BYHOUR=0,1,2,3,4,5,6,7,8,9,11,12,13,14,15,16;COUNT=88000000 ",
			func(i int) []any { return []any{13 + 2*i} }),
		"count of rare days":          "RRULE:FREQ=DAILY;INTERVAL=13;BYMONTH=2;BYMONTHDAY=-28,30;BYMINUTE=25;COUNT=183",
		"long steps in an hour":       "RRULE:FREQ=SECONDLY;INTERVAL=86399;BYHOUR=1 " + repeat(14, "EXRULE:FREQ=DAILY;INTERVAL=%d;BYHOUR=1;BYMINUTE=1 ", func(i int) []any { return []any{2 + i} }),
		"minutes without steps":       "RRULE:FREQ=MINUTELY EXRULE:FREQ=MINUTELY;INTERVAL=7;BYHOUR=1,2,3,4,5,6,7,8,9;COUNT=9999999",
		"months out of minutes":       "RRULE:FREQ=MINUTELY EXRULE:FREQ=MINUTELY;BYMONTH=3,4,5;UNTIL=20300101T000000Z",
		"days that cancel each other": "RRULE:FREQ=YEARLY;INTERVAL=40;BYHOUR=20 " + repeat(8, "RRULE:FREQ=DAILY;INTERVAL=%d;BYHOUR=%[1]d EXRULE:FREQ=DAILY;INTERVAL=%[1]d;BYHOUR=%[1]d ", func(i int) []any { return []any{2 + i} }),
		"months on a grid of minutes": "RRULE:FREQ=MONTHLY;INTERVAL=13;UNTIL=21000723T021818Z RRULE:FREQ=SECONDLY;INTERVAL=2 EXRULE:FREQ=MINUTELY;INTERVAL=90",
		"steps on a product":          "RRULE:FREQ=DAILY;INTERVAL=3;BYMONTH=10,12,4 RRULE:FREQ=SECONDLY;INTERVAL=90;BYMONTHDAY=7,1;BYYEARDAY=27,336 EXRULE:FREQ=YEARLY;INTERVAL=11;BYHOUR=14,20,12,1;COUNT=107 EXRULE:FREQ=SECONDLY;INTERVAL=5;BYMONTH=6,11,12",
		"a minute in four hundred, all excluded for a lifetime": "RRULE:FREQ=DAILY;INTERVAL=1440;BYHOUR=13;BYMINUTE=13,52,54,29 RRULE:FREQ=MINUTELY;INTERVAL=451;BYDAY=SU;BYHOUR=6,16,17,8,23,18,0;" +
			"BYMINUTE=55,43,6,49,35,44,15,0,32,39,7,25,8,59,30,40,47,29,24,2 EXRULE:FREQ=SECONDLY;INTERVAL=90;BYDAY=SA;BYHOUR=0,1,2,3,4,5,6,7;UNTIL=20241231T000000Z EXRULE:FREQ=SECONDLY;COUNT=999999999",
		"days that meet hours every few centuries": "RRULE:FREQ=HOURLY;INTERVAL=7919;BYYEARDAY=150,205,112,128,25;BYDAY=MO,TU RRULE:FREQ=DAILY;INTERVAL=86400;BYMONTHDAY=-10;BYYEARDAY=222,88 RRULE:FREQ=SECONDLY;INTERVAL=1440;BYHOUR=16;" +
			"BYSECOND=57,3,56,16 RRULE:FREQ=HOURLY;INTERVAL=86399;BYMONTH=5,11;BYMONTHDAY=29 EXRULE:FREQ=WEEKLY;INTERVAL=39;BYMINUTE=19,54",
		"hours on a Sunday, every few years": "RRULE:FREQ=YEARLY;BYMONTHDAY=1 EXRULE:FREQ=HOURLY;INTERVAL=97;BYMONTH=9,8,3;BYDAY=SU " + repeat(12, "RRULE:FREQ=HOURLY;INTERVAL=%d;BYMONTH=%d,3;BYDAY=SU ", func(i int) []any { return []any{61 + 2*i, 1 + i} }),
		"hours on a day of the year":         "RRULE:FREQ=MINUTELY;INTERVAL=3355;BYYEARDAY=290;BYDAY=FR,SU,TH,SA,MO;COUNT=1000",
		"count of seldom days":               "RRULE:FREQ=MINUTELY;INTERVAL=438;BYMONTHDAY=-3,-5,-6,-7,13,19,-28,30;COUNT=1000000",
		"a week less a second":               "RRULE:FREQ=SECONDLY;INTERVAL=604799;BYMINUTE=1,3,27,29,35,47,49,51;BYDAY=MO",
		"weeks on a grid of hours":           "RRULE:FREQ=WEEKLY EXRULE:FREQ=HOURLY;INTERVAL=7",
		"few weeks on a grid of hours":       "RRULE:FREQ=WEEKLY;COUNT=2 EXRULE:FREQ=HOURLY;INTERVAL=7",
		"many positions": "RRULE:FREQ=DAILY;BYHOUR=0,3,6,9,12;BYMINUTE=1,2,3,5,7,11,13;BYSECOND=1,2,3,5,7,11;BYSETPOS=" +
			strings.TrimSuffix(repeat(100, "%d,", func(i int) []any { return []any{1 + i*2} }), ","),
	}
	for name, text := range texts {
		texts[name] = "DTSTART:20240101T000000Z " + strings.TrimSpace(text)
	}
	return texts
}

// BenchmarkHostile parses, compiles and previews hostile texts. The slowest should take less than 50 ms on any machine.
func BenchmarkHostile(b *testing.B) {
	created := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, text := range hostile() {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				rule, err := ParseRRule(text, RFC5545)
				if err != nil {
					b.Fatal(err)
				}
				if p, err := NewPlan(Timing{Recurrence: &Recurrence{Rule: rule}}, created); err == nil {
					p.Preview(time.Time{}, 10)
				}
			}
		})
	}
}

// TestHostile shows that hostile texts come to an end, and are told as what they are: refused where it would take too
// long to find out when they end, rules that never fire, or rules that do. A search without a bound would not end within
// the time of the test.
func TestHostile(t *testing.T) {
	refused := map[string]string{"count of a rare step": "part COUNT: too costly", "counts of steps": "part COUNT: too costly", "count of seldom days": "part COUNT: too costly"}
	never := map[string]bool{
		"30 February": true, "unreachable hour": true, "all seconds excluded": true, "excluded by halves": true,
		"excluded on another grid": true, "excluded by another unit": true, "two days, never the same": true,
		"the wrong weekday": true, "a week less a second": true, "many rules, all excluded": true, "weeks on a grid of hours": true, "few weeks on a grid of hours": true,
	}
	created := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, text := range hostile() {
		rule, err := ParseRRule(text, RFC5545)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		p, err := NewPlan(Timing{Recurrence: &Recurrence{Rule: rule}}, created)
		if message, ok := refused[name]; ok || err != nil {
			if !ok || err == nil || !strings.Contains(err.Error(), message) {
				t.Errorf("%s: %v, want %q", name, err, message)
			}
			continue
		}
		v := p.Preview(time.Time{}, 10)
		if fires := len(v.Times) > 0; fires == never[name] {
			t.Errorf("%s: fires: %v", name, fires)
		}
		if v.Complete != (len(v.Times) < 10) {
			t.Errorf("%s: %d times, complete: %v", name, len(v.Times), v.Complete)
		}
	}
}
