package localtime

import (
	"slices"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/work"
)

// Layer is certain times on certain dates, all of them or those in every n-th second, minute or hour ([Stepped]). It is
// what sets of local times are made of.
type Layer struct {
	*stride // nil: none

	Dates calendar.Dates
	Times calendar.Times
}

// at returns the layer's second that is nearest to w: the first not before it with a sign of 1, the last not after it
// with -1.
func (l *Layer) at(m *work.Meter, w, sign int64) (int64, bool) {
	if sign > 0 {
		return l.next(m, w)
	}
	return l.last(m, w)
}

// next returns the first second of the layer not before w, false if none exists up to the year 9999.
func (l *Layer) next(m *work.Meter, w int64) (int64, bool) {
	if l.stride != nil {
		return l.nextStep(m, w)
	}
	day, second := calendar.Divide(w, calendar.DayLength)
	found, ok := l.Dates.Next(m, day)
	if found == day && ok {
		if s, ok := l.Times.Next(second); ok {
			return day*calendar.DayLength + s, true
		}
		found, ok = l.Dates.Next(m, day+1)
	}
	if !ok || l.Times.Size() == 0 {
		return 0, false
	}
	return found*calendar.DayLength + l.Times.First(), true
}

// last returns the last second of the layer not after w, false if none exists from the year 1 on.
func (l *Layer) last(m *work.Meter, w int64) (int64, bool) {
	if l.stride != nil {
		return l.lastStep(m, w)
	}
	day, second := calendar.Divide(w, calendar.DayLength)
	found, ok := l.Dates.Last(m, day)
	if found == day && ok {
		if s, ok := l.Times.Last(second); ok {
			return day*calendar.DayLength + s, true
		}
		found, ok = l.Dates.Last(m, day-1)
	}
	if !ok {
		return 0, false
	}
	s, ok := l.Times.Last(calendar.DayLength - 1)
	return found*calendar.DayLength + s, ok
}

// count returns how many seconds of the layer lie in a…b.
func (l *Layer) count(m *work.Meter, a, b int64) int64 {
	if a > b {
		return 0
	}
	if l.stride != nil {
		return l.countSteps(m, a, b)
	}
	first, from := calendar.Divide(a, calendar.DayLength)
	final, to := calendar.Divide(b, calendar.DayLength)
	if first == final {
		if !l.Dates.Has(first) {
			return 0
		}
		return l.Times.Before(to+1) - l.Times.Before(from)
	}
	n := l.Dates.Count(m, first+1, final-1) * l.Times.Size()
	if l.Dates.Has(first) {
		n += l.Times.Size() - l.Times.Before(from)
	}
	if l.Dates.Has(final) {
		n += l.Times.Before(to + 1)
	}
	return n
}

// secondsOf returns the layer's seconds of the minute that begins at w, on one of its dates, at its hour and minute.
func (l *Layer) secondsOf(w int64, hour, minute int) uint64 {
	if l.Times.Hours>>hour&1 == 0 || l.Times.Minutes>>minute&1 == 0 {
		return 0
	}
	switch {
	case l.stride == nil:
		return l.Times.Seconds
	case l.unit > 1:
		number, _ := calendar.Divide(w, l.unit)
		if step, _ := l.grid.Next(number); step != number {
			return 0
		}
		return l.Times.Seconds
	}
	set := uint64(0)
	for second, _ := l.grid.Next(w); second < w+60; second += l.grid.Step {
		set |= 1 << (second - w)
	}
	return set & l.Times.Seconds
}

// trimmed returns the layer without what its stride never meets, and whether anything is left.
func (l *Layer) trimmed(m *work.Meter) (Layer, bool) {
	switch {
	case l.Times.Size() == 0:
		return *l, false
	case l.stride != nil:
		return l.reached(m)
	}
	return *l, !l.Dates.Never(m)
}

// subtract subtracts the minus layers from the plus layers where the result is layers, and returns the other minus
// layers, whose cycle or stride is unrelated to the plus layers.
func subtract(m *work.Meter, plus, minus []Layer) (left, rest []Layer) {
	most := len(plus) + mostLayers
	for i := range minus {
		var cut []Layer
		alien, changed := i >= mostLayers, false
		for j := range plus {
			switch p := &plus[j]; {
			case p.apart(&minus[i]):
				cut = append(cut, *p)
			case !alien && p.Dates.Inside(m, &minus[i].Dates) && minus[i].covers(m, p):
				cut, changed = append(cut, p.without(m, &minus[i])...), true
			default:
				cut, alien = append(cut, *p), true
			}
		}
		if changed {
			cut = Merge(m, cut)
		}
		if len(cut) <= most {
			plus = cut
		}
		if alien || len(cut) > most {
			rest = append(rest, minus[i])
		}
	}
	return plus, rest
}

// apart reports whether two layers have no time of the day in common.
func (l *Layer) apart(o *Layer) bool {
	common := l.Times.And(&o.Times)
	return common.Size() == 0
}

// without subtracts a layer whose cycle includes all days of l, and whose stride all its steps. The result is the days
// that the other layer lacks, and on common days the hours, minutes and seconds that it lacks.
func (l *Layer) without(m *work.Meter, o *Layer) []Layer {
	m.Spend(3 * calendar.JoinWork)
	days := l.Dates.Days.And(o.Dates.Days)
	if days.Empty() {
		return []Layer{*l}
	}
	t, both, common := l.Times, l.Times.And(&o.Times), l.Dates.Less(m, days)
	return []Layer{
		l.with(l.Dates.Less(m, l.Dates.Days.But(o.Dates.Days)), t),
		l.with(common, calendar.Times{Hours: t.Hours &^ o.Times.Hours, Minutes: t.Minutes, Seconds: t.Seconds}),
		l.with(common, calendar.Times{Hours: both.Hours, Minutes: t.Minutes &^ o.Times.Minutes, Seconds: t.Seconds}),
		l.with(common, calendar.Times{Hours: both.Hours, Minutes: both.Minutes, Seconds: t.Seconds &^ o.Times.Seconds}),
	}
}

// Merge drops empty layers, and joins layers with the same times or, on the same dates, with times that differ in one
// component only.
func Merge(m *work.Meter, layers []Layer) []Layer {
	var merged []Layer
	for _, l := range layers {
		l, some := l.trimmed(m)
		if !some {
			continue
		}
		for i := 0; i < len(merged) && m.Spend(1); i++ {
			if joined, ok := merged[i].join(m, &l); ok { // the joined layer may join others
				l = joined
				merged = slices.Delete(merged, i, i+1)
				i = -1
			}
		}
		merged = append(merged, l)
	}
	return merged
}

// join returns the union of two layers if it is a layer.
func (l *Layer) join(m *work.Meter, o *Layer) (Layer, bool) {
	if !l.Dates.SameCycle(&o.Dates) || !l.sameSteps(o) {
		return Layer{}, false
	}
	a, b := l.Times, o.Times
	switch {
	case a == b:
		return l.with(l.Dates.Or(m, &o.Dates), a), true
	case !m.Spend(2) || !l.Dates.Days.Equal(o.Dates.Days):
		return Layer{}, false
	case a.Minutes == b.Minutes && a.Seconds == b.Seconds:
		a.Hours |= b.Hours
	case a.Hours == b.Hours && a.Seconds == b.Seconds:
		a.Minutes |= b.Minutes
	case a.Hours == b.Hours && a.Minutes == b.Minutes:
		a.Seconds |= b.Seconds
	default:
		return Layer{}, false
	}
	return l.with(l.Dates, a), true
}

// sameSteps reports whether two layers have the same stride, or none.
func (l *Layer) sameSteps(o *Layer) bool {
	if l.stride == nil || o.stride == nil {
		return l.stride == o.stride
	}
	step := l.grid.Step
	return l.unit == o.unit && step == o.grid.Step && calendar.Mod(l.grid.Anchor-o.grid.Anchor, step) == 0
}

// PeriodOf returns a number of seconds after which layers repeat themselves, 0 if that takes longer than the calendar.
func PeriodOf(layers []Layer) int64 {
	turn := int64(1)
	join := func(n int64) {
		if turn /= calendar.GCD(turn, n); turn > calendar.LastSecond/n {
			turn = 0
			return
		}
		turn *= n
	}
	for _, l := range layers {
		if l.stride != nil {
			join(l.unit * l.grid.Step)
		}
		days := int64(1)
		switch {
		case l.Dates.Days.Weekly():
			days = 7
		case l.Dates.Days != calendar.EveryDay:
			days = calendar.DaysPer400Years
		}
		join(days * calendar.DayLength)
		switch c := l.Dates.Cycle; l.Dates.Unit {
		case calendar.EachDay:
		case calendar.ByDay:
			join(c.Step * c.Length * calendar.DayLength)
		default:
			return 0
		}
		if turn == 0 {
			return 0
		}
	}
	return turn
}
