package spec

import "time"

// steps returns the instants anchor + k·n minutes or hours, of elapsed time.
func (r *Recur) steps(anchor time.Time) Schedule {
	seconds := int64(r.n) * 60
	if r.unit == recurHours {
		seconds *= 60
	}
	return newZoned(wallSteps{stepCycle(anchor.Unix(), seconds)}, time.UTC, literal)
}

// calendar returns the days, weeks or months counted from a date, each at its time of day on the zone's clock. The
// policy at changes of the clock is that of RFC 5545, unless the job asks otherwise.
func (r *Recur) calendar(anchor time.Time, s Setting) Schedule {
	day := firstDay(int64(anchor.Year())*12+int64(anchor.Month())-1) + int64(anchor.Day()) - 1
	t := tile{
		dates: everyDate,
		times: times{1 << anchor.Hour(), 1 << anchor.Minute(), 1 << anchor.Second()},
	}
	var cycle cycle
	switch r.unit {
	case recurMonths:
		month, _ := monthOf(day)
		cycle = stepCycle(month, int64(r.n))
		t.dates = newDates(newYearDays(1<<12-1, clampedTo(anchor.Day())), &cycle, byMonth)
	case recurWeeks:
		cycle = stepCycle(day, 7*int64(r.n))
		t.dates = newDates(everyDay, &cycle, byDay)
	default:
		cycle = stepCycle(day, int64(r.n))
		t.dates = newDates(everyDay, &cycle, byDay)
	}
	return newZoned(newMosaic([]tile{t}, nil), s.zone(), s.DST.or(GapShift, OverlapFirst))
}
