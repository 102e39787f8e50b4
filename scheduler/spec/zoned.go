package spec

import (
	"math"
	"time"
)

// zoned is a set of wall-clock seconds on the clock of a zone. It is the Schedule of every rule that has a clock.
//
// A stretch of time with one offset shows each wall-clock second once, so it is searched as it is. What happens at its
// start, when the clock was changed, is added: after a jump forward, the seconds that were jumped over; after a jump
// back, the seconds that are shown again are left out if they shall happen once. No instant comes twice and none is out
// of order, because every search is one for instants.
type zoned struct {
	walls walls
	zone  *zone
	gap   Gap
	first bool // of two equal times, only the first counts
}

// newZoned returns the instants of wall-clock seconds in a zone. dst leaves nothing open.
func newZoned(w walls, loc *time.Location, dst DST) Schedule {
	return &zoned{w, zoneOf(loc), dst.Gap, dst.Overlap == OverlapFirst}
}

// Next implements [Schedule].
func (s *zoned) Next(after time.Time) (time.Time, bool) {
	u, ok := s.from(max(after.Unix(), firstSecond-1) + 1)
	return instant(u, ok)
}

// Last implements [Schedule].
func (s *zoned) Last(notAfter time.Time) (time.Time, bool) {
	u, ok := s.to(min(notAfter.Unix(), lastSecond))
	return instant(u, ok)
}

func instant(u int64, ok bool) (time.Time, bool) {
	if !ok {
		return time.Time{}, false
	}
	return time.Unix(u, 0).UTC(), true
}

// Count implements [Schedule].
func (s *zoned) Count(from, to time.Time) int {
	a := from.Unix()
	if from.Nanosecond() > 0 {
		a++
	}
	return int(s.count(max(a, firstSecond), min(to.Unix(), lastSecond)))
}

// from returns the first instant not before u.
func (s *zoned) from(u int64) (int64, bool) {
	for u <= lastSecond {
		st := s.zone.at(u)
		if t, ok := s.nextIn(st, u); ok {
			return t, t <= lastSecond
		}
		if st.end == forever {
			break
		}
		// Whatever is left shows, on the wall, a time of the set after the end of this stretch, give or take the margin.
		w, ok := s.walls.next(st.end - margin)
		if !ok {
			break
		}
		u = max(st.end, w-margin)
	}
	return 0, false
}

// nextIn returns the first instant in a stretch not before u, which is in it.
func (s *zoned) nextIn(st stretch, u int64) (int64, bool) {
	t, ok := s.walls.next(max(u, s.once(st)) + st.offset)
	t, ok = t-st.offset, ok && t-st.offset < st.end
	if jumped := st.offset - st.before; jumped > 0 && u < st.start+jumped {
		if moved, found := s.moved(st, u); found && (!ok || moved < t) {
			return moved, true
		}
	}
	return t, ok
}

// once returns the instant of a stretch from which its wall-clock times count: after those that were shown before, if
// the first time counts.
func (s *zoned) once(st stretch) int64 {
	if s.first && st.before > st.offset {
		return st.start + st.before - st.offset
	}
	return max(st.start, -1<<60)
}

// moved returns the first instant not before u of the times that were jumped over at the start of a stretch.
func (s *zoned) moved(st stretch, u int64) (int64, bool) {
	switch s.gap {
	case GapShift:
		w, ok := s.walls.next(max(u, st.start) + st.before)
		return w - st.before, ok && w < st.start+st.offset && w-st.before < st.end
	case GapNext:
		w, ok := s.walls.next(st.start + st.before)
		return st.start, ok && w < st.start+st.offset && u <= st.start
	default:
		return 0, false
	}
}

// to returns the last instant not after u.
func (s *zoned) to(u int64) (int64, bool) {
	for u >= firstSecond {
		st := s.zone.at(u)
		if t, ok := s.lastIn(st, u); ok {
			return t, t >= firstSecond
		}
		if st.start == math.MinInt64 {
			break
		}
		w, ok := s.walls.last(st.start + margin)
		if !ok {
			break
		}
		u = min(st.start-1, w+margin)
	}
	return 0, false
}

// lastIn returns the last instant in a stretch not after u, which is in it.
func (s *zoned) lastIn(st stretch, u int64) (int64, bool) {
	t, ok := s.walls.last(u + st.offset)
	t, ok = t-st.offset, ok && t-st.offset >= s.once(st)
	if jumped := st.offset - st.before; jumped > 0 && (!ok || t < st.start+jumped) {
		if moved, found := s.movedLast(st, u); found && (!ok || moved > t) {
			return moved, true
		}
	}
	return t, ok
}

// movedLast returns the last instant not after u of the times that were jumped over at the start of a stretch.
func (s *zoned) movedLast(st stretch, u int64) (int64, bool) {
	switch s.gap {
	case GapShift:
		w, ok := s.walls.last(min(u+st.before, st.start+st.offset-1))
		return w - st.before, ok && w >= st.start+st.before
	case GapNext:
		w, ok := s.walls.next(st.start + st.before)
		return st.start, ok && w < st.start+st.offset
	default:
		return 0, false
	}
}

func (s *zoned) count(a, b int64) int64 {
	n := int64(0)
	for a <= b {
		st := s.zone.at(a)
		if low, high := max(a, s.once(st)), min(b, st.end-1); low <= high {
			n += s.walls.count(low+st.offset, high+st.offset)
		}
		if jumped := st.offset - st.before; jumped > 0 && a < st.start+jumped && s.gap != GapSkip {
			n += s.movedAlone(st, a, min(b, st.start+jumped-1))
		}
		if st.end > b {
			break
		}
		w, ok := s.walls.next(st.end - margin)
		if !ok {
			break
		}
		a = max(st.end, w-margin)
	}
	return n
}

// movedAlone counts the instants in a…b of times that were jumped over at the start of a stretch, without those that are
// instants anyway.
func (s *zoned) movedAlone(st stretch, a, b int64) int64 {
	n := int64(0)
	for t, ok := s.moved(st, a); ok && t <= b; t, ok = s.moved(st, t+1) {
		if w, ok := s.walls.next(t + st.offset); !ok || w != t+st.offset {
			n++
		}
		if s.gap == GapNext {
			break
		}
	}
	return n
}

func (s *zoned) countable() bool { return countableSet(s.walls) }
