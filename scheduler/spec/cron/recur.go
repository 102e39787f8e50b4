package cron

import (
	"fmt"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/english"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/instant"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/language"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/localtime"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/spelling"
)

// Recur is Obsidian's recurrence, "@recur 3 weeks 2015-01-15 00:00": an interval that no cron pattern can express, and
// an optional date and time as its anchor ("Recurrence" on Obsidian's page).
//
// Minutes and hours are elapsed time. Days, weeks and months are calendar units of the zone: the time of day stays the
// same, and a month that is too short uses its last day. All runs are computed from the same anchor, so that they do
// not drift.
type Recur struct {
	n     int
	unit  recurUnit
	start time.Time // as if it were UTC; zero: none
}

// recurUnit is the unit of an interval. The zero unit is invalid.
type recurUnit uint8

const (
	recurMinutes recurUnit = iota + 1
	recurHours
	recurDays
	recurWeeks
	recurMonths
)

// recurUnits are the units with their names ("Interval Types" on Obsidian's page) and the largest interval that makes
// sense: a thousand years and more.
var recurUnits = [...]struct {
	words []string // the second is the name
	most  int
}{
	recurMinutes: {[]string{"min", "minute", "minutes"}, 999_999_999},
	recurHours:   {[]string{"h", "hour", "hours"}, 9_999_999},
	recurDays:    {[]string{"d", "day", "days"}, 999_999},
	recurWeeks:   {[]string{"w", "week", "weeks"}, 99_999},
	recurMonths:  {[]string{"mon", "month", "months"}, 99_999},
}

// name returns the unit's name in the singular.
func (u recurUnit) name() string { return recurUnits[u].words[1] }

// recurUnitOf returns the unit of one of the fifteen words, in any case, or none.
func recurUnitOf(word string) recurUnit {
	for u := recurMinutes; u <= recurMonths; u++ {
		if oneOf(word, recurUnits[u].words...) {
			return u
		}
	}
	return 0
}

// elapsed reports whether the interval is a length of time, not a number of days.
func (r *Recur) elapsed() bool { return r.unit <= recurHours }

// Compile implements [language.Rule]. The interval is counted from the date and time of the text or, without it, from
// where the setting begins, Obsidian's effective date. The first run is the first one not before both.
func (r *Recur) Compile(s language.Context) (*instant.Schedule, error) {
	if r.start.IsZero() {
		return r.countedFrom(s.Begin(), s).Clip(s.Begin(), s.End), nil
	}
	anchor := instant.FirstShown(r.start.Unix(), s.Location())
	schedule := r.calendar(r.start, s)
	if r.elapsed() {
		schedule = r.steps(anchor)
	}
	return schedule.Clip(instant.Later(anchor, s.Begin()), s.End), nil
}

// Differs implements [language.Rule].
func (r *Recur) Differs(a, b language.Context) bool { return !a.Begin().Equal(b.Begin()) }

// countedFrom returns the instant and the runs that follow it.
func (r *Recur) countedFrom(anchor time.Time, s language.Context) *instant.Schedule {
	anchor = anchor.Round(0)
	nano := time.Duration(anchor.Nanosecond())
	anchor = anchor.Add(-nano)
	if r.elapsed() {
		return r.steps(anchor).Delay(nano)
	}
	schedule := r.calendar(anchor.In(s.Location()), s)
	if schedule.Count(anchor, anchor) == 0 { // the second time that the clock shows this
		schedule = instant.UnionOf(schedule, instant.NewZoned(localtime.At(anchor.Unix()), time.UTC, instant.Literal))
	}
	return schedule.Delay(nano)
}

// AnchoredAt returns the runs after a run that started at t, the first one interval later: "Recurring intervals are
// calculated from the last execution time, if available" (Obsidian's page). A late or manual run therefore shifts all
// later runs.
func (r *Recur) AnchoredAt(t time.Time, s language.Context) *instant.Schedule {
	return r.countedFrom(t, s).Clip(t.Add(1), s.End)
}

// Describe implements [language.Rule].
func (r *Recur) Describe(s language.Context) string {
	origin := "the job's start"
	if !r.start.IsZero() {
		origin = r.start.Format(recurLayout)
	}
	if !s.Grid {
		origin = "the last run, at first from " + origin
	}
	return fmt.Sprintf("%s, counted from %s%s", english.Every(r.n, r.unit.name()), origin, english.Zone(s.Location()))
}

// recurLayout is the date and time of an @recur: yyyy-MM-dd HH:mm on Obsidian's page.
const recurLayout = "2006-01-02 15:04"

const recurForm = "@recur is followed by a number, a unit and optionally a date and time (yyyy-MM-dd HH:mm)"

// parseRecur reads "@recur N unit [yyyy-MM-dd HH:mm]".
func parseRecur(words []cronWord) (language.Rule, error) {
	p := cronParser{dialect: language.Obsidian}
	for i, word := range words {
		if word.text == ";" {
			p.problem(word.column, "", "found \";\"; @recur cannot be united with other patterns", "make a job of each")
			return nil, language.Join(p.problems, maxCronProblems)
		}
		if i == 5 {
			p.problem(word.column, "", fmt.Sprintf("found %q after the date and time; %s", spelling.Short(word.text), recurForm), "")
		}
	}
	rule := &Recur{}
	if len(words) < 3 {
		p.problem(words[len(words)-1].column, "", fmt.Sprintf("%q is not complete; %s", spelling.Short(textOf(words)), recurForm),
			p.recurHint(words))
		return nil, language.Join(p.problems, maxCronProblems)
	}
	rule.unit = p.recurUnit(words)
	rule.n = p.recurNumber(words[1], rule.unit)
	if len(words) > 3 {
		rule.start = p.recurStart(words[3:min(len(words), 5)])
	}
	if len(p.problems) > 0 {
		return nil, language.Join(p.problems, maxCronProblems)
	}
	return rule, nil
}

// recurHint returns the hint for an @recur without unit: the number and the unit may be written in one.
func (p *cronParser) recurHint(words []cronWord) string {
	if len(words) > 1 {
		unit := strings.TrimLeft(words[1].text, "0123456789")
		if number := strings.TrimSuffix(words[1].text, unit); number != "" && recurUnitOf(unit) > 0 {
			return fmt.Sprintf("separate the two by a space: @recur %s %s", number, unit)
		}
	}
	return "for example, @recur 3 weeks"
}

// recurUnit reads the unit.
func (p *cronParser) recurUnit(words []cronWord) recurUnit {
	word := words[2]
	unit := recurUnitOf(word.text)
	if unit > 0 {
		return unit
	}
	names, hint := make([]string, 0, 5), ""
	for u := recurMinutes; u <= recurMonths; u++ {
		names = append(names, strings.Join(recurUnits[u].words, ", "))
	}
	n, number := digits(words[1].text)
	switch lower := strings.ToLower(word.text); {
	case lower == "m":
		hint = "write min for minutes, mon for months"
	case strings.HasPrefix(lower, "s"):
		hint = "the shortest unit is the minute"
	case strings.HasPrefix(lower, "y") && number && n < 1000:
		hint = fmt.Sprintf("%s are @recur %d months", english.Count(n, "year"), 12*n)
	default:
		for u := recurMinutes; u <= recurMonths; u++ {
			if near := spelling.Nearest(lower, recurUnits[u].words); near != "" || lower[0] == recurUnits[u].words[0][0] {
				hint = fmt.Sprintf("did you mean %ss?", u.name())
				break
			}
		}
	}
	p.problem(word.column, "unit",
		fmt.Sprintf("%q is not a unit; those are %s", spelling.Short(word.text), strings.Join(names, "; ")), hint)
	return 0
}

// recurNumber reads the number of units.
func (p *cronParser) recurNumber(word cronWord, unit recurUnit) int {
	n, ok := digits(word.text)
	switch {
	case !ok:
		p.problem(word.column, "interval", fmt.Sprintf("%q is not a whole number from 1 on", spelling.Short(word.text)), "")
	case n == 0:
		p.problem(word.column, "interval", "the interval is 0; it is at least 1", "")
	case unit > 0 && n > recurUnits[unit].most:
		p.problem(word.column, "interval", fmt.Sprintf("%s is too large; at most %d %ss", spelling.Short(word.text),
			recurUnits[unit].most, unit.name()), "")
	}
	return n
}

// recurStart reads the date and time.
func (p *cronParser) recurStart(words []cronWord) time.Time {
	text := textOf(words)
	start, err := time.Parse(recurLayout, text)
	right := err == nil && len(text) == len(recurLayout)
	if right && start.Year() >= 1900 && start.Year() <= 2999 {
		return start
	}
	hint := "for example, 2026-01-31 08:00"
	switch {
	case right:
		hint = "its year is in 1900-2999"
	case strings.Contains(words[0].text, "T"):
		hint = "separate date and time by a space; they are in the zone of the job"
	case strings.Contains(text, "24:0"):
		hint = "midnight is 00:00, at the beginning of a day"
	case len(words) == 2 && len(words[0].text) == 10 && len(words[1].text) == 5 && strings.Contains(fmt.Sprint(err), "out of range"):
		hint = "this date or time does not exist"
	}
	p.problem(words[0].column, "start",
		fmt.Sprintf("%q is not a date and time in the form yyyy-MM-dd HH:mm", spelling.Short(text)), hint)
	return time.Time{}
}

// steps returns the instants anchor + k·n minutes or hours, of elapsed time.
func (r *Recur) steps(anchor time.Time) *instant.Schedule {
	seconds := int64(r.n) * 60
	if r.unit == recurHours {
		seconds *= 60
	}
	return instant.NewZoned(localtime.Of(nil, localtime.Steps(anchor.Unix(), seconds)), time.UTC, instant.Literal)
}

// calendar returns the days, weeks or months from a date, at its local time of day. Its default policy for clock
// changes is RFC 5545's.
func (r *Recur) calendar(anchor time.Time, s language.Context) *instant.Schedule {
	day := calendar.FirstDay(int64(anchor.Year())*12+int64(anchor.Month())-1) + int64(anchor.Day()) - 1
	var dates calendar.Dates
	switch n := int64(r.n); r.unit {
	case recurMonths:
		days := calendar.NewYearDays(1<<12-1, calendar.ClampedTo(anchor.Day()))
		dates = calendar.Stepped(s.Work, days, calendar.ByMonth, day, n)
	case recurWeeks:
		dates = calendar.Stepped(s.Work, calendar.EveryDay, calendar.ByDay, day, 7*n)
	default:
		dates = calendar.Stepped(s.Work, calendar.EveryDay, calendar.ByDay, day, n)
	}
	times := calendar.Times{Hours: 1 << anchor.Hour(), Minutes: 1 << anchor.Minute(), Seconds: 1 << anchor.Second()}
	set := localtime.Of(s.Work, localtime.Layer{Dates: dates, Times: times})
	return instant.NewZoned(set, s.Location(), s.DST.Or(instant.GapShift, instant.OverlapFirst))
}
