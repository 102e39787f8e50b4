package spec

import (
	"fmt"
	"time"
)

// changed returns the first and the last second on the wall that the change at the start of a stretch jumps over, or
// shows twice.
func (st stretch) changed() (a, b int64) {
	a, b = st.start+st.before, st.start+st.offset
	return min(a, b), max(a, b) - 1
}

// remark says what the change at the start of a stretch does to the set, of which the times from first to b are changed.
func (s *zoned) remark(st stretch, first, b int64) string {
	jump := st.offset - st.before
	last, _ := s.walls.last(b)
	times := wallText(first, 0)
	verb, many := "s", false
	if last > first {
		times += " to " + wallText(last, first)
		verb, many = "", true
	}
	if jump < 0 {
		return fmt.Sprintf("%s occur%s twice in %s: %s", times, verb, s.zone.name, s.again(many))
	}
	does := "does"
	if many {
		does = "do"
	}
	return fmt.Sprintf("%s %s not exist in %s: %s", times, does, s.zone.name, s.instead(st, first, many))
}

// again says what becomes of times that are shown twice.
func (s *zoned) again(many bool) string {
	run := "runs"
	if many {
		run = "run"
	}
	if s.first {
		return run + " the first time only"
	}
	return run + " both times"
}

// instead says what becomes of times that are jumped over.
func (s *zoned) instead(st stretch, first int64, many bool) string {
	switch {
	case s.gap == GapNext && many:
		return "runs once for them, at " + wallText(st.start+st.offset, first)
	case s.gap == GapNext:
		return "runs at " + wallText(st.start+st.offset, first)
	case s.gap == GapShift && many:
		return "run " + (time.Duration(st.offset-st.before) * time.Second).String() + " later"
	case s.gap == GapShift:
		return "runs at " + wallText(first+st.offset-st.before, first)
	case many:
		return "do not run"
	}
	return "does not run"
}

// wallText writes a wall-clock second, without the date if it is that of another.
func wallText(w, other int64) string {
	day, second := divide(w, dayLength)
	clock := clockTime(int(second/3600), int(second/60%60), int(second%60))
	if same, _ := divide(other, dayLength); other != 0 && same == day {
		return clock
	}
	return time.Unix(day*dayLength, 0).UTC().Format("2006-01-02 ") + clock
}

func (s *zoned) notes(from, to int64) []note {
	var list []note
	for st := s.zone.at(from); st.end <= to && len(list) < mostNotes; {
		st = s.zone.at(st.end)
		a, b := st.changed()
		first, ok := s.walls.next(a)
		if !ok {
			break
		}
		if first <= b {
			list = append(list, note{st.start, s.remark(st, first, b)})
		} else if first-margin > st.end { // nothing happens at the changes in between
			st = s.zone.at(first - margin)
		}
	}
	return list
}

func (s *zoned) nextGap(from, to int64) (gap, bool) {
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
