package cron

import (
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/instant"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/language"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/localtime"
)

// steps returns the instants anchor + k·n minutes or hours, of elapsed time.
func (r *Recur) steps(anchor time.Time) *instant.Schedule {
	seconds := int64(r.n) * 60
	if r.unit == recurHours {
		seconds *= 60
	}
	return instant.NewZoned(localtime.Steps{Cycle: calendar.StepCycle(anchor.Unix(), seconds)}, time.UTC, instant.Literal)
}

// calendar returns the days, weeks or months counted from a date, each at its time of day on the zone's clock. The
// policy at changes of the clock is that of RFC 5545, unless the job asks otherwise.
func (r *Recur) calendar(anchor time.Time, s language.Setting) *instant.Schedule {
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
	set := localtime.NewDifference(s.Work, []localtime.Tile{{Dates: dates, Times: times}}, nil)
	return instant.NewZoned(set, s.Location(), s.DST.Or(instant.GapShift, instant.OverlapFirst))
}
