package rrule

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/instant"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/language"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/tz"
)

// randomRule writes random rules.
type randomRule struct{ *rand.Rand }

func newRandomRule(seed uint64) randomRule { return randomRule{rand.New(rand.NewPCG(seed, 1))} }

// maybe reports true once in n times.
func (r randomRule) maybe(n int) bool { return r.IntN(n) == 0 }

func (r randomRule) list(lo, hi, most int, signed bool) string {
	var words []string
	for range 1 + r.IntN(most) {
		n := lo + r.IntN(hi-lo+1)
		if signed && r.maybe(3) {
			n = -n
		}
		words = append(words, strconv.Itoa(n))
	}
	return strings.Join(words, ",")
}

// rule returns the value of an RRULE.
func (r randomRule) rule() string {
	freq := rruleFreq(r.IntN(7))
	parts := []string{"FREQ=" + freq.String()}
	add := func(once int, name, value string) bool {
		if r.maybe(once) {
			parts = append(parts, name+"="+value)
			return true
		}
		return false
	}
	add(2, "INTERVAL", strconv.Itoa([]int{1, 2, 3, 4, 5, 7, 12, 15, 24, 60, 90, 1 + r.IntN(200)}[r.IntN(12)]))
	add(4, "BYMONTH", r.list(1, 12, 4, false))
	add(4, "BYMONTHDAY", r.list(1, 31, 4, true))
	add(12, "BYYEARDAY", r.list(1, 366, 6, true))
	weekly := add(12, "BYWEEKNO", r.list(1, 53, 5, true))
	if days := r.days(freq <= freqMonthly && !weekly); r.maybe(3) {
		parts = append(parts, "BYDAY="+days)
	}
	add(3, "BYHOUR", r.list(0, 23, 4, false))
	add(4, "BYMINUTE", r.list(0, 59, 4, false))
	add(6, "BYSECOND", r.list(0, 59, 3, false))
	add(5, "BYSETPOS", r.list(1, 4, 3, true))
	add(4, "WKST", rruleDays[r.IntN(7)])
	r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	return strings.Join(parts, ";")
}

// days returns a list of weekdays: all of them with a number, or none.
func (r randomRule) days(numbered bool) string {
	numbered = numbered && r.maybe(2)
	var words []string
	for range 1 + r.IntN(4) {
		day := rruleDays[r.IntN(7)]
		if numbered {
			day = r.list(1, 5, 1, true) + day
		}
		words = append(words, day)
	}
	return strings.Join(words, ",")
}

// start returns a random local time.
func (r randomRule) start() time.Time {
	return time.Date(1997+r.IntN(35), time.Month(1+r.IntN(12)), 1+r.IntN(31), r.IntN(24), r.IntN(60), r.IntN(3)*15, 0, time.UTC)
}

// set returns a DTSTART with rules in a random zone.
func (r randomRule) set() (text string, start time.Time, zone *time.Location) {
	names := tz.Names()
	zone, _ = tz.Load(names[r.IntN(len(names))])
	start = r.start()
	lines := []string{"DTSTART;TZID=" + zone.String() + ":" + start.Format("20060102T150405")}
	for range 1 + r.IntN(5)/3 {
		rule := "RRULE:" + r.rule()
		switch r.IntN(5) {
		case 0:
			rule += ";COUNT=" + strconv.Itoa(1+r.IntN(40))
		case 1:
			rule += ";UNTIL=" + start.Add(time.Duration(r.IntN(1000))*3*time.Hour).Format("20060102T150405Z")
		}
		lines = append(lines, rule)
	}
	for range max(0, r.IntN(4)-2) {
		lines = append(lines, "EXRULE:"+r.rule())
	}
	return strings.Join(lines, "\n"), start, zone
}

// checkAgainstOracle compares every second of a span that a seed chooses with the oracle.
func checkAgainstOracle(t *testing.T, seed uint64) {
	t.Helper()
	r := newRandomRule(seed)
	text, start, zone := r.set()
	set, err := parseRuleSet(text, language.RFC5545)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	skip := r.maybe(2)
	setting := language.Context{DST: instant.DST{Gap: instant.GapShift}}
	if skip {
		setting.DST.Gap = instant.GapSkip
	}
	s, err := set.Compile(setting)
	if err != nil {
		t.Skip(err) // nothing is left of so many
	}
	from := start.AddDate(0, 0, -1)
	if !strings.Contains(text, "COUNT") {
		from = start.AddDate(0, 0, r.IntN(4000))
	}
	days := []int{2, 40, 400}[r.IntN(3)]
	for _, rule := range slices.Concat(set.rules, set.excluded) { // no more than some hundred thousand instances
		days = min(days, []int{400, 400, 400, 400, 60, 10, 2}[rule.freq])
	}
	times := oracleLocalTimes(set, from, from.AddDate(0, 0, days))
	first, final := midnight(from).Unix()+tz.Margin, midnight(from).Unix()+int64(days)*calendar.DayLength-tz.Margin
	within := func(u int64) bool { return u >= first && u <= final }
	want := slices.DeleteFunc(oracleInstants(times, zone, skip), func(u int64) bool { return !within(u) })
	begin, end := time.Unix(first, 0), time.Unix(final, 0)
	if n := s.Count(begin, end); n != len(want) {
		t.Errorf("seed %d, skip %v: %q\n%d runs from %v to %v, want %d", seed, skip, text, n, begin, end, len(want))
	}
	if last, ok := s.Last(end); len(want) > 0 && (!ok || last.Unix() != want[len(want)-1]) {
		t.Errorf("seed %d, skip %v: %q\nlast run before %v at %v, want %v", seed, skip, text, end, last, time.Unix(want[len(want)-1], 0))
	}
	at, ok := s.Next(begin.Add(-time.Second))
	for i := 0; ; i++ {
		if i == len(want) {
			if ok && within(at.Unix()) {
				t.Fatalf("seed %d, skip %v: %q\nruns at %v, number %d, and should not", seed, skip, text, at.In(zone), i)
			}
			return
		}
		if !ok || at.Unix() != want[i] {
			t.Fatalf("seed %d, skip %v: %q\nrun %d at %v, want %v", seed, skip, text, i, at.In(zone), time.Unix(want[i], 0).In(zone))
		}
		at, ok = s.Next(at)
	}
}

// TestRRuleAgainstOracle checks random rules in zones of all kinds: that the instants are those of the oracle, with
// nothing between them, and that Count and Last agree.
func TestRRuleAgainstOracle(t *testing.T) {
	for seed := range uint64(300) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) { checkAgainstOracle(t, seed) })
	}
}

func FuzzNextRRule(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed)
	}
	f.Fuzz(checkAgainstOracle)
}
