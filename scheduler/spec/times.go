package spec

import "math/bits"

// times is a set of seconds of the day: every hour whose bit is set, with every minute and every second whose bit is
// set. Without an hour, a minute or a second it is empty.
type times struct {
	hours            uint32
	minutes, seconds uint64
}

const (
	allHours   = 1<<24 - 1
	allMinutes = 1<<60 - 1 // and seconds
)

// allDay is every second of the day.
var allDay = times{allHours, allMinutes, allMinutes}

// size returns how many times there are.
func (t *times) size() int64 {
	return int64(bits.OnesCount32(t.hours) * bits.OnesCount64(t.minutes) * bits.OnesCount64(t.seconds))
}

// at reports whether the second of the day is in the set.
func (t *times) at(s int64) bool {
	return t.hours>>(s/3600)&1 == 1 && t.minutes>>(s/60%60)&1 == 1 && t.seconds>>(s%60)&1 == 1
}

// first returns the first time of a set that is not empty.
func (t *times) first() int64 {
	return int64(bits.TrailingZeros32(t.hours))*3600 + t.firstOfHour()
}

func (t *times) firstOfHour() int64 {
	return int64(bits.TrailingZeros64(t.minutes))*60 + int64(bits.TrailingZeros64(t.seconds))
}

func (t *times) lastOfHour() int64 {
	return int64(bits.Len64(t.minutes)-1)*60 + int64(bits.Len64(t.seconds)-1)
}

// next returns the first time not before s, which is in 0…86399, false if there is none that day.
func (t *times) next(s int64) (int64, bool) {
	minute := s / 60
	second, hour := s-minute*60, minute/60
	minute -= hour * 60
	if t.hours>>hour&1 == 1 {
		if t.minutes>>minute&1 == 1 {
			if rest := t.seconds >> second; rest != 0 {
				return s + int64(bits.TrailingZeros64(rest)), true
			}
		}
		if rest := t.minutes >> minute >> 1; rest != 0 && t.seconds != 0 {
			return hour*3600 + (minute+1+int64(bits.TrailingZeros64(rest)))*60 + int64(bits.TrailingZeros64(t.seconds)), true
		}
	}
	if rest := t.hours >> hour >> 1; rest != 0 && t.minutes != 0 && t.seconds != 0 {
		return (hour+1+int64(bits.TrailingZeros32(rest)))*3600 + t.firstOfHour(), true
	}
	return 0, false
}

// last returns the last time not after s, which is in 0…86399, false if there is none that day.
func (t *times) last(s int64) (int64, bool) {
	if t.minutes == 0 || t.seconds == 0 {
		return 0, false
	}
	hour, minute, second := s/3600, s/60%60, s%60
	if t.hours>>hour&1 == 1 {
		if t.minutes>>minute&1 == 1 {
			if rest := t.seconds & (1<<second<<1 - 1); rest != 0 {
				return s - second + int64(bits.Len64(rest)-1), true
			}
		}
		if rest := t.minutes & (1<<minute - 1); rest != 0 {
			return hour*3600 + int64(bits.Len64(rest)-1)*60 + int64(bits.Len64(t.seconds)-1), true
		}
	}
	if rest := t.hours & (1<<hour - 1); rest != 0 {
		return int64(bits.Len32(rest)-1)*3600 + t.lastOfHour(), true
	}
	return 0, false
}

// before returns how many times come before s, which is in 0…86400.
func (t *times) before(s int64) int64 {
	hour, minute, second := s/3600, s/60%60, s%60
	minutes, seconds := bits.OnesCount64(t.minutes), bits.OnesCount64(t.seconds)
	n := bits.OnesCount32(t.hours&(1<<hour-1)) * minutes * seconds
	if t.hours>>hour&1 == 1 {
		n += bits.OnesCount64(t.minutes&(1<<minute-1)) * seconds
		if t.minutes>>minute&1 == 1 {
			n += bits.OnesCount64(t.seconds & (1<<second - 1))
		}
	}
	return int64(n)
}

// after returns the first time after s, false if there is none that day.
func (t *times) after(s int64) (int64, bool) {
	if s == dayLength-1 {
		return 0, false
	}
	return t.next(s + 1)
}

// unit returns the part of the times that lies in the unit of the day with a given second.
func (t *times) unit(second, unit int64) times {
	part := *t
	part.hours &= 1 << (second / 3600)
	if unit < 3600 {
		part.minutes &= 1 << (second / 60 % 60)
	}
	if unit < 60 {
		part.seconds &= 1 << (second % 60)
	}
	return part
}

// number returns the n-th time of a set, from 0, as a set.
func (t *times) number(n int) times {
	minutes, seconds := bits.OnesCount64(t.minutes), bits.OnesCount64(t.seconds)
	return times{
		uint32(nthBit(uint64(t.hours), n/(minutes*seconds))),
		nthBit(t.minutes, n/seconds%minutes),
		nthBit(t.seconds, n%seconds),
	}
}
