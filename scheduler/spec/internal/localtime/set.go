package localtime

import (
	"slices"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/work"
)

// Set is a set of local times, each the seconds since 1970-01-01T00:00:00 on a clock that is never changed.
type Set interface {
	// Next returns the first second of the set not before w, false if none exists up to the year 9999.
	Next(m *work.Meter, w int64) (int64, bool)
	// Last returns the last second of the set not after w, false if none exists from the year 1 on.
	Last(m *work.Meter, w int64) (int64, bool)
	// Count returns how many seconds of the set lie in a…b.
	Count(m *work.Meter, a, b int64) int64
}

// Nothing is the empty set.
type Nothing struct{}

// Next implements [Set].
func (Nothing) Next(*work.Meter, int64) (int64, bool) { return 0, false }

// Last implements [Set].
func (Nothing) Last(*work.Meter, int64) (int64, bool) { return 0, false }

// Count implements [Set].
func (Nothing) Count(*work.Meter, int64, int64) int64 { return 0 }

// IsNothing reports whether a set is [Nothing].
func IsNothing(set Set) bool {
	_, none := set.(Nothing)
	return none
}

// Countable reports whether a set is counted by its days at most, and not by its seconds.
func Countable(set Set) bool {
	switch set := set.(type) {
	case *Range:
		_, nested := set.Set.(*Range)
		return !nested && Countable(set.Set)
	case *Tile, Steps, *StepSet, *Difference:
		return true
	}
	return false
}

// Steps is every so many seconds.
type Steps struct{ Cycle calendar.Cycle }

// Next implements [Set].
func (s Steps) Next(_ *work.Meter, w int64) (int64, bool) { return s.Cycle.Next(w) }

// Last implements [Set].
func (s Steps) Last(_ *work.Meter, w int64) (int64, bool) { return s.Cycle.Last(w), true }

// Count implements [Set].
func (s Steps) Count(_ *work.Meter, a, b int64) int64 { return s.Cycle.Count(a, b) }

// Single returns the set of one local time.
func Single(local int64) Set { return &Range{Steps{calendar.StepCycle(0, 1)}, local, local} }

// Range is the part of a set of local times in first…final.
type Range struct {
	Set          Set
	First, Final int64
}

// Next implements [Set].
func (s *Range) Next(m *work.Meter, w int64) (int64, bool) {
	found, ok := s.Set.Next(m, max(w, s.First))
	return found, ok && found <= s.Final
}

// Last implements [Set].
func (s *Range) Last(m *work.Meter, w int64) (int64, bool) {
	found, ok := s.Set.Last(m, min(w, s.Final))
	return found, ok && found >= s.First
}

// Count implements [Set].
func (s *Range) Count(m *work.Meter, a, b int64) int64 {
	a, b = max(a, s.First), min(b, s.Final)
	if a > b {
		return 0
	}
	return s.Set.Count(m, a, b)
}

// List is single local times in ascending order.
type List []int64

// Next implements [Set].
func (l List) Next(m *work.Meter, w int64) (int64, bool) {
	i, _ := slices.BinarySearch(l, w)
	m.Spend(1)
	if i == len(l) {
		return 0, false
	}
	return l[i], true
}

// Last implements [Set].
func (l List) Last(m *work.Meter, w int64) (int64, bool) {
	i, _ := slices.BinarySearch(l, w+1)
	m.Spend(1)
	if i == 0 {
		return 0, false
	}
	return l[i-1], true
}

// Count implements [Set].
func (l List) Count(_ *work.Meter, a, b int64) int64 {
	from, _ := slices.BinarySearch(l, a)
	to, _ := slices.BinarySearch(l, b+1)
	return int64(max(0, to-from))
}

// Union is a union of sets of local times.
type Union []Set

// Next implements [Set].
func (u Union) Next(m *work.Meter, w int64) (best int64, some bool) {
	for _, set := range u {
		if found, ok := set.Next(m, w); ok && (!some || found < best) {
			if best, some = found, true; found == w {
				break
			}
		}
	}
	return best, some
}

// Last implements [Set].
func (u Union) Last(m *work.Meter, w int64) (best int64, some bool) {
	for _, set := range u {
		if found, ok := set.Last(m, w); ok && (!some || found > best) {
			if best, some = found, true; found == w {
				break
			}
		}
	}
	return best, some
}

// Count counts the first set, and walks the others for additional times.
func (u Union) Count(m *work.Meter, a, b int64) int64 {
	n := int64(0)
	for i, set := range u {
		n += set.Count(m, a, b)
		if i == 0 {
			continue
		}
		earlier := u[:i]
		for w, ok := set.Next(m, a); ok && w <= b; w, ok = set.Next(m, w+1) {
			if found, ok := earlier.Next(m, w); ok && found == w {
				n--
			}
		}
	}
	return n
}

// DisjointUnion is a union of sets of local times that have nothing in common.
type DisjointUnion struct{ Union }

// Count implements [Set].
func (u DisjointUnion) Count(m *work.Meter, a, b int64) int64 {
	n := int64(0)
	for _, set := range u.Union {
		n += set.Count(m, a, b)
	}
	return n
}

// UnionOf returns the union of sets as one set.
func UnionOf(sets []Set) Set { return join(sets, func(sets Union) Set { return sets }) }

// DisjointUnionOf returns the union of sets that have nothing in common.
func DisjointUnionOf(sets []Set) Set {
	return join(sets, func(sets Union) Set { return DisjointUnion{sets} })
}

func join(sets []Set, several func(sets Union) Set) Set {
	switch sets = slices.DeleteFunc(sets, IsNothing); len(sets) {
	case 0:
		return Nothing{}
	case 1:
		return sets[0]
	}
	return several(sets)
}

// Eras are parts of sets of local times, one after the other.
type Eras []Range

// Next implements [Set].
func (e Eras) Next(m *work.Meter, w int64) (int64, bool) {
	for i := range e {
		if w <= e[i].Final {
			if found, ok := e[i].Next(m, w); ok {
				return found, true
			}
		}
	}
	return 0, false
}

// Last implements [Set].
func (e Eras) Last(m *work.Meter, w int64) (int64, bool) {
	for i := len(e) - 1; i >= 0; i-- {
		if w >= e[i].First {
			if found, ok := e[i].Last(m, w); ok {
				return found, true
			}
		}
	}
	return 0, false
}

// Count implements [Set].
func (e Eras) Count(m *work.Meter, a, b int64) int64 {
	n := int64(0)
	for i := range e {
		n += e[i].Count(m, a, b)
	}
	return n
}

// Nth returns the n-th second of a set from a given one on, a second beyond the calendar if there are fewer.
func Nth(m *work.Meter, set Set, from, n int64) int64 {
	if n <= walked(set) {
		w, ok := set.Next(m, from)
		for ; ok && n > 1; n-- {
			w, ok = set.Next(m, w+1)
		}
		if !ok {
			return calendar.Forever
		}
		return w
	}
	low, step := from, int64(calendar.DayLength)
	for {
		size := set.Count(m, low, low+step)
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
		if size := set.Count(m, low, middle); size < n {
			low, n = middle+1, n-size
		} else {
			high = middle
		}
	}
	return low
}

// walked returns up to how many seconds of a set are found sooner one by one than by counting.
func walked(set Set) int64 {
	switch set := set.(type) {
	case *StepSet:
		if set.round != nil {
			return 100
		}
	case DisjointUnion:
		most := int64(1000)
		for _, part := range set.Union {
			most = min(most, walked(part))
		}
		return most
	}
	return 1000
}
