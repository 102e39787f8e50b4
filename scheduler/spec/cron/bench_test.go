package cron

import (
	"testing"
	"time"

	"github.com/hashicorp/cronexpr"
	"github.com/robfig/cron/v3"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/language"
)

var cronBenchmarks = []struct{ name, text string }{
	{"office", "*/15 9-17 * * 1-5"},
	{"leapDay", "0 0 29 2 *"},
	{"minute", "* * * * *"},
}

// instants returns a thousand instants of two years in a zone, in no order.
func instants(zone *time.Location) []time.Time {
	list := make([]time.Time, 1000)
	for i := range list {
		list[i] = time.Date(2024, 1, 1, 0, 0, 0, 0, zone).Add(time.Duration(i*7919%1000) * 17 * time.Hour)
	}
	return list
}

// BenchmarkCronNext measures Next of parsed expressions beside two other libraries.
func BenchmarkCronNext(b *testing.B) {
	for _, bench := range cronBenchmarks {
		for _, name := range []string{"UTC", "America/New_York"} {
			zone := zoneNamed(b, name)
			rule, err := Parse(bench.text, language.Obsidian)
			if err != nil {
				b.Fatal(err)
			}
			ours := compiled(b, rule, language.Context{Zone: zone})
			robfig, err := cron.ParseStandard(bench.text)
			if err != nil {
				b.Fatal(err)
			}
			hashicorp := cronexpr.MustParse(bench.text)
			times := instants(zone)
			measure := func(library string, next func(t time.Time)) {
				b.Run(bench.name+"/"+name+"/"+library, func(b *testing.B) {
					b.ReportAllocs()
					for i := 0; b.Loop(); i++ {
						next(times[i%len(times)])
					}
				})
			}
			measure("carillon", func(t time.Time) { ours.Next(t) })
			measure("robfig", func(t time.Time) { robfig.Next(t) })
			measure("cronexpr", func(t time.Time) { hashicorp.Next(t) })
		}
	}
}

// BenchmarkCronParse measures the way from a text to a schedule, and of a parser alone.
func BenchmarkCronParse(b *testing.B) {
	const text = "*/15 9-17 * * 1-5"
	b.Run("carillon", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Parse(text, language.Obsidian); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("carillonCompiled", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			rule, _ := Parse(text, language.Obsidian)
			compiled(b, rule, language.Context{})
		}
	})
	b.Run("robfig", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := cron.ParseStandard(text); err != nil {
				b.Fatal(err)
			}
		}
	})
}
