package localtime

import (
	"slices"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/work"
)

// Stepped returns the times of a tile in the units anchor + k·step, each of so many seconds. Steps that come back to the same
// times every day make tiles, and so do those that meet few times of day, however seldom. Others make a step set, nil if
// they never meet the tile.
func Stepped(m *work.Meter, unit, anchor, step int64, t Tile) ([]Tile, *StepSet) {
	if times := Daily(unit, anchor, step); times != nil {
		t.Times = t.Times.And(times)
		return []Tile{t}, nil
	}
	s := NewStepSet(unit, anchor, step, t)
	if tiles := s.DailyTiles(m); tiles != nil {
		return tiles, nil
	}
	if s.Sparse() && t.Dates.Unit == calendar.EachDay {
		return s.Tiles(m), nil
	}
	if s.Reach(m) {
		return nil, s
	}
	return nil, nil
}

// Daily returns the times of day that steps, as in [Stepped], visit, nil if they are not the same every day or not a
// product of hours, minutes and seconds.
func Daily(unit, anchor, step int64) *calendar.Times {
	t := calendar.AllDay
	switch {
	case unit == 3600 && 24%step == 0:
		t.Hours = uint32(calendar.StepBits(calendar.Mod(anchor, 24), step, 24))
	case unit == 60 && 60%step == 0:
		t.Minutes = calendar.StepBits(calendar.Mod(anchor, 60), step, 60)
	case unit == 1 && 60%step == 0:
		t.Seconds = calendar.StepBits(calendar.Mod(anchor, 60), step, 60)
	default:
		return nil
	}
	return &t
}

// Sparse reports whether the steps meet so few times of day that each is better looked for by itself.
func (s *StepSet) Sparse() bool {
	units := s.unitsOfDay()
	perDay := calendar.DayLength / s.unit
	// The steps meet one unit in n. Times that they never meet are dropped.
	n := units.Size() * calendar.GCD(s.grid.Step, min(perDay, 60)) / calendar.GCD(s.grid.Step, perDay)
	return n <= 8 || n <= MaxTiles && (s.grid.Step >= perDay || perDay%s.grid.Step == 0)
}

// unitsOfDay returns the times of the tile at which its units begin.
func (s *StepSet) unitsOfDay() calendar.Times {
	t := s.tile.Times
	if s.unit > 1 {
		t.Seconds &= -t.Seconds
	}
	if s.unit > 60 {
		t.Minutes &= -t.Minutes
	}
	return t
}

// Tiles returns the set as tiles, one for each unit of the day. Steps meet a given unit of the day, if ever, every so
// many days: for them to do so, k·step must be as far from the unit as the anchor is, modulo the units of a day.
func (s *StepSet) Tiles(m *work.Meter) []Tile {
	var tiles []Tile
	var firsts []int64 // for each tile, a day on which the steps meet it
	perDay := calendar.DayLength / s.unit
	common := calendar.GCD(s.grid.Step, perDay)
	units := s.unitsOfDay()
	for second, ok := units.Next(0); ok; second, ok = units.After(second) {
		place := second / s.unit
		distance := place - s.grid.Anchor
		m.Spend(4)
		if calendar.Mod(distance, common) != 0 {
			continue
		}
		turn := perDay / common
		k := calendar.Mod(calendar.Mod(distance/common, turn)*calendar.Inverse(s.grid.Step/common, turn), turn)
		day, _ := calendar.Divide(s.grid.Anchor+k*s.grid.Step, perDay)
		t := s.tile
		t.Times = s.tile.Times.Unit(second, s.unit)
		tiles, firsts = append(tiles, t), append(firsts, day)
	}
	if days := s.grid.Step / common; days > 1 {
		for i, d := range calendar.EveryNth(m, s.tile.Dates.Days, days, firsts...) {
			tiles[i].Dates = d
		}
	}
	return tiles
}

// mostProducts is up to how many tiles a step set is better said in tiles.
const mostProducts = 16

// DailyTiles returns the set as tiles if its steps repeat daily and form a few products of hours, minutes and seconds:
// every 90 seconds are, say, the even minutes, and the odd ones and a half. Tiles can be subtracted without visiting
// every second. The result is nil if that is impossible.
func (s *StepSet) DailyTiles(m *work.Meter) []Tile {
	perHour := 3600 / s.unit
	if perHour == 1 || calendar.DayLength/s.unit%s.grid.Step != 0 {
		return nil
	}
	var products []calendar.Times
	hoursOf := s.stepsOfHours(perHour)
	common := calendar.GCD(s.grid.Step, perHour)
	for n := calendar.Mod(s.grid.Anchor, common); n < perHour && m.Spend(6); n += common {
		second := n * s.unit
		t := s.tile.Times
		t.Hours &= hoursOf(n)
		t.Minutes &= 1 << (second / 60)
		if s.unit == 1 {
			t.Seconds &= 1 << (second % 60)
		}
		if t.Hours == 0 || t.Minutes == 0 || t.Seconds == 0 {
			continue
		}
		if products = joinMinutes(products, t); len(products) > mostProducts {
			return nil
		}
	}
	tiles := []Tile{}
	for _, t := range products {
		tiles = append(tiles, Tile{s.tile.Dates, t})
	}
	return tiles
}

// stepsOfHours returns a function that returns the hours in which a step falls on the n-th unit.
func (s *StepSet) stepsOfHours(perHour int64) func(n int64) uint32 {
	if perHour%s.grid.Step == 0 {
		return func(int64) uint32 { return calendar.AllHours }
	}
	return func(n int64) uint32 {
		hours := uint32(0)
		for hour := range int64(24) {
			if calendar.Mod(hour*perHour+n-s.grid.Anchor, s.grid.Step) == 0 {
				hours |= 1 << hour
			}
		}
		return hours
	}
}

// joinMinutes adds times to a list, in which those that differ in their minutes only are one.
func joinMinutes(list []calendar.Times, t calendar.Times) []calendar.Times {
	for i := range list {
		if list[i].Hours == t.Hours && list[i].Seconds == t.Seconds {
			list[i].Minutes |= t.Minutes
			return list
		}
	}
	return append(list, t)
}

// covers reports whether every step of another step set, at the tile's times of its unit, is a step of s too.
func (s *StepSet) covers(m *work.Meter, o *StepSet) bool {
	if s.unit > o.unit {
		return false
	}
	ratio := o.unit / s.unit
	if o.grid.Step*ratio%s.grid.Step != 0 {
		return false
	}
	inner := o.tile.Times // the times of one of the other's units, in units of s
	inner.Hours = 1
	if o.unit < 3600 {
		inner.Minutes = 1
	}
	if o.unit == 1 {
		inner.Seconds = 1
	}
	for second, ok := inner.Next(0); ok && m.Spend(1); second, ok = inner.After(second) {
		if calendar.Mod(o.grid.Anchor*ratio+second/s.unit-s.grid.Anchor, s.grid.Step) != 0 {
			return false
		}
	}
	return true
}

// Without subtracts tiles and other step sets from the set, as far as the steps of those include all of its own.
func (s *StepSet) Without(m *work.Meter, minus []Tile, excluded []*StepSet) Set {
	minus = slices.Clone(minus)
	for _, e := range excluded {
		if e.covers(m, s) {
			minus = append(minus, e.tile)
		}
	}
	if len(minus) == 0 || len(minus) > MaxTiles {
		return s
	}
	filter := NewDifference(m, []Tile{s.tile}, minus)
	if _, none := filter.(Nothing); none {
		return filter
	}
	return &filtered{s, filter}
}

// filtered is the intersection of a step set with another set.
type filtered struct {
	steps  *StepSet
	filter Set
}

func (s *filtered) Next(m *work.Meter, w int64) (int64, bool) {
	for range calendar.SearchLimit {
		step, ok := s.steps.Next(m, w)
		if !ok {
			return 0, false
		}
		if w, ok = s.filter.Next(m, step); !ok || w == step {
			return w, ok
		}
	}
	return 0, m.GiveUp()
}

func (s *filtered) Last(m *work.Meter, w int64) (int64, bool) {
	for range calendar.SearchLimit {
		step, ok := s.steps.Last(m, w)
		if !ok {
			return 0, false
		}
		if w, ok = s.filter.Last(m, step); !ok || w == step {
			return w, ok
		}
	}
	return 0, m.GiveUp()
}

func (s *filtered) Count(m *work.Meter, a, b int64) int64 {
	n := int64(0)
	for w, ok := s.Next(m, a); ok && w <= b; w, ok = s.Next(m, w+1) {
		n++
	}
	return n
}
