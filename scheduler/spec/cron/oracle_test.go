package cron

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/instant"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/language"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/tz"
)

// The oracle answers "does this expression fire in this second?" from the text, by the calendar of package time, one
// second at a time. It shares nothing with the code that it checks, and believes that the text is valid.
type oracle struct {
	day, month, weekday, year string
	seconds, minutes, hours   [60]bool
	zone                      *time.Location
	dst                       instant.DST
	and, obsidian             bool

	begin, end    time.Time // between which the clock was not changed
	before, start time.Time // what it would have shown at begin, and what it showed
}

func newOracle(text string, dialect language.Dialect, zone *time.Location, dst instant.DST) *oracle {
	f := strings.Fields(strings.ToUpper(text))
	o := oracle{day: f[2], month: f[3], weekday: f[4], year: "*", zone: zone, dst: dst, obsidian: dialect == language.Obsidian}
	second := "0"
	if len(f) > 5 && dialect == language.Dsari {
		second = f[5]
	} else if len(f) > 5 {
		o.year = f[5]
	}
	for n := range 60 {
		o.seconds[n], o.minutes[n], o.hours[n] = inList(second, n, 0, 59), inList(f[0], n, 0, 59), inList(f[1], n, 0, 23)
	}
	own := instant.DST{Gap: instant.GapNext, Overlap: instant.OverlapFirst}
	if f[0][0] == '*' || f[1][0] == '*' || !slices.Contains(o.hours[:24], false) {
		own = instant.DST{Gap: instant.GapSkip, Overlap: instant.OverlapBoth}
	}
	if dst.Gap == instant.GapDefault {
		o.dst.Gap = own.Gap
	}
	if dst.Overlap == instant.OverlapDefault {
		o.dst.Overlap = own.Overlap
	}
	return &o
}

// fires reports whether an instant is an occurrence. Local times are held as if they were UTC.
func (o *oracle) fires(t time.Time) bool {
	local := localOf(t.In(o.zone))
	if o.end.IsZero() || !t.Before(o.end) || t.Before(o.begin) {
		o.begin, o.end = t.In(o.zone).ZoneBounds()
		o.before, o.start = time.Time{}, time.Time{}
		if !o.begin.IsZero() {
			o.start = localOf(o.begin.In(o.zone))
			o.before = localOf(o.begin.Add(-time.Second).In(o.zone)).Add(time.Second)
		}
	}
	if o.dst.Overlap == instant.OverlapFirst && local.Before(o.before) {
		return false // shown before
	}
	if o.matches(local) {
		return true
	}
	switch moved := o.before.Add(t.Sub(o.begin)); {
	case o.dst.Gap == instant.GapShift:
		return moved.Before(o.start) && o.matches(moved)
	case o.dst.Gap == instant.GapNext && t.Equal(o.begin):
		for w := o.before; w.Before(o.start); w = w.Add(time.Second) {
			if o.matches(w) {
				return true
			}
		}
	}
	return false
}

func localOf(t time.Time) time.Time {
	_, offset := t.Zone()
	return t.UTC().Add(time.Duration(offset) * time.Second)
}

func (o *oracle) matches(w time.Time) bool {
	hour, minute, second := w.Clock()
	if !o.seconds[second] || !o.minutes[minute] || !o.hours[hour] {
		return false
	}
	if !inList(o.month, int(w.Month()), 1, 12) || o.year != "*" && !inList(o.year, w.Year(), 2010, 2999) {
		return false
	}
	day, weekday := o.matchesDay(w), o.matchesWeekday(w)
	if o.day != "*" && o.weekday != "*" && !o.and {
		return day || weekday
	}
	return day && weekday
}

func (o *oracle) matchesDay(w time.Time) bool {
	for element := range strings.SplitSeq(o.day, ",") {
		near, found := strings.CutSuffix(element, "W")
		switch {
		case element == "L":
			if w.AddDate(0, 0, 1).Day() == 1 {
				return true
			}
		case found:
			n, _ := strconv.Atoi(near)
			target := time.Date(w.Year(), w.Month(), n, 0, 0, 0, 0, time.UTC)
			if target.Month() != w.Month() {
				continue
			}
			for _, step := range []int{0, -1, 1, -2, 2} {
				d := target.AddDate(0, 0, step)
				if d.Month() == w.Month() && d.Weekday() != time.Saturday && d.Weekday() != time.Sunday {
					if d.Day() == w.Day() {
						return true
					}
					break
				}
			}
		case inList(element, w.Day(), 1, 31):
			return true
		}
	}
	return false
}

func (o *oracle) matchesWeekday(w time.Time) bool {
	for element := range strings.SplitSeq(o.weekday, ",") {
		last, ended := strings.CutSuffix(element, "L")
		name, nth, numbered := strings.Cut(element, "#")
		switch {
		case ended:
			if numberOf(last)%7 == int(w.Weekday()) && w.AddDate(0, 0, 7).Month() != w.Month() {
				return true
			}
		case numbered:
			if numberOf(name)%7 == int(w.Weekday()) && strconv.Itoa((w.Day()+6)/7) == nth {
				return true
			}
		case inList(element, int(w.Weekday()), 0, 6):
			return true
		case w.Weekday() == time.Sunday && (o.toSeventh(element) && inList(element, 7, 0, 7) || element[0] == '7'):
			return true
		}
	}
	return false
}

// toSeventh reports whether an element of the days of the week may reach a Sunday that is 7.
func (o *oracle) toSeventh(element string) bool {
	return strings.Contains(element, "-") || o.obsidian && strings.Contains(element, "/") && element[0] != '*'
}

func inList(list string, n, lo, hi int) bool {
	for element := range strings.SplitSeq(list, ",") {
		body, stepText, stepped := strings.Cut(element, "/")
		step := 1
		if stepped {
			step, _ = strconv.Atoi(stepText)
		}
		from, to, ranged := strings.Cut(body, "-")
		a, b := lo, hi
		switch {
		case ranged:
			a, b = numberOf(from), numberOf(to)
			if to == "SUN" || to == "0" && a > 0 {
				b = 7
			}
		case body != "*":
			a = numberOf(body)
			if !stepped {
				b = a
			}
		}
		if n >= a && n <= b && (n-a)%step == 0 {
			return true
		}
	}
	return false
}

func numberOf(text string) int {
	const months, weekdays = "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC", "SUNMONTUEWEDTHUFRISAT"
	if i := strings.Index(months, text); i >= 0 && len(text) == 3 {
		return i/3 + 1
	}
	if i := strings.Index(weekdays, text); i >= 0 && len(text) == 3 {
		return i / 3
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(text)
	}
	return n
}

// checkSpan compares a schedule with the oracle in every second, or every minute, of a span.
func checkSpan(tb testing.TB, text string, o *oracle, s *instant.Schedule, from time.Time, span, unit time.Duration) {
	tb.Helper()
	from = from.Truncate(unit)
	next, ok := s.Next(from.Add(-1))
	n := 0
	for at := from; at.Before(from.Add(span)); at = at.Add(unit) {
		due := ok && next.Equal(at)
		if fires := o.fires(at); fires != due {
			tb.Fatalf("%q in %s at %v (%v): oracle %v, but next is %v %v", text, o.zone, at, at.In(o.zone), fires, next, ok)
		}
		if due {
			n++
			next, ok = s.Next(at)
		}
		if ok && !next.After(at) {
			tb.Fatalf("%q in %s: %v is not in any %v", text, o.zone, next, unit)
		}
	}
	if got := s.Count(from, from.Add(span-1)); got != n {
		tb.Fatalf("%q in %s: Count from %v for %v is %d, not %d", text, o.zone, from, span, got, n)
	}
}

// randomCron makes an expression. Fields are often simple, so that it fires now and then.
func randomCron(r *rand.Rand, dialect language.Dialect) string {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	number := func(lo, hi int) string { return strconv.Itoa(lo + r.IntN(hi-lo+1)) }
	field := func(lo, hi int) string {
		a := lo + r.IntN(hi-lo+1)
		b := a + r.IntN(hi-a+1)
		switch r.IntN(9) {
		case 0:
			return "*/" + number(1, hi)
		case 1:
			return fmt.Sprintf("%d-%d", a, b)
		case 2:
			return fmt.Sprintf("%d/%s", a, number(1, hi))
		case 3:
			return fmt.Sprintf("%d-%d/%s", a, b, number(1, 9))
		case 4, 5:
			return number(lo, hi)
		case 6:
			return number(lo, hi) + "," + number(lo, hi) + "," + fmt.Sprintf("%d-%d", a, b)
		}
		return "*"
	}
	day, week := field(1, 31), field(0, 6)
	switch r.IntN(8) {
	case 0, 1, 2:
		week = "*"
	case 3:
		day = "*"
	case 4:
		week = pick("7", "5-7", "0-7", "FRI-SUN", "SAT,SUN", "MON-FRI", "6-7", "1-7/2", "7/2", "5-0")
	}
	fields := []string{field(0, 59), field(0, 23), day, pick("*", "*", field(1, 12), "FEB", "JAN-MAR", "2"), week}
	if dialect == language.Dsari {
		return strings.Join(append(fields, pick("0", "30", "*/20", field(0, 59))), " ")
	}
	switch r.IntN(6) {
	case 0:
		fields[2] = pick("L", "15,L", "1W", "15W", "31W", "29W", number(1, 31)+"W")
	case 1:
		fields[4] = pick("5L", "0L", "7L", "FRIL", "5#2", "7#1", "1#5", "SUN#3", "1#2,3#4", "2#1,5L", "1-3,5#2", "MON,5L", "5L,SAT,7#1", "6/1", "1/2", "3/4,2#2")
	}
	if r.IntN(5) == 0 {
		fields = append(fields, pick("*", "2024-2027", "2024/2", "*/3", "2026", "2024,2026"))
	}
	return strings.Join(fields, " ")
}

// TestCronEverySecond compares random expressions with the oracle around changes of the clock and elsewhere: each second
// for dsari, each minute for Obsidian, which has no others.
func TestCronEverySecond(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	names := tz.Names()
	awkward := []string{
		"America/New_York", "Europe/London", "Australia/Lord_Howe", "Antarctica/Troll", "America/Sao_Paulo",
		"America/Havana", "Asia/Beirut", "Pacific/Apia", "Africa/Casablanca", "Africa/Cairo",
	}
	policies := []instant.DST{{}, {Gap: instant.GapNext, Overlap: instant.OverlapFirst}, {Gap: instant.GapSkip, Overlap: instant.OverlapBoth}, {Gap: instant.GapShift, Overlap: instant.OverlapFirst}, {Gap: instant.GapShift, Overlap: instant.OverlapBoth}, {Gap: instant.GapSkip, Overlap: instant.OverlapFirst}, {Gap: instant.GapNext, Overlap: instant.OverlapBoth}}
	for i := range 400 {
		dialect, unit, span := language.Obsidian, time.Minute, 9*24*time.Hour
		if i%2 == 1 {
			dialect, unit, span = language.Dsari, time.Second, 5*time.Hour
		}
		name := awkward[i%len(awkward)]
		if i%3 == 0 {
			name = names[r.IntN(len(names))]
		}
		text, zone, dst := randomCron(r, dialect), zoneNamed(t, name), policies[r.IntN(len(policies))]
		rule, err := Parse(text, dialect)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		rule.(*Expression).And = r.IntN(4) == 0
		schedule := compiled(t, rule, language.Context{Zone: zone, DST: dst})
		o := newOracle(text, dialect, zone, dst)
		o.and = rule.(*Expression).And
		from := time.Unix(1_000_000_000+r.Int64N(1_200_000_000), 0)
		if name == "Pacific/Apia" {
			from = time.Date(2011, 12, 1, 0, 0, 0, 0, time.UTC)
		}
		if _, change := from.In(zone).ZoneBounds(); !change.IsZero() {
			from = change.Add(-span / 2)
		}
		checkSpan(t, text, o, schedule, from.UTC(), span, unit)
	}
}

// TestCronSampledDays compares the days of expressions that fire rarely with the oracle over fourteen years, at noon.
func TestCronSampledDays(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 150 {
		text := "0 12 " + strings.Join(strings.Fields(randomCron(r, language.Obsidian))[2:], " ")
		rule, err := Parse(text, language.Obsidian)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		schedule := compiled(t, rule, language.Context{})
		o := newOracle(text, language.Obsidian, time.UTC, instant.DST{Gap: instant.GapNext, Overlap: instant.OverlapFirst})
		from := time.Date(1995+r.IntN(60), 1, 1, 12, 0, 0, 0, time.UTC)
		var want []time.Time
		for day := range 14 * 366 {
			if at := from.AddDate(0, 0, day); o.matches(at) {
				want = append(want, at)
			}
		}
		got := nexts(schedule, from.Add(-1), len(want))
		if !slices.EqualFunc(got, want, time.Time.Equal) {
			t.Fatalf("%q from %v: %d and %d days; first got %v, expected %v", text, from, len(got), len(want), got[:min(9, len(got))], want[:min(9, len(want))])
		}
		if n := schedule.Count(from, from.AddDate(0, 0, 14*366-1)); n != len(want) {
			t.Fatalf("%q from %v: Count is %d, not %d", text, from, n, len(want))
		}
	}
}
