package localtime

import (
	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/work"
)

// Stepped returns the times of a layer in the units anchor + k·step, each of the given length in seconds. Steps that
// return to the same times every day are masks of times, like steps that meet few times of day, however rarely.
// Others are a stride. No layer is left if the steps never meet the times.
func Stepped(m *work.Meter, unit, anchor, step int64, l Layer) []Layer {
	if times := Daily(unit, anchor, step); times != nil {
		l.Times = l.Times.And(times)
		return []Layer{l}
	}
	l = strided(unit, anchor, step, l)
	if layers, ok := l.daily(m); ok {
		return layers
	}
	if l.sparse() && l.Dates.Unit == calendar.EachDay {
		return l.byDays(m)
	}
	if l, ok := l.reached(m); ok {
		return []Layer{l}
	}
	return nil
}

// Steps returns the times at a fixed interval in seconds.
func Steps(anchor, step int64) Layer {
	return strided(1, anchor, step, Layer{Dates: calendar.EveryDate, Times: calendar.AllDay})
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

// sparse reports whether the steps meet so few times of day that each is better looked for by itself.
func (l *Layer) sparse() bool {
	units := l.unitsOfDay()
	perDay := calendar.DayLength / l.unit
	// The steps meet one unit in n. Times that they never meet are dropped.
	n := units.Size() * calendar.GCD(l.grid.Step, min(perDay, 60)) / calendar.GCD(l.grid.Step, perDay)
	return n <= 8 || n <= mostLayers && (l.grid.Step >= perDay || perDay%l.grid.Step == 0)
}

// unitsOfDay returns the times of the layer at which its units begin.
func (l *Layer) unitsOfDay() calendar.Times {
	t := l.Times
	if l.unit > 1 {
		t.Seconds &= -t.Seconds
	}
	if l.unit > 60 {
		t.Minutes &= -t.Minutes
	}
	return t
}

// byDays returns the layer without its stride: as a layer for each unit of the day. Steps meet a given unit of the
// day at a fixed interval in days, or never: for them to do so, k·step must be as far from the unit as the anchor is,
// modulo the units of a day.
func (l *Layer) byDays(m *work.Meter) []Layer {
	var layers []Layer
	var firsts []int64 // for each layer, a day on which the steps meet it
	perDay := calendar.DayLength / l.unit
	common := calendar.GCD(l.grid.Step, perDay)
	units := l.unitsOfDay()
	for second, ok := units.Next(0); ok; second, ok = units.After(second) {
		place := second / l.unit
		distance := place - l.grid.Anchor
		m.Spend(4)
		if calendar.Mod(distance, common) != 0 {
			continue
		}
		turn := perDay / common
		k := calendar.Mod(calendar.Mod(distance/common, turn)*calendar.Inverse(l.grid.Step/common, turn), turn)
		day, _ := calendar.Divide(l.grid.Anchor+k*l.grid.Step, perDay)
		layers, firsts = append(layers, Layer{Dates: l.Dates, Times: l.Times.Unit(second, l.unit)}), append(firsts, day)
	}
	if days := l.grid.Step / common; days > 1 {
		for i, d := range calendar.EveryNth(m, l.Dates.Days, days, firsts...) {
			layers[i].Dates = d
		}
	}
	return layers
}

// mostProducts is up to how many layers are better than one with a stride.
const mostProducts = 16

// daily returns the layer without its stride, if its steps repeat daily and form a few products of hours, minutes and
// seconds: every 90 seconds are, say, the even minutes, and the odd ones and a half.
func (l *Layer) daily(m *work.Meter) (layers []Layer, ok bool) {
	perHour := 3600 / l.unit
	if perHour == 1 || calendar.DayLength/l.unit%l.grid.Step != 0 {
		return nil, false
	}
	var products []calendar.Times
	hoursOf := l.stepsOfHours(perHour)
	common := calendar.GCD(l.grid.Step, perHour)
	for n := calendar.Mod(l.grid.Anchor, common); n < perHour && m.Spend(6); n += common {
		second := n * l.unit
		t := l.Times
		t.Hours &= hoursOf(n)
		t.Minutes &= 1 << (second / 60)
		if l.unit == 1 {
			t.Seconds &= 1 << (second % 60)
		}
		if t.Hours == 0 || t.Minutes == 0 || t.Seconds == 0 {
			continue
		}
		if products = joinMinutes(products, t); len(products) > mostProducts {
			return nil, false
		}
	}
	for _, t := range products {
		layers = append(layers, Layer{Dates: l.Dates, Times: t})
	}
	return layers, true
}

// stepsOfHours returns a function that returns the hours in which a step falls on the n-th unit.
func (l *Layer) stepsOfHours(perHour int64) func(n int64) uint32 {
	if perHour%l.grid.Step == 0 {
		return func(int64) uint32 { return calendar.AllHours }
	}
	return func(n int64) uint32 {
		hours := uint32(0)
		for hour := range int64(24) {
			if calendar.Mod(hour*perHour+n-l.grid.Anchor, l.grid.Step) == 0 {
				hours |= 1 << hour
			}
		}
		return hours
	}
}

// joinMinutes adds times to a list, and merges times that differ only in their minutes.
func joinMinutes(list []calendar.Times, t calendar.Times) []calendar.Times {
	for i := range list {
		if list[i].Hours == t.Hours && list[i].Seconds == t.Seconds {
			list[i].Minutes |= t.Minutes
			return list
		}
	}
	return append(list, t)
}

// covers reports whether every step of another layer, at its times of a unit, is a step of l too.
func (l *Layer) covers(m *work.Meter, o *Layer) bool {
	if l.stride == nil {
		return true
	}
	if o.stride == nil || l.unit > o.unit {
		return false
	}
	ratio := o.unit / l.unit
	if o.grid.Step*ratio%l.grid.Step != 0 {
		return false
	}
	inner := o.Times // the times of one of the other's units, in units of l
	inner.Hours = 1
	if o.unit < 3600 {
		inner.Minutes = 1
	}
	if o.unit == 1 {
		inner.Seconds = 1
	}
	for second, ok := inner.Next(0); ok && m.Spend(1); second, ok = inner.After(second) {
		if calendar.Mod(o.grid.Anchor*ratio+second/l.unit-l.grid.Anchor, l.grid.Step) != 0 {
			return false
		}
	}
	return true
}
