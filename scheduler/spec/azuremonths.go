package spec

// monthly returns the days of a monthly or yearly recurrence.
func (c *compiler) monthly() *monthly {
	days := newMonthDays(c.monthDays())
	months := c.months()
	for phase := range min(months.length, 12) {
		if _, month := divide(months.anchor+phase*months.stride, 12); !days.possible(month) {
			months.drop(phase)
		}
	}
	return &monthly{months, *days}
}

// months returns the months of a monthly or yearly recurrence. A year without months has its start's month.
func (c *compiler) months() cycle {
	day, _ := divide(c.seconds, 86_400)
	start, _ := monthOf(day)
	interval := int64(c.interval())
	mask := monthMask(c.Schedule.Months)
	if c.Frequency == Month {
		return newCycle(start, interval, 12/gcd(12, interval), func(phase int64) bool {
			_, month := divide(start+phase*interval, 12)
			return mask>>month&1 == 1
		})
	}
	year, month := divide(start, 12)
	if len(c.Schedule.Months) == 0 {
		mask = 1 << month
	}
	interval = min(interval, 10_000) // the years end before a longer interval does
	return maskCycle(year*12, 12*interval, mask)
}

// monthDays returns the function that says which days of a month the recurrence has.
//
// Without a schedule it is the start's day, or the last day of a shorter month: always counted from the start, so that
// a job of 31 January does not stay on the 29th after February. With a schedule, days that a month lacks are skipped, as
// the page says of monthDays [31]; the start's day, which stands for monthDays where there are none, is no exception.
func (c *compiler) monthDays() func(weekday, length int) uint32 {
	e, day := c.Schedule, c.start.Day()
	switch {
	case e.empty():
		return func(_, length int) uint32 { return 1 << min(day, length) }
	case len(e.MonthDays) == 0 && len(e.MonthlyOccurrences) == 0:
		return func(_, _ int) uint32 { return 1 << day }
	}
	return func(weekday, length int) uint32 {
		return dayMask(e.MonthDays, length) & occurrenceMask(e.MonthlyOccurrences, weekday, length)
	}
}

// occurrenceMask returns the days of a month that begins on that weekday (from Monday); no occurrences say nothing and
// are all days.
func occurrenceMask(occurrences []MonthlyOccurrence, weekday, length int) uint32 {
	if len(occurrences) == 0 {
		return lengthMask(length)
	}
	set := uint32(0)
	for _, m := range occurrences {
		set |= nthWeekday(m.Day, m.Occurrence, weekday, length)
	}
	return set
}
