package spec

// turnOf returns a number of seconds after which sets repeat themselves, 0 if that takes longer than the calendar.
func turnOf(tiles []tile, strides []*stride) int64 {
	turn := int64(1)
	join := func(n int64) {
		if turn /= gcd(turn, n); turn > lastSecond/n {
			turn = 0
			return
		}
		turn *= n
	}
	for _, s := range strides {
		join(s.unit * s.grid.stride)
		tiles = append(tiles, s.tile)
	}
	for _, t := range tiles {
		days := int64(1)
		switch {
		case t.dates.days.weekly():
			days = 7
		case t.dates.days != everyDay:
			days = daysPer400Years
		}
		join(days * dayLength)
		switch c := t.dates.cycle; t.dates.unit {
		case eachDay:
		case byDay:
			join(c.stride * c.length * dayLength)
		default:
			return 0
		}
		if turn == 0 {
			return 0
		}
	}
	return turn
}
