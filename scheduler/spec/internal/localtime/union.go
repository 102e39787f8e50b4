package localtime

import "slices"

// Union is a union of sets of local times.
type Union []Set

// Next implements [Set].
func (u Union) Next(w int64) (best int64, some bool) {
	for _, set := range u {
		if found, ok := set.Next(w); ok && (!some || found < best) {
			best, some = found, true
		}
	}
	return best, some
}

// Last implements [Set].
func (u Union) Last(w int64) (best int64, some bool) {
	for _, set := range u {
		if found, ok := set.Last(w); ok && (!some || found > best) {
			best, some = found, true
		}
	}
	return best, some
}

// Count counts the first set, and walks the others for what they add.
func (u Union) Count(a, b int64) int64 {
	n := int64(0)
	for i, set := range u {
		n += set.Count(a, b)
		if i == 0 {
			continue
		}
		earlier := u[:i]
		for w, ok := set.Next(a); ok && w <= b; w, ok = set.Next(w + 1) {
			if found, ok := earlier.Next(w); ok && found == w {
				n--
			}
		}
	}
	return n
}

// DisjointUnion is a union of sets of local times that have nothing in common.
type DisjointUnion struct{ Union }

// Count implements [Set].
func (u DisjointUnion) Count(a, b int64) int64 {
	n := int64(0)
	for _, set := range u.Union {
		n += set.Count(a, b)
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
