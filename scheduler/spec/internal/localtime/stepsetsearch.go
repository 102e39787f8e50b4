package localtime

import (
	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/work"
)

// within returns the first second of the set in a…b, two seconds of one day, whatever the tile's dates.
func (s *StepSet) within(m *work.Meter, a, b int64) (int64, bool) {
	midnight := a - calendar.Mod(a, calendar.DayLength)
	for a <= b && m.Spend(1) {
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

// Next implements [Set].
func (s *StepSet) Next(m *work.Meter, w int64) (int64, bool) {
	if s.round != nil && s.arithmetic() {
		met, ok := s.meet(m, w)
		return met, ok && met <= calendar.LastSecond
	}
	for i := range calendar.SearchLimit {
		if s.round != nil && i == len(s.round) { // as much work as to compute it
			met, ok := s.meet(m, w)
			return met, ok && met <= calendar.LastSecond
		}
		number, _ := calendar.Divide(w, s.unit)
		step, _ := s.grid.Next(number)
		w = max(w, step*s.unit)
		day, _ := calendar.Divide(w, calendar.DayLength)
		found, ok := s.tile.Dates.Next(m, day)
		if !ok {
			return 0, false
		}
		if found != day {
			w = found * calendar.DayLength
		}
		end := found*calendar.DayLength + calendar.DayLength - 1
		if match, ok := s.within(m, w, end); ok {
			return match, true
		}
		w = end + 1
		if s.long {
			if w, ok = s.meet(m, w); !ok {
				return 0, false
			}
		}
	}
	return 0, m.GiveUp()
}

// arithmetic reports whether to meet the round is less work than to look for it.
func (s *StepSet) arithmetic() bool { return s.long || len(s.round) <= 2 }

// Last implements [Set].
func (s *StepSet) Last(m *work.Meter, w int64) (int64, bool) {
	if s.round != nil && s.arithmetic() {
		met, ok := s.meetLast(m, w)
		return met, ok && met >= calendar.FirstSecond
	}
	for i := range calendar.SearchLimit {
		if s.round != nil && i == len(s.round) {
			met, ok := s.meetLast(m, w)
			return met, ok && met >= calendar.FirstSecond
		}
		if s.long {
			met, ok := s.meetLast(m, w)
			if !ok {
				return 0, false
			}
			w = met
		}
		number, _ := calendar.Divide(w, s.unit)
		step := s.grid.Last(number)
		w = min(w, (step+1)*s.unit-1)
		day, second := calendar.Divide(w, calendar.DayLength)
		found, ok := s.tile.Dates.Last(m, day)
		if !ok || !m.Spend(1) {
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
	return 0, m.GiveUp()
}
