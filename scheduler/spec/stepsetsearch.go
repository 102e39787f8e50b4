package spec

// within returns the first second of the set in a…b, two seconds of one day, whatever the tile's dates.
func (s *stride) within(a, b int64) (int64, bool) {
	midnight := a - mod(a, dayLength)
	for a <= b {
		number, _ := divide(a, s.unit)
		step, _ := s.grid.next(number)
		if step > number {
			a = step * s.unit
		}
		if a > b {
			break
		}
		time, ok := s.tile.times.next(a - midnight)
		if !ok || midnight+time > b {
			break
		}
		a = midnight + time
		if number, _ := divide(a, s.unit); number == step {
			return a, true
		}
	}
	return 0, false
}

// meet returns the first second not before w that lies in a step and in the tile's times, whatever its date. It has
// windows.
func (s *stride) meet(w int64) (int64, bool) {
	number, rest := divide(w, s.unit)
	if step, _ := s.grid.next(number); step == number && rest > 0 { // in the middle of a step
		if match, ok := s.within(w, w-rest+s.unit-1); ok {
			return match, true
		}
		number++
	}
	step, _ := s.grid.next(number)
	perDay := dayLength / s.unit
	k := s.windows.meeting(mod(step, perDay), s.grid.stride, perDay)
	if k < 0 {
		return 0, false
	}
	start := (step + k*s.grid.stride) * s.unit
	return s.within(start, start+s.unit-1)
}

// meetLast returns the last second not after w that lies in a step and in the tile's times, whatever its date.
func (s *stride) meetLast(w int64) (int64, bool) {
	number, rest := divide(w, s.unit)
	if s.grid.last(number) == number && rest < s.unit-1 {
		if match, ok := s.lastWithin(w-rest, w); ok {
			return match, true
		}
		number--
	}
	step := s.grid.last(number)
	perDay := dayLength / s.unit
	k := s.windows.meeting(mod(step, perDay), -s.grid.stride, perDay)
	if k < 0 {
		return 0, false
	}
	start := (step - k*s.grid.stride) * s.unit
	return s.lastWithin(start, start+s.unit-1)
}

// lastWithin returns the last of the tile's times in a…b, two seconds of one unit of the day.
func (s *stride) lastWithin(a, b int64) (int64, bool) {
	midnight := a - mod(a, dayLength)
	time, ok := s.tile.times.last(b - midnight)
	return midnight + time, ok && midnight+time >= a
}

func (s *stride) next(w int64) (int64, bool) {
	for range searchLimit {
		if s.long {
			met, ok := s.meet(w)
			if !ok {
				return 0, false
			}
			w = met
		}
		number, _ := divide(w, s.unit)
		step, _ := s.grid.next(number)
		w = max(w, step*s.unit)
		day, _ := divide(w, dayLength)
		found, ok := s.tile.dates.next(day)
		if !ok {
			return 0, false
		}
		if found != day {
			w = found * dayLength
			continue
		}
		end := day*dayLength + dayLength - 1
		if match, ok := s.within(w, end); ok {
			return match, true
		}
		w = end + 1
	}
	return 0, false
}

func (s *stride) last(w int64) (int64, bool) {
	for range searchLimit {
		if s.long {
			met, ok := s.meetLast(w)
			if !ok {
				return 0, false
			}
			w = met
		}
		number, _ := divide(w, s.unit)
		step := s.grid.last(number)
		w = min(w, (step+1)*s.unit-1)
		day, second := divide(w, dayLength)
		found, ok := s.tile.dates.last(day)
		if !ok {
			return 0, false
		}
		if found != day {
			w = found*dayLength + dayLength - 1
			continue
		}
		time, ok := s.tile.times.last(second)
		if !ok {
			w = day*dayLength - 1
			continue
		}
		w = day*dayLength + time
		if number, _ := divide(w, s.unit); number == step {
			return w, true
		}
	}
	return 0, false
}
