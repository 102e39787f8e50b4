package calendar

import (
	"math"
	"time"
)

// Where the calendar begins and ends, and with it every search.
const (
	firstOfAll = -719_162  // 0001-01-01, a day
	lastDay    = 2_932_896 // 9999-12-31
	LastMonth  = 9999*12 + 11
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
