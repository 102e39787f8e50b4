package spec

// sparse reports whether the steps meet so few times of day that each is better looked for by itself.
func (s *stride) sparse() bool {
	units := s.unitsOfDay()
	perDay := dayLength / s.unit
	n := units.size() / gcd(s.grid.stride, perDay)
	return n <= 8 || n <= maxTiles && (s.grid.stride >= perDay || perDay%s.grid.stride == 0)
}

// unitsOfDay returns the times of the tile at which its units begin.
func (s *stride) unitsOfDay() times {
	t := s.tile.times
	if s.unit > 1 {
		t.seconds &= -t.seconds
	}
	if s.unit > 60 {
		t.minutes &= -t.minutes
	}
	return t
}

// tiles returns the set as tiles, one for each unit of the day. Steps meet a given unit of the day, if ever, every so many
// days: for them to do so, k·step must be as far from the unit as the anchor is, modulo the units of a day.
func (s *stride) tiles() []tile {
	var tiles []tile
	var firsts []int64 // for each tile, a day on which the steps meet it
	perDay := dayLength / s.unit
	common := gcd(s.grid.stride, perDay)
	units := s.unitsOfDay()
	for second, ok := units.next(0); ok; second, ok = units.after(second) {
		place := second / s.unit
		distance := place - s.grid.anchor
		if mod(distance, common) != 0 {
			continue
		}
		turn := perDay / common
		k := mod(mod(distance/common, turn)*inverse(s.grid.stride/common, turn), turn)
		day, _ := divide(s.grid.anchor+k*s.grid.stride, perDay)
		t := s.tile
		t.times = s.tile.times.unit(second, s.unit)
		tiles, firsts = append(tiles, t), append(firsts, day)
	}
	if days := s.grid.stride / common; days > 1 {
		for i, d := range everyNth(s.tile.dates.days, days, firsts...) {
			tiles[i].dates = d
		}
	}
	return tiles
}

// mostProducts is up to how many tiles a stride is better said in tiles.
const mostProducts = 16

// daily returns the set as tiles if its steps come back to the same times every day, and these are a few products of
// hours, minutes and seconds: every 90 seconds are the even minutes, say, and the odd ones and a half. Of tiles others can
// be taken out without looking at every second. It is nil if they are not.
func (s *stride) daily() []tile {
	perHour := 3600 / s.unit
	if perHour == 1 || dayLength/s.unit%s.grid.stride != 0 {
		return nil
	}
	var products []times
	hoursOf := s.stepsOfHours(perHour)
	common := gcd(s.grid.stride, perHour)
	for n := mod(s.grid.anchor, common); n < perHour; n += common {
		second := n * s.unit
		t := s.tile.times
		t.hours &= hoursOf(n)
		t.minutes &= 1 << (second / 60)
		if s.unit == 1 {
			t.seconds &= 1 << (second % 60)
		}
		if t.hours == 0 || t.minutes == 0 || t.seconds == 0 {
			continue
		}
		if products = joinMinutes(products, t); len(products) > mostProducts {
			return nil
		}
	}
	tiles := []tile{}
	for _, t := range products {
		tiles = append(tiles, tile{s.tile.dates, t})
	}
	return tiles
}

// stepsOfHours returns a function that tells the hours in which a step falls on the n-th unit.
func (s *stride) stepsOfHours(perHour int64) func(n int64) uint32 {
	if perHour%s.grid.stride == 0 {
		return func(int64) uint32 { return allHours }
	}
	return func(n int64) uint32 {
		hours := uint32(0)
		for hour := range int64(24) {
			if mod(hour*perHour+n-s.grid.anchor, s.grid.stride) == 0 {
				hours |= 1 << hour
			}
		}
		return hours
	}
}

// joinMinutes adds times to a list, in which those that differ in their minutes only are one.
func joinMinutes(list []times, t times) []times {
	for i := range list {
		if list[i].hours == t.hours && list[i].seconds == t.seconds {
			list[i].minutes |= t.minutes
			return list
		}
	}
	return append(list, t)
}
