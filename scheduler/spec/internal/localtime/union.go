package localtime

import (
	"slices"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/work"
)

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

// Count counts the first set, and walks the others for what they add.
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
