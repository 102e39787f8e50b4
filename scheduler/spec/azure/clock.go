package azure

import (
	"math/bits"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
)

// clock is a set of times of day: every hour whose bit is set with every minute whose bit is set. Times are seconds
// since midnight. It is never empty. A clock of hour 0 alone is a set of minutes past something shorter than a day.
type clock struct {
	hours   uint32
	minutes uint64
}

// sharp is the one time at which a period begins.
var sharp = clock{1, 1}

// size returns how many times there are.
func (c clock) size() int64 {
	return int64(bits.OnesCount32(c.hours) * bits.OnesCount64(c.minutes))
}

// first returns the first time.
func (c clock) first() int64 {
	return int64(bits.TrailingZeros32(c.hours))*3600 + int64(bits.TrailingZeros64(c.minutes))*60
}

// next returns the first time not before s, false if there is none that day. s is in 0…86400.
func (c clock) next(s int64) (int64, bool) {
	hour, minute := calendar.Divide((s+59)/60, 60)
	if c.hours>>hour&1 == 1 {
		if rest := c.minutes >> minute; rest != 0 {
			return hour*3600 + (minute+int64(bits.TrailingZeros64(rest)))*60, true
		}
	}
	hours := c.hours >> (hour + 1) << (hour + 1)
	if hours == 0 {
		return 0, false
	}
	return clock{hours, c.minutes}.first(), true
}

// last returns the last time not after s, false if there is none that day. s is in 0…86399.
func (c clock) last(s int64) (int64, bool) {
	hour, minute := calendar.Divide(s/60, 60)
	if c.hours>>hour&1 == 1 {
		if rest := c.minutes & (1<<(minute+1) - 1); rest != 0 {
			return hour*3600 + int64(bits.Len64(rest)-1)*60, true
		}
	}
	hours := c.hours & (1<<hour - 1)
	if hours == 0 {
		return 0, false
	}
	return int64(bits.Len32(hours)-1)*3600 + int64(bits.Len64(c.minutes)-1)*60, true
}

// before returns how many times come before s. s is in 0…86400.
func (c clock) before(s int64) int64 {
	hour, minute := calendar.Divide((s+59)/60, 60)
	n := bits.OnesCount32(c.hours&(1<<hour-1)) * bits.OnesCount64(c.minutes)
	if c.hours>>hour&1 == 1 {
		n += bits.OnesCount64(c.minutes & (1<<minute - 1))
	}
	return int64(n)
}
