package spec

import (
	"math"
	"time"
)

// LeftOut is what a change of a clock takes from a schedule that skips the times which do not exist.
type LeftOut struct {
	At    time.Time // the change: the first instant after it
	Count int       // how many times of the schedule the clock jumps over
	Text  string    // in English, as in the notes of a [Preview]
}

// LeftOut returns the first change of a clock after an instant, and not after until, that leaves times of the schedule
// out: the clock jumps over them, and by the rule's policy they do not happen at all ([GapSkip]). A zero until is no limit.
//
// The times left out are no instants. Next, Last and Count know nothing of them, and neither does the recurrence's count.
// While the clock of the schedule is not changed between the two, the answer costs one look into the zone's changes.
func (p *Plan) LeftOut(after, until time.Time) (LeftOut, bool) {
	s, ok := p.schedule.(leaver)
	if !ok {
		return LeftOut{}, false
	}
	to := int64(math.MaxInt64 - 1) // a stretch without an end ends later
	if !until.IsZero() {
		to = until.Unix()
	}
	g, ok := s.leftOut(after.Unix()+1, to)
	if !ok {
		return LeftOut{}, false
	}
	return LeftOut{At: time.Unix(g.at(), 0).UTC(), Count: g.count, Text: g.zoned.remark(g.stretch, g.first, g.last)}, true
}

// leaver is a Schedule that may leave times out.
type leaver interface {
	// leftOut returns the first change in from…to that leaves times out.
	leftOut(from, to int64) (gap, bool)
}

// gap is a change of a clock that jumps over times of a set of wall-clock seconds.
type gap struct {
	zoned       *zoned
	stretch     stretch // that begins with the change
	first, last int64   // wall-clock seconds: the first time of the set, and the last second that do not exist
	count       int
}

// at returns the instant of the change.
func (g gap) at() int64 { return g.stretch.start }

func (s *zoned) leftOut(from, to int64) (gap, bool) {
	if s.gap != GapSkip {
		return gap{}, false
	}
	for st := s.zone.at(from - 1); st.end <= to; {
		st = s.zone.at(st.end)
		a, b := st.changed()
		first, ok := s.walls.next(a)
		switch {
		case !ok:
			return gap{}, false
		case first > b && first-margin > st.end: // nothing happens at the changes in between
			st = s.zone.at(first - margin)
		case first <= b && st.offset > st.before:
			return gap{s, st, first, b, int(s.walls.count(first, b))}, true
		}
	}
	return gap{}, false
}

func (w *window) leftOut(from, to int64) (gap, bool) {
	s, ok := w.schedule.(leaver)
	if !ok {
		return gap{}, false
	}
	if !w.start.IsZero() { // what the clock jumps over comes before the change
		from = max(from, w.start.Unix()+1)
	}
	return s.leftOut(from, min(to, w.end.Unix()))
}

func (d *delayed) leftOut(from, to int64) (gap, bool) {
	if s, ok := d.schedule.(leaver); ok {
		return s.leftOut(from, to)
	}
	return gap{}, false
}

// leftOut puts together what several schedules leave out at one change: what they have in common counts once.
func (u union) leftOut(from, to int64) (best gap, some bool) {
	var all []gap
	for _, part := range u {
		s, ok := part.(leaver)
		if !ok {
			continue
		}
		g, ok := s.leftOut(from, to)
		if !ok {
			continue
		}
		if g.at() < to {
			to, all = g.at(), all[:0]
		}
		all = append(all, g)
	}
	if len(all) == 0 {
		return gap{}, false
	}
	best = all[0]
	for _, g := range all[1:] {
		best = best.with(g)
	}
	return best, true
}

// with returns what two schedules leave out at one change. In different zones they have nothing in common.
func (g gap) with(other gap) gap {
	if g.zoned.zone != other.zoned.zone {
		g.count += other.count
		return g
	}
	joint := *g.zoned
	joint.walls = anyOf{g.zoned.walls, other.zoned.walls}
	g.zoned, g.first = &joint, min(g.first, other.first)
	g.count = int(joint.walls.count(g.first, g.last))
	return g
}
