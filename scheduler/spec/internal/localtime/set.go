package localtime

import (
	"cmp"
	"slices"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/work"
)

// Set is a set of local times, each the seconds since 1970-01-01T00:00:00 on a clock that is never changed. It is immutable.
type Set struct {
	parts []part // one after the other
	only  *Layer // the whole set, if it is a layer: the way that most searches go

	// Memory of a set with one part, its layer, and its stride.
	part   [1]part
	layer  [1]Layer
	stride stride
}

// New returns the seconds in first…final of the plus layers that are in none of the minus layers.
func New(m *work.Meter, plus, minus []Layer, first, final int64) *Set {
	s := &Set{}
	if p := newPart(m, plus, minus, first, final); len(p.plus) > 0 {
		if p.plus = append(s.layer[:0], p.plus...); p.plus[0].stride != nil {
			s.stride = *p.plus[0].stride
			p.plus[0].stride = &s.stride
		}
		s.parts = append(s.part[:0], p)
		if len(p.plus) == 1 && len(p.minus) == 0 && first == -calendar.Forever && final == calendar.Forever {
			s.only = &p.plus[0]
		}
	}
	return s
}

// Of returns the seconds of layers.
func Of(m *work.Meter, layers ...Layer) *Set {
	return New(m, layers, nil, -calendar.Forever, calendar.Forever)
}

// At returns single local times, which are in ascending order.
func At(times ...int64) *Set {
	s := &Set{}
	every := []Layer{{Dates: calendar.EveryDate, Times: calendar.AllDay}}
	for _, w := range times {
		s.parts = append(s.parts, part{plus: every, apart: true, first: w, final: w})
	}
	return s
}

// Concat returns sets that come one after the other as one.
func Concat(sets ...*Set) *Set {
	all := &Set{}
	for _, s := range sets {
		all.parts = append(all.parts, s.parts...)
	}
	return all
}

// Empty reports whether nothing is in the set.
func (s *Set) Empty() bool { return len(s.parts) == 0 }

// Countable reports whether the set is counted by its days at most, and not by its minutes.
func (s *Set) Countable() bool { return len(s.parts) == 1 && s.parts[0].countable() }

// from returns the place of the first part that ends at a second or later.
func (s *Set) from(w int64) int {
	if len(s.parts) == 1 {
		return 0
	}
	i, _ := slices.BinarySearchFunc(s.parts, w, func(p part, w int64) int { return cmp.Compare(p.final, w) })
	return i
}

// Next returns the first second of the set not before w, false if none exists up to the year 9999.
func (s *Set) Next(m *work.Meter, w int64) (int64, bool) {
	if s.only != nil {
		return s.only.next(m, w)
	}
	for i := s.from(w); i < len(s.parts); i++ {
		if found, ok := s.parts[i].at(m, w, 1); ok || !m.Spend(1) {
			return found, ok
		}
	}
	return 0, false
}

// Last returns the last second of the set not after w, false if none exists from the year 1 on.
func (s *Set) Last(m *work.Meter, w int64) (int64, bool) {
	for i := min(s.from(w), len(s.parts)-1); i >= 0; i-- {
		if found, ok := s.parts[i].at(m, w, -1); ok || !m.Spend(1) {
			return found, ok
		}
	}
	return 0, false
}

// Count returns how many seconds of the set lie in a…b.
func (s *Set) Count(m *work.Meter, a, b int64) int64 {
	n := int64(0)
	for i := s.from(a); i < len(s.parts) && s.parts[i].first <= b; i++ {
		n += s.parts[i].count(m, a, b)
	}
	return n
}

// Begins reports whether the set has a second from w on. If the search is too expensive, exhausted is true, and
// reached is the end of the searched range.
func (s *Set) Begins(m *work.Meter, w int64) (some bool, reached int64, exhausted bool) {
	for i := range s.parts {
		if reached, some, exhausted = s.parts[i].search(m, max(w, s.parts[i].first), 1); some || exhausted {
			break
		}
	}
	return some, reached, exhausted
}

// Nth returns the n-th second of a set from a given one on, a second beyond the calendar if there are fewer.
func (s *Set) Nth(m *work.Meter, from, n int64) int64 {
	if n <= s.walked() {
		w, ok := s.Next(m, from)
		for ; ok && n > 1; n-- {
			w, ok = s.Next(m, w+1)
		}
		if !ok {
			return calendar.Forever
		}
		return w
	}
	low, step := from, int64(calendar.DayLength)
	for {
		size := s.Count(m, low, low+step)
		if size >= n {
			break
		}
		n -= size
		if low += step + 1; low > calendar.LastSecond || m.Exhausted() {
			return calendar.Forever
		}
		step *= 2
	}
	for high := low + step; low < high && !m.Exhausted(); { // it is in low…high
		middle := low + (high-low)/2
		if size := s.Count(m, low, middle); size < n {
			low, n = middle+1, n-size
		} else {
			high = middle
		}
	}
	return low
}

// walked returns up to how many seconds of a set are found sooner one by one than by counting.
func (s *Set) walked() int64 {
	for i := range s.parts {
		for _, l := range s.parts[i].plus {
			if l.stride != nil && (l.free || l.round != nil) {
				return 100
			}
		}
	}
	return 1000
}
