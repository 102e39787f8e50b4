package rrule

import (
	"testing"
	"time"

	rrulego "github.com/teambition/rrule-go"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/language"
)

// rruleBenchmarks are rules that started ten years before they are asked.
var rruleBenchmarks = []struct{ name, rule string }{
	{"minutesOfMonday", "FREQ=MINUTELY;BYDAY=MO"},
	{"lastWeekday", "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1"},
	{"lastFriday", "FREQ=MONTHLY;BYDAY=-1FR"},
	{"everySevenMinutes", "FREQ=MINUTELY;INTERVAL=7"},
	{"everySecondWeek", "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,WE,FR"},
	{"leapDay", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29"},
	{"friday13", "FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13"},
}

const rruleBenchStart = "DTSTART;TZID=America/New_York:20150105T090000"

// moments returns instants of a year, in no order.
func moments() []time.Time {
	r := newRandomRule(1)
	list := make([]time.Time, 1024)
	for i := range list {
		list[i] = time.Unix(1_735_689_600+r.Int64N(31_536_000), 0)
	}
	return list
}

func BenchmarkRRuleNext(b *testing.B) {
	at := moments()
	for _, bench := range rruleBenchmarks {
		b.Run(bench.name+"/carillon", func(b *testing.B) {
			rule, err := Parse(rruleBenchStart+"\nRRULE:"+bench.rule, language.RFC5545)
			if err != nil {
				b.Fatal(err)
			}
			s, err := rule.Compile(language.Context{})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				s.Next(at[i%len(at)])
				i++
			}
		})
		b.Run(bench.name+"/rrule-go", func(b *testing.B) {
			set, err := rrulego.StrToRRuleSet(rruleBenchStart + "\nRRULE:" + bench.rule)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				set.After(at[i%len(at)], false)
				i++
			}
		})
	}
}

func BenchmarkRRuleParse(b *testing.B) {
	const text = rruleBenchStart + "\nRRULE:FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1"
	for name, dialect := range map[string]language.Dialect{"rfc5545": language.RFC5545, "dsari": language.Dsari} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Parse(text, dialect); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("awx", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Parse(rruleBenchStart+" RRULE:FREQ=MONTHLY;INTERVAL=1;BYDAY=FR;BYSETPOS=-1", language.AWX); err != nil {
				b.Fatal(err)
			}
		}
	})
}
