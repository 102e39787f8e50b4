package spec_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/internal/climb"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// asked is what is asked about a schedule.
type asked int

const (
	askPreview asked = iota // of as many runs as may be
	askLater                // the same, long after the first
	askPut                  // the first run, the description, the warnings, and the quota of a collection
	askMissed               // how many were missed in a year
	askLast                 // the last ones before an instant, as after an outage
	askGaps                 // what the next change of the clock takes
	asks
)

// timed is a schedule as users write it, in parts that can be changed, with a question.
type timed struct {
	ask                            asked
	zone, gap, overlap, start, end string
	count, now, at                 int    // seconds since the epoch
	dialect, dtstart               string // of rules; with neither rules nor patterns it is a frequency
	rules, excluded                []map[string]string
	patterns                       []string
	frequency, interval, elements  string
}

// document returns the properties that decide when a job runs.
func (s timed) document() string {
	recurrence := []string{}
	add := func(name, format string, args ...any) {
		recurrence = append(recurrence, fmt.Sprintf("%q:"+format, append([]any{name}, args...)...))
	}
	switch {
	case len(s.rules) > 0:
		text := []string{}
		if s.dtstart != "" {
			text = append(text, s.dtstart)
		}
		for i, rule := range slices.Concat(s.rules, s.excluded) {
			name := "RRULE:"
			if i >= len(s.rules) {
				name = "EXRULE:"
			}
			parts := []string{}
			for _, part := range slices.Sorted(maps.Keys(rule)) {
				parts = append(parts, part+"="+rule[part])
			}
			text = append(text, name+strings.Join(parts, ";"))
		}
		add("rrule", "%q", strings.Join(text, " "))
		add("dialect", "%q", s.dialect)
	case len(s.patterns) > 0:
		add("cron", "%q", strings.Join(s.patterns, ";"))
	default:
		add("frequency", "%q", s.frequency)
		add("interval", "%s", s.interval)
		if s.elements != "" {
			add("schedule", "{%s}", s.elements)
		}
	}
	if s.count > 0 {
		add("count", "%d", s.count)
	}
	if s.end != "" {
		add("endTime", "%q", s.end)
	}
	members := []string{`"recurrence":{` + strings.Join(recurrence, ",") + "}"}
	for name, value := range map[string]string{"startTime": s.start, "timeZone": s.zone} {
		if value != "" {
			members = append(members, fmt.Sprintf("%q:%q", name, value))
		}
	}
	if s.gap != "" {
		members = append(members, fmt.Sprintf(`"dst":{"gap":%q,"overlap":%q}`, s.gap, s.overlap))
	}
	return "{" + strings.Join(members, ",") + "}"
}

// String is how a schedule is told.
func (s timed) String() string {
	return fmt.Sprintf("question %d at %d, %d: %s", s.ask, s.now, s.at, s.document())
}

// answer asks the question, as the program does it.
func (s timed) answer() {
	v, err := document.Parse([]byte(s.document()))
	if err != nil {
		panic(err)
	}
	r := document.NewReader()
	timing := spec.ReadTiming(r.Object(v, ""))
	if r.Err() != nil {
		return
	}
	timing.Name, timing.Seed = "job", "seed"
	p, err := spec.NewPlan(timing, time.Unix(int64(s.now), 0).UTC())
	if err != nil {
		return
	}
	at := time.Unix(int64(s.at), 0).UTC()
	switch s.ask {
	case askPreview:
		p.Preview(time.Time{}, 1000)
	case askLater:
		p.Preview(at, 1000)
	case askPut:
		p.Describe()
		p.Warnings()
		p.SmallestGap(time.Second)
		p.Upcoming(5)
	case askMissed:
		p.Count(at.AddDate(-1, 0, 0), at)
	case askLast:
		if last, ok := p.Last(at); ok {
			p.Next(last)
		}
	case askGaps:
		p.DSTGap(at, time.Time{})
	}
}

func pick[T any](r *rand.Rand, values ...T) T { return values[r.IntN(len(values))] }

// numbers returns a list of numbers, of either sign if that is allowed.
func numbers(r *rand.Rand, least, most int, signed bool) string {
	list := []string{}
	for range 1 + r.IntN(1<<r.IntN(6)) {
		n := least + r.IntN(most-least+1)
		if signed && r.IntN(3) == 0 {
			n = -max(n, 1)
		}
		list = append(list, strconv.Itoa(n))
	}
	return strings.Join(list, ",")
}

// interval returns a number that makes steps meet seldom, or any.
func interval(r *rand.Rand) string {
	if r.IntN(2) == 0 {
		return strconv.Itoa(pick(r, 2, 7, 13, 59, 97, 365, 437, 1439, 1441, 3355, 7919, 14399, 43201, 86399, 86401, 604799, 604801, 999983))
	}
	return strconv.Itoa(1 + r.IntN(1<<(1+r.IntN(20))))
}

// ruleParts write the parts of a rule.
var ruleParts = map[string]func(r *rand.Rand) string{
	"FREQ": func(r *rand.Rand) string {
		return pick(r, "YEARLY", "MONTHLY", "WEEKLY", "DAILY", "HOURLY", "MINUTELY", "SECONDLY", "MINUTELY", "SECONDLY")
	},
	"INTERVAL":   interval,
	"COUNT":      func(r *rand.Rand) string { return strconv.Itoa(1 + r.IntN(1<<(1+r.IntN(29)))) },
	"UNTIL":      func(r *rand.Rand) string { return fmt.Sprintf("%d0101T000000Z", 2020+r.IntN(1<<r.IntN(13))) },
	"BYMONTH":    func(r *rand.Rand) string { return numbers(r, 1, 12, false) },
	"BYWEEKNO":   func(r *rand.Rand) string { return numbers(r, 1, 53, true) },
	"BYYEARDAY":  func(r *rand.Rand) string { return numbers(r, 1, 366, true) },
	"BYMONTHDAY": func(r *rand.Rand) string { return numbers(r, 1, 31, true) },
	"BYHOUR":     func(r *rand.Rand) string { return numbers(r, 0, 23, false) },
	"BYMINUTE":   func(r *rand.Rand) string { return numbers(r, 0, 59, false) },
	"BYSECOND":   func(r *rand.Rand) string { return numbers(r, 0, 59, false) },
	"BYSETPOS":   func(r *rand.Rand) string { return numbers(r, 1, 366, true) },
	"WKST":       func(r *rand.Rand) string { return pick(r, "MO", "SU", "WE") },
	"BYDAY": func(r *rand.Rand) string {
		list := []string{}
		for range 1 + r.IntN(6) {
			list = append(list, pick(r, "", "", "", "1", "-1", "53", "-5", "2")+pick(r, "MO", "TU", "WE", "TH", "FR", "SA", "SU"))
		}
		return strings.Join(list, ",")
	},
}

var rulePartNames = slices.Sorted(maps.Keys(ruleParts))

// someRule returns a rule with a few parts.
func someRule(r *rand.Rand) map[string]string {
	rule := map[string]string{"FREQ": ruleParts["FREQ"](r), "INTERVAL": interval(r)}
	for range r.IntN(4) {
		changePart(r, rule)
	}
	return rule
}

// changePart gives a rule another part, or takes one away.
func changePart(r *rand.Rand, rule map[string]string) {
	name := pick(r, rulePartNames...)
	if _, there := rule[name]; there && name != "FREQ" && name != "INTERVAL" && r.IntN(3) == 0 {
		delete(rule, name)
		return
	}
	if name == "COUNT" {
		delete(rule, "UNTIL")
	} else if name == "UNTIL" {
		delete(rule, "COUNT")
	}
	rule[name] = ruleParts[name](r)
}

// mostRules is how many rules a set may have, and mostPatterns how many patterns of cron fit.
const (
	mostRules    = 64
	mostPatterns = 300
)

// somePattern returns a pattern of cron.
func somePattern(r *rand.Rand) string {
	field := func(least, most int, special ...string) string {
		switch r.IntN(4) {
		case 0:
			return "*"
		case 1:
			return "*/" + strconv.Itoa(1+r.IntN(most))
		case 2:
			if len(special) > 0 {
				return pick(r, special...)
			}
		}
		return numbers(r, least, most, false)
	}
	text := strings.Join([]string{
		field(0, 59), field(0, 23), field(1, 28, "L", "15W", "31", "1"), field(1, 12, "2"), field(0, 6, "5L", "1#5", "3#1"),
		pick(r, "*", "*", "2096", "9999", fmt.Sprint(2020+r.IntN(7900)), "2024-9000/17"),
	}, " ")
	return pick(r, "", "", "", "@(Pacific/Apia) ", "@(Asia/Tokyo) ") + text
}

// changeList changes one of a list at random: one more, one less, one twice, or one in another form.
func changeList[T any](r *rand.Rand, list []T, least, most int, some func(*rand.Rand) T, change func(T) T) []T {
	list = slices.Clone(list)
	switch n := r.IntN(6); {
	case n == 0 && len(list) < most || len(list) == 0 && least > 0:
		return append(list, some(r))
	case len(list) == 0:
		return list
	case n == 1 && len(list) > least:
		i := r.IntN(len(list))
		return slices.Delete(list, i, i+1)
	case n == 2:
		for len(list) < most && r.IntN(8) > 0 {
			list = append(list, change(list[r.IntN(len(list))]))
		}
	default:
		i := r.IntN(len(list))
		list[i] = change(list[i])
	}
	return list
}

// mutate changes a schedule.
func (s timed) mutate(r *rand.Rand, other timed) timed {
	changed := func(rule map[string]string) map[string]string {
		rule = maps.Clone(rule)
		changePart(r, rule)
		return rule
	}
	switch r.IntN(12) {
	case 0:
		s.ask = asked(r.IntN(int(asks)))
	case 1:
		s.zone = pick(r, "", "America/New_York", "Africa/Casablanca", "Australia/Lord_Howe", "Antarctica/Troll", "Pacific/Apia")
	case 2:
		s.gap, s.overlap = pick(r, "", "next", "shift", "skip"), pick(r, "first", "both")
	case 3:
		s.start, s.end = pick(r, "", "2031-01-01T00:00:00Z", "9990-01-01T00:00:00Z", "0001-01-01T00:00:01Z"), pick(r, "", "9999-12-31T23:59:59Z", "2045-01-01")
	case 4:
		s.count, s.now, s.at = r.IntN(1<<(1+r.IntN(30)))-1, r.IntN(1<<33), r.IntN(1<<(30+r.IntN(8)))
	default:
		switch {
		case len(s.rules) > 0 && r.IntN(10) == 0:
			s.dtstart = pick(r, "DTSTART:20310101T000000Z", "DTSTART;TZID=Africa/Casablanca:20310101T013000", "DTSTART:00010101T000000Z", "DTSTART:99000101T000000Z", "")
		case len(s.rules) > 0 && len(other.rules) > 0 && r.IntN(8) == 0 && len(s.rules)+len(s.excluded) < mostRules:
			s.excluded = append(slices.Clone(s.excluded), other.rules[r.IntN(len(other.rules))])
		case len(s.rules) > 0 && r.IntN(3) == 0:
			s.excluded = changeList(r, s.excluded, 0, mostRules-len(s.rules), someRule, changed)
		case len(s.rules) > 0:
			s.rules = changeList(r, s.rules, 1, mostRules-len(s.excluded), someRule, changed)
		case len(s.patterns) > 0:
			s.patterns = changeList(r, s.patterns, 1, mostPatterns, somePattern, func(string) string { return somePattern(r) })
		default:
			s.frequency, s.interval = pick(r, "second", "minute", "hour", "day", "week", "month", "year"), strconv.Itoa(1+r.IntN(1<<r.IntN(11)))
			s.elements = pick(r, "", `"hours":[9],"minutes":[17]`, `"minutes":[59],"months":[2]`, `"hours":[0],"months":[6]`, `"monthDays":[29,-31],"months":[2]`, `"weekDays":["sunday"]`)
		}
	}
	return s
}

// TestClimbRules looks for the schedules that cost the most, whatever is asked about them: none may take longer than 50 ms
// of processor time, refused or not. CARILLON_FUZZ_TIME=1m climbs for a minute.
func TestClimbRules(t *testing.T) {
	rules := func(dialect, dtstart string, texts ...string) timed {
		s := timed{dialect: dialect, dtstart: dtstart, now: 1_700_000_000, at: 4_000_000_000}
		for _, text := range texts {
			rule := map[string]string{}
			text, out := strings.CutPrefix(text, "-")
			for part := range strings.SplitSeq(text, ";") {
				name, value, _ := strings.Cut(part, "=")
				rule[name] = value
			}
			if out {
				s.excluded = append(s.excluded, rule)
			} else {
				s.rules = append(s.rules, rule)
			}
		}
		return s
	}
	many := timed{now: 1_700_000_000, at: 4_000_000_000, ask: askPut}
	for i := range 200 {
		many.patterns = append(many.patterns, fmt.Sprintf("%d %d 29 2 * %d", i%60, i%24, 2028+4*i))
	}
	dense := rules("rfc5545", "DTSTART;TZID=America/New_York:20310101T000000")
	for i := range 63 {
		dense.rules = append(dense.rules, map[string]string{"FREQ": "SECONDLY", "INTERVAL": strconv.Itoa(61 + 2*i), "BYHOUR": "9"})
	}
	const start = "DTSTART:20310101T000000Z"
	climb.Climb[timed]{
		Seeds: []timed{
			rules("rfc5545", start, "FREQ=MINUTELY;INTERVAL=3355;BYYEARDAY=290;BYDAY=FR,SU,TH,SA,MO;COUNT=1000"),
			rules("rfc5545", start, "FREQ=MINUTELY;INTERVAL=438;BYMONTHDAY=-3,-5,-6,-7,13,19,-28,30;COUNT=1000000"),
			rules("rfc5545", start, "FREQ=SECONDLY;INTERVAL=604799;BYMINUTE=1,3,27,29,35,47,49,51;BYDAY=WE"),
			rules("rfc5545", start, "FREQ=HOURLY;INTERVAL=61;BYMONTH=3;BYDAY=SU", "FREQ=HOURLY;INTERVAL=63;BYMONTH=3", "-FREQ=HOURLY;INTERVAL=97;BYDAY=SU"),
			rules("rfc5545", start, "FREQ=YEARLY;BYSETPOS=1,2,3,-4,5;BYDAY=MO,TU;BYHOUR=1,2,3", "-FREQ=SECONDLY;INTERVAL=7;COUNT=99999"),
			rules("dsari", "", "FREQ=MONTHLY;INTERVAL=7;BYMONTHDAY=31", "FREQ=MINUTELY;INTERVAL=7"),
			rules("awx", start, "FREQ=MINUTELY;INTERVAL=431;BYMONTHDAY=29;COUNT=999", "-FREQ=MINUTELY;INTERVAL=862"),
			dense, many,
			{patterns: []string{"*/7 * 31 2,4 1 *", "@(Asia/Tokyo) * * * * *", "0 0 L * 5L 2096"}, now: 1_700_000_000, at: 4_000_000_000, ask: askMissed},
			{frequency: "minute", interval: "997", elements: `"hours":[9],"minutes":[17],"months":[6]`, now: 1_700_000_000, at: 4_000_000_000},
		},
		Mutate: func(r *rand.Rand, input, other timed) timed { return input.mutate(r, other) },
		Do:     timed.answer,
	}.Run(t).Check(t, 50*time.Millisecond, 32<<20)
}
