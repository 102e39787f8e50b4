package instant

import (
	"math"
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/localtime"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/tz"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/work"
)

// zoned is a set of local times on the clock of a zone. It is the Schedule of every rule that has a clock.
//
// An interval with one offset shows each local time once, so it is searched as it is. What happens at its
// start, when the clock was changed, is added: after a jump forward, the seconds that were jumped over; after a jump
// back, the seconds that are shown again are left out if they shall happen once. No instant comes twice and none is out
// of order, because every search is one for instants.
type zoned struct {
	set   localtime.Set
	zone  *tz.Zone
	gap   Gap
	first bool // of two equal times, only the first counts
}

// changeWork is the work to find the interval of a zone in which an instant lies.
const changeWork = 3

// NewZoned returns the instants of local times in a zone. dst leaves nothing open.
func NewZoned(w localtime.Set, loc *time.Location, dst DST) Schedule {
	return &zoned{w, tz.Of(loc), dst.Gap, dst.Overlap == OverlapFirst}
}

// Next implements [Schedule].
func (s *zoned) Next(after time.Time) (time.Time, bool) { return s.nextIn(nil, after) }

func (s *zoned) nextIn(m *work.Meter, after time.Time) (time.Time, bool) {
	u, ok := s.from(m, max(after.Unix(), calendar.FirstSecond-1)+1)
	return instant(u, ok)
}

// Last implements [Schedule].
func (s *zoned) Last(notAfter time.Time) (time.Time, bool) { return s.lastIn(nil, notAfter) }

func (s *zoned) lastIn(m *work.Meter, notAfter time.Time) (time.Time, bool) {
	u, ok := s.to(m, min(notAfter.Unix(), calendar.LastSecond))
	return instant(u, ok)
}

func instant(u int64, ok bool) (time.Time, bool) {
	if !ok {
		return time.Time{}, false
	}
	return time.Unix(u, 0).UTC(), true
}

// Count implements [Schedule].
func (s *zoned) Count(from, to time.Time) int { return s.countIn(nil, from, to) }

func (s *zoned) countIn(m *work.Meter, from, to time.Time) int {
	a := from.Unix()
	if from.Nanosecond() > 0 {
		a++
	}
	return int(s.count(m, max(a, calendar.FirstSecond), min(to.Unix(), calendar.LastSecond)))
}

// from returns the first instant not before u.
func (s *zoned) from(m *work.Meter, u int64) (int64, bool) {
	for u <= calendar.LastSecond && m.Spend(changeWork) {
		st := s.zone.At(u)
		if t, ok := s.nextDuring(m, st, u); ok {
			return t, t <= calendar.LastSecond
		}
		if st.End == calendar.Forever {
			break
		}
		// Whatever is left shows a local time of the set after the end of this interval, give or take the margin.
		w, ok := s.set.Next(m, st.End-tz.Margin)
		if !ok {
			break
		}
		u = max(st.End, w-tz.Margin)
	}
	return 0, false
}

// nextDuring returns the first instant in an interval not before u, which is in it.
func (s *zoned) nextDuring(m *work.Meter, st tz.Interval, u int64) (int64, bool) {
	t, ok := s.set.Next(m, max(u, s.once(st))+st.Offset)
	t, ok = t-st.Offset, ok && t-st.Offset < st.End
	if jumped := st.Offset - st.Before; jumped > 0 && u < st.Start+jumped {
		if moved, found := s.moved(m, st, u); found && (!ok || moved < t) {
			return moved, true
		}
	}
	return t, ok
}

// once returns the instant of an interval from which its local times count: after those that were shown before, if
// the first time counts.
func (s *zoned) once(st tz.Interval) int64 {
	if s.first && st.Before > st.Offset {
		return st.Start + st.Before - st.Offset
	}
	return max(st.Start, -1<<60)
}

// moved returns the first instant not before u of the times that were jumped over at the start of an interval.
func (s *zoned) moved(m *work.Meter, st tz.Interval, u int64) (int64, bool) {
	switch s.gap {
	case GapShift:
		w, ok := s.set.Next(m, max(u, st.Start)+st.Before)
		return w - st.Before, ok && w < st.Start+st.Offset && w-st.Before < st.End
	case GapNext:
		w, ok := s.set.Next(m, st.Start+st.Before)
		return st.Start, ok && w < st.Start+st.Offset && u <= st.Start
	default:
		return 0, false
	}
}

// to returns the last instant not after u.
func (s *zoned) to(m *work.Meter, u int64) (int64, bool) {
	for u >= calendar.FirstSecond && m.Spend(changeWork) {
		st := s.zone.At(u)
		if t, ok := s.lastDuring(m, st, u); ok {
			return t, t >= calendar.FirstSecond
		}
		if st.Start == math.MinInt64 {
			break
		}
		w, ok := s.set.Last(m, st.Start+tz.Margin)
		if !ok {
			break
		}
		u = min(st.Start-1, w+tz.Margin)
	}
	return 0, false
}

// lastDuring returns the last instant in an interval not after u, which is in it.
func (s *zoned) lastDuring(m *work.Meter, st tz.Interval, u int64) (int64, bool) {
	t, ok := s.set.Last(m, u+st.Offset)
	t, ok = t-st.Offset, ok && t-st.Offset >= s.once(st)
	if jumped := st.Offset - st.Before; jumped > 0 && (!ok || t < st.Start+jumped) {
		if moved, found := s.movedLast(m, st, u); found && (!ok || moved > t) {
			return moved, true
		}
	}
	return t, ok
}

// movedLast returns the last instant not after u of the times that were jumped over at the start of an interval.
func (s *zoned) movedLast(m *work.Meter, st tz.Interval, u int64) (int64, bool) {
	switch s.gap {
	case GapShift:
		w, ok := s.set.Last(m, min(u+st.Before, st.Start+st.Offset-1))
		return w - st.Before, ok && w >= st.Start+st.Before
	case GapNext:
		w, ok := s.set.Next(m, st.Start+st.Before)
		return st.Start, ok && w < st.Start+st.Offset
	default:
		return 0, false
	}
}

func (s *zoned) count(m *work.Meter, a, b int64) int64 {
	n := int64(0)
	for a <= b && m.Spend(changeWork) {
		st := s.zone.At(a)
		if low, high := max(a, s.once(st)), min(b, st.End-1); low <= high {
			n += s.set.Count(m, low+st.Offset, high+st.Offset)
		}
		if jumped := st.Offset - st.Before; jumped > 0 && a < st.Start+jumped && s.gap != GapSkip {
			n += s.movedAlone(m, st, a, min(b, st.Start+jumped-1))
		}
		if st.End > b {
			break
		}
		w, ok := s.set.Next(m, st.End-tz.Margin)
		if !ok {
			break
		}
		a = max(st.End, w-tz.Margin)
	}
	return n
}

// movedAlone counts the instants in a…b of times that were jumped over at the start of an interval, without those that
// are instants anyway.
func (s *zoned) movedAlone(m *work.Meter, st tz.Interval, a, b int64) int64 {
	n := int64(0)
	for t, ok := s.moved(m, st, a); ok && t <= b; t, ok = s.moved(m, st, t+1) {
		if w, ok := s.set.Next(m, t+st.Offset); !ok || w != t+st.Offset {
			n++
		}
		if s.gap == GapNext {
			break
		}
	}
	return n
}

func (s *zoned) Countable() bool { return localtime.Countable(s.set) }
