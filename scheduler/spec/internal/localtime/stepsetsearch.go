package localtime

import (
	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
)

// within returns the first second of the set in a…b, two seconds of one day, whatever the tile's dates.
func (s *StepSet) within(a, b int64) (int64, bool) {
	midnight := a - calendar.Mod(a, calendar.DayLength)
	for a <= b {
		number, _ := calendar.Divide(a, s.unit)
		step, _ := s.grid.Next(number)
		if step > number {
			a = step * s.unit
		}
		if a > b {
			break
		}
		time, ok := s.tile.Times.Next(a - midnight)
		if !ok || midnight+time > b {
			break
		}
		a = midnight + time
		if number, _ := calendar.Divide(a, s.unit); number == step {
			return a, true
		}
	}
	return 0, false
}

// meet returns the first second not before w that lies in a step and in the tile's times, whatever its date. It has
// windows.
func (s *StepSet) meet(w int64) (int64, bool) {
	number, rest := calendar.Divide(w, s.unit)
	if step, _ := s.grid.Next(number); step == number && rest > 0 { // in the middle of a step
		if match, ok := s.within(w, w-rest+s.unit-1); ok {
			return match, true
		}
		number++
	}
	step, _ := s.grid.Next(number)
	perDay := calendar.DayLength / s.unit
	k := s.windows.meeting(calendar.Mod(step, perDay), s.grid.Step, perDay)
	if k < 0 {
		return 0, false
	}
	start := (step + k*s.grid.Step) * s.unit
	return s.within(start, start+s.unit-1)
}

// meetLast returns the last second not after w that lies in a step and in the tile's times, whatever its date.
func (s *StepSet) meetLast(w int64) (int64, bool) {
	number, rest := calendar.Divide(w, s.unit)
	if s.grid.Last(number) == number && rest < s.unit-1 {
		if match, ok := s.lastWithin(w-rest, w); ok {
			return match, true
		}
		number--
	}
	step := s.grid.Last(number)
	perDay := calendar.DayLength / s.unit
	k := s.windows.meeting(calendar.Mod(step, perDay), -s.grid.Step, perDay)
	if k < 0 {
		return 0, false
	}
	start := (step - k*s.grid.Step) * s.unit
	return s.lastWithin(start, start+s.unit-1)
}

// lastWithin returns the last of the tile's times in a…b, two seconds of one unit of the day.
func (s *StepSet) lastWithin(a, b int64) (int64, bool) {
	midnight := a - calendar.Mod(a, calendar.DayLength)
	time, ok := s.tile.Times.Last(b - midnight)
	return midnight + time, ok && midnight+time >= a
}

// Next implements [Set].
func (s *StepSet) Next(w int64) (int64, bool) {
	for range calendar.SearchLimit {
		if s.long {
			met, ok := s.meet(w)
			if !ok {
				return 0, false
			}
			w = met
		}
		number, _ := calendar.Divide(w, s.unit)
		step, _ := s.grid.Next(number)
		w = max(w, step*s.unit)
		day, _ := calendar.Divide(w, calendar.DayLength)
		found, ok := s.tile.Dates.Next(day)
		if !ok {
			return 0, false
		}
		if found != day {
			w = found * calendar.DayLength
			continue
		}
		end := day*calendar.DayLength + calendar.DayLength - 1
		if match, ok := s.within(w, end); ok {
			return match, true
		}
		w = end + 1
	}
	return 0, false
}

// Last implements [Set].
func (s *StepSet) Last(w int64) (int64, bool) {
	for range calendar.SearchLimit {
		if s.long {
			met, ok := s.meetLast(w)
			if !ok {
				return 0, false
			}
			w = met
		}
		number, _ := calendar.Divide(w, s.unit)
		step := s.grid.Last(number)
		w = min(w, (step+1)*s.unit-1)
		day, second := calendar.Divide(w, calendar.DayLength)
		found, ok := s.tile.Dates.Last(day)
		if !ok {
			return 0, false
		}
		if found != day {
			w = found*calendar.DayLength + calendar.DayLength - 1
			continue
		}
		time, ok := s.tile.Times.Last(second)
		if !ok {
			w = day*calendar.DayLength - 1
			continue
		}
		w = day*calendar.DayLength + time
		if number, _ := calendar.Divide(w, s.unit); number == step {
			return w, true
		}
	}
	return 0, false
}
