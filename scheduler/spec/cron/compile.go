package cron

import (
	"fmt"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/instant"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/language"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/localtime"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/work"
)

// Compile implements [language.Rule]. Patterns of one zone and one policy become one set of local times; the others are
// united as instants, equal ones once (Obsidian: "the job will fire if it matches any of the supplied patterns").
func (c *Expression) Compile(s language.Context) (*instant.Schedule, error) {
	c = c.seeded(s.Seed)
	var clocks []cronClock
	for i := range c.patterns {
		p := c.patterns[i].dated(language.HashOf(s.Name))
		clock := cronClock{zone: p.zoneOf(s), dst: p.policy(s.DST)}
		place := slices.IndexFunc(clocks, clock.alike)
		if place < 0 {
			place, clocks = len(clocks), append(clocks, clock)
		}
		clocks[place].layers = append(clocks[place].layers, p.layer(s.Work, language.HashOf(s.Name), c.And))
	}
	var schedules []*instant.Schedule
	for _, clock := range clocks {
		schedules = append(schedules, instant.NewZoned(localtime.Of(s.Work, clock.layers...), clock.zone, clock.dst))
	}
	return instant.UnionOf(schedules...).Clip(s.Start, s.End), nil
}

// Differs implements [language.Rule].
func (c *Expression) Differs(a, b language.Context) bool {
	return a.Name != b.Name && c.draws(hashedValue) || a.Seed != b.Seed && c.draws(randomValue)
}

// draws reports whether the expression has a position of that form, hashed or random.
func (c *Expression) draws(form cronForm) bool {
	return slices.ContainsFunc(c.patterns, func(p cronPattern) bool {
		return slices.ContainsFunc(p.fields[:], func(f cronField) bool { return f.has(form) })
	})
}

// cronClock is the patterns that hang on one clock.
type cronClock struct {
	zone   *time.Location
	dst    instant.DST
	layers []localtime.Layer
}

func (c cronClock) alike(o cronClock) bool {
	return c.dst == o.dst && c.zone.String() == o.zone.String()
}

// zoneOf returns the pattern's own zone or else the setting's.
func (p *cronPattern) zoneOf(s language.Context) *time.Location {
	if p.zone != nil {
		return p.zone
	}
	return s.Location()
}

// seeded returns the expression with its random positions drawn from a seed. An empty seed leaves them unchanged.
func (c *Expression) seeded(seed string) *Expression {
	if seed == "" {
		return c
	}
	drawn := *c
	drawn.patterns = slices.Clone(c.patterns)
	for i := range drawn.patterns {
		for part, field := range drawn.patterns[i].fields {
			if field.has(randomValue) {
				field = slices.Clone(field)
				for j := range field {
					field[j].draw = language.HashOf(fmt.Sprintf("%s %d %d", seed, part, j))
				}
				drawn.patterns[i].fields[part] = field
			}
		}
	}
	return &drawn
}

// leapYear is a year with a leap day.
const leapYear = 2000

// dated replaces a hashed or drawn day that none of the pattern's months has by the last day of the month: a job hashed
// to 31 November runs on the 30th instead of never, as in the RRULE form.
func (p *cronPattern) dated(h language.Hash) *cronPattern {
	day := p.fields[cronDay]
	if !day.has(hashedValue) && !day.has(randomValue) {
		return p
	}
	first := day.values(cronDay, h)[0]
	for _, month := range p.fields[cronMonth].values(cronMonth, h) {
		if int64(first) <= calendar.MonthLength(leapYear*12+int64(month)-1) {
			return p
		}
	}
	dated := *p
	dated.fields[cronDay] = cronField{{form: lastOfMonth}}
	return &dated
}

// policy returns the policy for clock changes. The default follows Debian's cron (cron(8)): a pattern whose hour or
// minute begins with * follows the clock, so that no hour is lost or run twice. A pattern with a fixed time runs once a
// day, after the gap if it falls into one. Every hour written as 0-23 follows the clock as well. The job's policy
// overrides the default.
func (p *cronPattern) policy(asked instant.DST) instant.DST {
	everyHour := p.fields[cronHour].mask(cronHour, 0) == calendar.AllHours
	if p.fields[cronMinute].wild() || p.fields[cronHour].wild() || everyHour {
		return asked.Or(instant.GapSkip, instant.OverlapBoth)
	}
	return asked.Or(instant.GapNext, instant.OverlapFirst)
}

// layer returns the pattern's local times.
func (p *cronPattern) layer(m *work.Meter, h language.Hash, and bool) localtime.Layer {
	m.Spend(calendar.FillWork)
	months := p.fields[cronMonth].mask(cronMonth, h) >> 1
	l := localtime.Layer{
		Dates: calendar.Dates{Days: calendar.NewYearDays(months, calendar.NewMonthDays(p.days(h, and)))},
		Times: p.times(h),
	}
	if years := p.fields[cronYear]; !years.free() {
		l.Dates = calendar.NewDates(m, l.Dates.Days, calendar.YearCycle(years.values(cronYear, h)), calendar.ByYear)
	}
	return l
}

// times returns the pattern's times of day.
func (p *cronPattern) times(h language.Hash) calendar.Times {
	return calendar.Times{
		Hours:   uint32(p.fields[cronHour].mask(cronHour, h)),
		Minutes: p.fields[cronMinute].mask(cronMinute, h),
		Seconds: p.fields[cronSecond].mask(cronSecond, h),
	}
}

// days returns a function from a month to the days of the pattern in it. If both fields of days are restricted,
// either suffices, unless and is set; see [Expression].
func (p *cronPattern) days(h language.Hash, and bool) func(weekday, length int) uint32 {
	day, week := p.fields[cronDay], p.fields[cronWeekday]
	days, weekdays := uint32(day.mask(cronDay, h)), week.mask(cronWeekday, h)
	both := !day.free() && !week.free()
	return func(weekday, length int) uint32 {
		ofMonth := days | day.ends(weekday, length)
		ofWeek := week.occurrences(weekday, length)
		for d := range length {
			if weekdays>>((weekday+d+1)%7)&1 == 1 {
				ofWeek |= 2 << d
			}
		}
		if both && !and {
			return ofMonth | ofWeek
		}
		return ofMonth & ofWeek
	}
}

// ends returns the days of L and W in a month that begins on that weekday (from Monday).
func (f cronField) ends(weekday, length int) uint32 {
	set := uint32(0)
	for _, item := range f {
		switch item.form {
		case lastOfMonth:
			set |= 1 << length
		case nearestWeekday:
			set |= 1 << nearestTo(item.lo, weekday, length) &^ 1
		default:
		}
	}
	return set
}

// nearestTo returns the day from Monday to Friday that is nearest to a day of a month, "as it will not jump over the
// boundary of a month's days" (Obsidian). It is 0 if the month does not have the day, which is then skipped.
func nearestTo(day, weekday, length int) int {
	const saturday, sunday = 5, 6
	if day > length {
		return 0
	}
	switch (weekday + day - 1) % 7 {
	case saturday:
		if day == 1 {
			return 3
		}
		return day - 1
	case sunday:
		if day == length {
			return day - 2
		}
		return day + 1
	}
	return day
}

// occurrences returns the days of 5L and 5#2 in a month that begins on that weekday (from Monday).
func (f cronField) occurrences(weekday, length int) uint32 {
	set := uint32(0)
	for _, item := range f {
		day := time.Weekday(item.lo % 7)
		switch item.form {
		case lastWeekday:
			set |= calendar.NthWeekday(day, -1, weekday, length)
		case numberedWeekday:
			set |= calendar.NthWeekday(day, item.nth, weekday, length)
		default:
		}
	}
	return set
}
