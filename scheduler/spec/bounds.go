package spec

import (
	"math"
	"time"
)

// Where the calendar begins and ends, and with it every search.
const (
	firstOfAll = -719_162  // 0001-01-01, a day
	lastDay    = 2_932_896 // 9999-12-31
	lastMonth  = 9999*12 + 11
	lastYear   = 9999

	dayLength   = 86_400 // seconds
	firstSecond = firstOfAll * dayLength
	lastSecond  = (lastDay+1)*dayLength - 1

	// forever is a second, and a day, that the calendar does not reach.
	forever = math.MaxInt64

	// searchLimit bounds every search for a match of two cycles, in steps. One that takes longer finds nothing.
	searchLimit = 150_000 // somewhat more than the days of 400 years, after which the calendar repeats itself
)

// endOfTime is the last instant of every schedule.
var endOfTime = time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC)
