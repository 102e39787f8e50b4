package calendar

import (
	"math"
	"time"
)

// Where the calendar begins and ends, and with it every search.
const (
	firstOfAll = -719_162  // 0001-01-01, a day
	lastDay    = 2_932_896 // 9999-12-31
	lastYear   = 9999

	DayLength   = 86_400 // seconds
	FirstSecond = firstOfAll * DayLength
	LastSecond  = (lastDay+1)*DayLength - 1

	// Forever is a second, and a day, that the calendar does not reach.
	Forever = math.MaxInt64

	// SearchLimit bounds every search for a match of two cycles, in steps. Longer searches exhaust their meter.
	SearchLimit = 150_000 // somewhat more than the days of 400 years, after which the calendar repeats itself
)

// EndOfTime is the last instant of every schedule.
var EndOfTime = time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC)

// Weekdays count from Monday (0) to Sunday (6). The conversions are Howard Hinnant's ("chrono-Compatible
// Low-Level Date Algorithms"), with years that begin in March, so that a leap day is the last of its year.

const (
	// DaysPer400Years is after how many days the calendar repeats itself.
	DaysPer400Years = 146_097

	daysToEpoch = 719_468 // from 0000-03-01 to 1970-01-01
)

// MonthOf returns the month of a day, and its day of the month, 1-31.
func MonthOf(day int64) (month, dayOfMonth int64) {
	era, doe := Divide(day+daysToEpoch, DaysPer400Years)
	year := (doe - doe/1460 + doe/36_524 - doe/146_096) / 365
	doy := doe - (365*year + year/4 - year/100)
	m := (5*doy + 2) / 153 // March is 0
	return (400*era+year)*12 + m + 2, doy - (153*m+2)/5 + 1
}

// FirstDay returns the first day of a month.
func FirstDay(month int64) int64 {
	year, m := Divide(month-2, 12) // March is 0
	era, yoe := Divide(year, 400)
	return era*DaysPer400Years + 365*yoe + yoe/4 - yoe/100 + (153*m+2)/5 - daysToEpoch
}

// WeekdayOf returns the weekday of a day, from Monday (0).
func WeekdayOf(day int64) int64 {
	_, weekday := Divide(day+3, 7) // 1970-01-01 was a Thursday
	return weekday
}

// MonthLength returns how many days a month has.
func MonthLength(month int64) int64 {
	year, m := Divide(month, 12)
	if m == 1 && leap(year) {
		return 29
	}
	return int64(lengths[m])
}

var lengths = [12]uint8{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}

// YearOf returns the year of a day and the day's place in it, from 0.
func YearOf(day int64) (year, dayOfYear int64) {
	era, doe := Divide(day+daysToEpoch, DaysPer400Years)
	yoe := (doe - doe/1460 + doe/36_524 - doe/146_096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100) // from 1 March
	year = 400*era + yoe
	if doy >= 306 {
		return year + 1, doy - 306
	}
	if leap(year) {
		doy++
	}
	return year, doy + 59
}

// leap reports whether a year has 366 days.
func leap(year int64) bool { return year%4 == 0 && (year%100 != 0 || year%400 == 0) }

// MondayBased counts a weekday from Monday.
func MondayBased(day time.Weekday) int64 { return int64(day+6) % 7 }
