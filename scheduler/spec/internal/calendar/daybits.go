package calendar

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

// From returns the first day not before day, or -1.
func (d *DayBits) From(day int64) int64 { return nextBit(d[:], day) }

// to returns the last day not after day, or -1.
func (d *DayBits) to(day int64) int64 { return lastBit(d[:], day) }

// Count returns how many days lie in a…b.
func (d *DayBits) Count(a, b int64) int64 { return bitsBefore(d[:], b+1) - bitsBefore(d[:], a) }
