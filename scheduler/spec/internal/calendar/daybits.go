package calendar

import "math/bits"

// DayBits holds the days of one year, 1 January at bit 0.
type DayBits [6]uint64

// Set puts a day into the set.
func (d *DayBits) Set(day int) { d[day/64] |= 1 << (day % 64) }

// Clear takes a day out of the set.
func (d *DayBits) Clear(day int64) { d[day/64] &^= 1 << (day % 64) }

// Has reports whether a day is in the set.
func (d *DayBits) Has(day int64) bool { return d[day/64]>>(day%64)&1 == 1 }

// put sets the days whose bits are set, the first of them at day.
func (d *DayBits) put(day int, set uint64) {
	d[day/64] |= set << (day % 64)
	if day%64 > 0 && day/64 < 5 {
		d[day/64+1] |= set >> (64 - day%64)
	}
}

func (d *DayBits) size() int {
	n := 0
	for _, word := range d {
		n += bits.OnesCount64(word)
	}
	return n
}

// From returns the first day not before day, or -1.
func (d *DayBits) From(day int64) int64 {
	i := day / 64
	if word := d[i] >> (day % 64); word != 0 {
		return day + int64(bits.TrailingZeros64(word))
	}
	for i++; i < int64(len(d)); i++ {
		if d[i] != 0 {
			return i*64 + int64(bits.TrailingZeros64(d[i]))
		}
	}
	return -1
}

// to returns the last day not after day, or -1.
func (d *DayBits) to(day int64) int64 {
	i := day / 64
	if word := d[i] & (1<<(day%64)<<1 - 1); word != 0 {
		return i*64 + int64(bits.Len64(word)-1)
	}
	for i--; i >= 0; i-- {
		if d[i] != 0 {
			return i*64 + int64(bits.Len64(d[i])-1)
		}
	}
	return -1
}

// Count returns how many days lie in a…b.
func (d *DayBits) Count(a, b int64) int64 {
	n := 0
	for i := a / 64; i <= b/64; i++ {
		word := d[i]
		if i == a/64 {
			word &^= 1<<(a%64) - 1
		}
		if i == b/64 {
			word &= 1<<(b%64)<<1 - 1
		}
		n += bits.OnesCount64(word)
	}
	return int64(n)
}
