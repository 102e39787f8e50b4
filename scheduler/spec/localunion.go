package spec

import "slices"

// anyOf is a union of sets of wall-clock seconds.
type anyOf []walls

func (u anyOf) next(w int64) (best int64, some bool) {
	for _, set := range u {
		if found, ok := set.next(w); ok && (!some || found < best) {
			best, some = found, true
		}
	}
	return best, some
}

func (u anyOf) last(w int64) (best int64, some bool) {
	for _, set := range u {
		if found, ok := set.last(w); ok && (!some || found > best) {
			best, some = found, true
		}
	}
	return best, some
}

// count counts the first set, and walks the others for what they add.
func (u anyOf) count(a, b int64) int64 {
	n := int64(0)
	for i, set := range u {
		n += set.count(a, b)
		if i == 0 {
			continue
		}
		earlier := u[:i]
		for w, ok := set.next(a); ok && w <= b; w, ok = set.next(w + 1) {
			if found, ok := earlier.next(w); ok && found == w {
				n--
			}
		}
	}
	return n
}

// disjoint is a union of sets of wall-clock seconds that have nothing in common.
type disjoint struct{ anyOf }

func (u disjoint) count(a, b int64) int64 {
	n := int64(0)
	for _, set := range u.anyOf {
		n += set.count(a, b)
	}
	return n
}

// together returns the union of sets as one set.
func together(sets []walls) walls {
	sets = slices.DeleteFunc(sets, isNothing)
	switch len(sets) {
	case 0:
		return nothing{}
	case 1:
		return sets[0]
	}
	return anyOf(sets)
}

// apart returns the union of sets that have nothing in common.
func apart(sets []walls) walls {
	sets = slices.DeleteFunc(sets, isNothing)
	switch len(sets) {
	case 0:
		return nothing{}
	case 1:
		return sets[0]
	}
	return disjoint{sets}
}
