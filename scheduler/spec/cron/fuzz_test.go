package cron

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler/internal/climb"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/instant"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/language"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/tz"
)

// cronSeeds are expressions that fuzzing begins with.
var cronSeeds = []string{
	"*/15 9-17 * * 1-5", "0 0 29 2 *", "0 0 30 2 *", "15 5,17 L * * 2026 Europe/London; 0 0 15W * 5#2", "@weekly",
	"@recur 5 mon 2024-01-31 02:30", "@recur 7 h", "H H(0-7) * * *", "H(30-59)/10 R/7 1-31/2 JAN-MAR FRI-SUN H/20",
	"0 0 1 1 * 2999", "* * * * * *", "0 22-2 * * *", "0 0 12 * * ?", "every 5 minutes", "٣ * * * *", "0 0 * * 5L,1",
	";", "@", "@recur", "1,,2 * * * *", "H( * * * *", "59 23 31 12 7 * Pacific/Apia",
}

// FuzzParseCron reads any text in both dialects: nothing panics, an error is made of SyntaxErrors that point into the
// text, and what is accepted can be compiled, described and asked, soon enough.
func FuzzParseCron(f *testing.F) {
	for _, text := range cronSeeds {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, dialect := range []language.Dialect{language.Obsidian, language.Dsari} {
			s := language.Context{Name: "job1", Zone: time.UTC, Created: time.Unix(1_704_874_837, 5)}
			var rule language.Rule
			var err error
			cost := climb.Measure(func() {
				if rule, err = Parse(text, dialect); err == nil {
					nexts(compiled(t, rule, s), s.Created, 10)
				}
			})
			if cost.Processor > time.Second { // of this thread: what other programs take counts for nothing
				t.Fatalf("%q took %v", text, cost.Processor)
			}
			if err != nil {
				checkErrors(t, text, err)
				continue
			}
			if description := rule.Describe(s); strings.TrimSpace(description) == "" || strings.Contains(description, "  ") {
				t.Fatalf("%q is described as %q", text, description)
			}
		}
	})
}

func checkErrors(t *testing.T, text string, err error) {
	t.Helper()
	list := []error{err}
	if joined, ok := errors.AsType[interface {
		error
		Unwrap() []error
	}](err); ok {
		list = joined.Unwrap()
	}
	for _, one := range list {
		syntax, ok := errors.AsType[*language.SyntaxError](one)
		if !ok {
			t.Fatalf("%q: %T is no SyntaxError", text, one)
		}
		if syntax.Column < 0 || syntax.Column > len([]rune(text))+1 || syntax.Message == "" {
			t.Fatalf("%q: %#v", text, syntax)
		}
	}
}

// FuzzNextCron asks when any expression fires, in any zone, from any time on: instants ascend, Last and Count agree with Next,
// and what two patterns have in common comes once.
func FuzzNextCron(f *testing.F) {
	for i, text := range cronSeeds {
		f.Add(text, uint64(i/8), i%2 == 0, uint16(i*37), uint8(i), int64(1_704_874_837))
	}
	names := tz.Names()
	f.Fuzz(func(t *testing.T, text string, shape uint64, dsari bool, zone uint16, policy uint8, at int64) {
		dialect := language.Obsidian
		if dsari {
			dialect = language.Dsari
		}
		if shape != 0 { // an expression that is right instead of any text
			text = randomCron(rand.New(rand.NewPCG(shape, 0)), dialect)
		}
		rule, err := Parse(text, dialect)
		if err != nil {
			if shape != 0 {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		const edge = 253_402_300_799 // the end of the year 9999
		at = min(max(at, -62_135_596_800), edge)
		s := language.Context{
			Name: text, Zone: zoneNamed(t, names[int(zone)%len(names)]), Created: time.Unix(at-1000, 0),
			DST: instant.DST{Gap: instant.Gap(policy % 4), Overlap: instant.Overlap(policy / 4 % 3)},
		}
		schedule := compiled(t, rule, s)
		list := nexts(schedule, time.Unix(at, 0), 12)
		consistent(t, schedule, time.Unix(at, 0), list)
		if !slices.Equal(list, nexts(schedule, time.Unix(at, 0), 12)) {
			t.Fatalf("%q answers differently when it is asked again", text)
		}
	})
}

// TestCronBounds reads long texts. None of 1 KB takes more than some 10 ms to parse, compile and preview, as the log says;
// a search without a bound would not come to its end within the time of the test.
func TestCronBounds(t *testing.T) {
	fill := func(part string) string { return strings.Repeat(part, 1024/len(part)) }
	for _, text := range []string{
		fill("* * * * *;") + "* * * * *", fill("0 0 30 2 *;") + "0 0 30 2 *", fill("0 0 29W 2 5#5 2999;") + "0 0 1 1 *",
		strings.TrimSuffix(fill("0,"), ",") + " * * * *", fill("x,"), fill("1-2-3,") + " * * * *", fill("?"), fill("@"),
		fill("@recur "), fill("7 7 7 7 7 * Asia/Gaza;") + "7 7 7 7 7", fill("0 0 29 2 * 2100;") + "0 0 29 2 * 2100",
		fill("every "), fill("H"), manyZones(), fill("0 "), fill(";"), "0 0 31 2 * */2;" + fill("0 0 31 4 * 2010/7;") + "0 0 30 2 1#5",
		"0 0 29 2 1#5 2011/8", fill("é"), "0 0 * * * * " + fill("Europe/"), "@recur 1 min 1900-01-01 00:00",
		"@recur 99999 months", "@recur 99999 weeks 2999-12-31 23:59",
	} {
		for _, dialect := range []language.Dialect{language.Obsidian, language.Dsari} {
			zone, begin := zoneNamed(t, "America/New_York"), time.Now()
			cost := climb.Measure(func() {
				if rule, err := Parse(text, dialect); err == nil {
					s := language.Context{Zone: zone, Created: begin}
					nexts(compiled(t, rule, s), begin, 10)
					rule.Describe(s)
				}
			})
			t.Logf("%8v %s %.40s…", cost.Processor.Round(time.Microsecond), dialect, text)
		}
	}
}

// manyZones returns an expression of a kilobyte with as many zones as fit in.
func manyZones() string {
	var b strings.Builder
	for _, name := range tz.Names() {
		if len(name) < 12 && strings.Contains(name, "/") && b.Len() < 1000 {
			b.WriteString("0 0 29 2 * * " + name + ";")
		}
	}
	return strings.TrimSuffix(b.String(), ";")
}
