package spec

import "slices"

// covers reports whether every step of another stride, at the tile's times of its unit, is a step of s too.
func (s *stride) covers(o *stride) bool {
	if s.unit > o.unit {
		return false
	}
	ratio := o.unit / s.unit
	if o.grid.stride*ratio%s.grid.stride != 0 {
		return false
	}
	inner := o.tile.times // the times of one of the other's units, in units of s
	inner.hours = 1
	if o.unit < 3600 {
		inner.minutes = 1
	}
	if o.unit == 1 {
		inner.seconds = 1
	}
	for second, ok := inner.next(0); ok; second, ok = inner.after(second) {
		if mod(o.grid.anchor*ratio+second/s.unit-s.grid.anchor, s.grid.stride) != 0 {
			return false
		}
	}
	return true
}

// without returns the set without tiles and without other strides, as far as those step on all of its own steps.
func (s *stride) without(minus []tile, excluded []*stride) walls {
	minus = slices.Clone(minus)
	for _, e := range excluded {
		if e.covers(s) {
			minus = append(minus, e.tile)
		}
	}
	if len(minus) == 0 || len(minus) > maxTiles {
		return s
	}
	filter := newMosaic([]tile{s.tile}, minus)
	if _, none := filter.(nothing); none {
		return filter
	}
	return &sieve{s, filter}
}

// sieve is the part of a stride that lies in another set.
type sieve struct {
	stride *stride
	filter walls
}

func (s *sieve) next(w int64) (int64, bool) {
	for range searchLimit {
		step, ok := s.stride.next(w)
		if !ok {
			return 0, false
		}
		if w, ok = s.filter.next(step); !ok || w == step {
			return w, ok
		}
	}
	return 0, false
}

func (s *sieve) last(w int64) (int64, bool) {
	for range searchLimit {
		step, ok := s.stride.last(w)
		if !ok {
			return 0, false
		}
		if w, ok = s.filter.last(step); !ok || w == step {
			return w, ok
		}
	}
	return 0, false
}

func (s *sieve) count(a, b int64) int64 {
	n := int64(0)
	for w, ok := s.next(a); ok && w <= b; w, ok = s.next(w + 1) {
		n++
	}
	return n
}
