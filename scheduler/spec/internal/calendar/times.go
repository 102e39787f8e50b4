package calendar

import "math/bits"

// Times is a set of seconds of the day: every hour whose bit is set, with every minute and every second whose bit is
// set. Without an hour, a minute or a second it is empty.
type Times struct {
	Hours            uint32
	Minutes, Seconds uint64
}

// Every bit of a part of [Times].
const (
	AllHours   = 1<<24 - 1
	AllMinutes = 1<<60 - 1 // and seconds
)

// AllDay is every second of the day.
var AllDay = Times{AllHours, AllMinutes, AllMinutes}

// And returns the times whose hour, minute and second are in both sets.
func (t *Times) And(o *Times) Times {
	return Times{t.Hours & o.Hours, t.Minutes & o.Minutes, t.Seconds & o.Seconds}
}

// Size returns how many times there are.
func (t *Times) Size() int64 {
	return int64(bits.OnesCount32(t.Hours) * bits.OnesCount64(t.Minutes) * bits.OnesCount64(t.Seconds))
}

// At reports whether the second of the day is in the set.
func (t *Times) At(s int64) bool {
	return t.Hours>>(s/3600)&1 == 1 && t.Minutes>>(s/60%60)&1 == 1 && t.Seconds>>(s%60)&1 == 1
}

// First returns the first time of a set that is not empty.
func (t *Times) First() int64 {
	return int64(bits.TrailingZeros32(t.Hours))*3600 + t.firstOfHour()
}

func (t *Times) firstOfHour() int64 {
	return int64(bits.TrailingZeros64(t.Minutes))*60 + int64(bits.TrailingZeros64(t.Seconds))
}

func (t *Times) lastOfHour() int64 {
	return int64(bits.Len64(t.Minutes)-1)*60 + int64(bits.Len64(t.Seconds)-1)
}

// Next returns the first time not before s in 0…86399, false if none remains that day.
func (t *Times) Next(s int64) (int64, bool) {
	minute := s / 60
	second, hour := s-minute*60, minute/60
	minute -= hour * 60
	if t.Hours>>hour&1 == 1 {
		if t.Minutes>>minute&1 == 1 {
			if rest := t.Seconds >> second; rest != 0 {
				return s + int64(bits.TrailingZeros64(rest)), true
			}
		}
		if rest := t.Minutes >> minute >> 1; rest != 0 && t.Seconds != 0 {
			return hour*3600 + (minute+1+int64(bits.TrailingZeros64(rest)))*60 + int64(bits.TrailingZeros64(t.Seconds)), true
		}
	}
	if rest := t.Hours >> hour >> 1; rest != 0 && t.Minutes != 0 && t.Seconds != 0 {
		return (hour+1+int64(bits.TrailingZeros32(rest)))*3600 + t.firstOfHour(), true
	}
	return 0, false
}

// Last returns the last time not after s in 0…86399, false if none exists that day.
func (t *Times) Last(s int64) (int64, bool) {
	if t.Minutes == 0 || t.Seconds == 0 {
		return 0, false
	}
	hour, minute, second := s/3600, s/60%60, s%60
	if t.Hours>>hour&1 == 1 {
		if t.Minutes>>minute&1 == 1 {
			if rest := t.Seconds & (1<<second<<1 - 1); rest != 0 {
				return s - second + int64(bits.Len64(rest)-1), true
			}
		}
		if rest := t.Minutes & (1<<minute - 1); rest != 0 {
			return hour*3600 + int64(bits.Len64(rest)-1)*60 + int64(bits.Len64(t.Seconds)-1), true
		}
	}
	if rest := t.Hours & (1<<hour - 1); rest != 0 {
		return int64(bits.Len32(rest)-1)*3600 + t.lastOfHour(), true
	}
	return 0, false
}

// Before returns how many times come before s, which is in 0…86400.
func (t *Times) Before(s int64) int64 {
	hour, minute, second := s/3600, s/60%60, s%60
	minutes, seconds := bits.OnesCount64(t.Minutes), bits.OnesCount64(t.Seconds)
	n := bits.OnesCount32(t.Hours&(1<<hour-1)) * minutes * seconds
	if t.Hours>>hour&1 == 1 {
		n += bits.OnesCount64(t.Minutes&(1<<minute-1)) * seconds
		if t.Minutes>>minute&1 == 1 {
			n += bits.OnesCount64(t.Seconds & (1<<second - 1))
		}
	}
	return int64(n)
}

// After returns the first time after s, false if none remains that day.
func (t *Times) After(s int64) (int64, bool) {
	if s == DayLength-1 {
		return 0, false
	}
	return t.Next(s + 1)
}

// Unit returns the times within the unit of the day that contains second.
func (t *Times) Unit(second, unit int64) Times {
	part := *t
	part.Hours &= 1 << (second / 3600)
	if unit < 3600 {
		part.Minutes &= 1 << (second / 60 % 60)
	}
	if unit < 60 {
		part.Seconds &= 1 << (second % 60)
	}
	return part
}

// Number returns the n-th time of a set, from 0, as a set.
func (t *Times) Number(n int) Times {
	minutes, seconds := bits.OnesCount64(t.Minutes), bits.OnesCount64(t.Seconds)
	return Times{
		uint32(nthBit(uint64(t.Hours), n/(minutes*seconds))),
		nthBit(t.Minutes, n/seconds%minutes),
		nthBit(t.Seconds, n%seconds),
	}
}
