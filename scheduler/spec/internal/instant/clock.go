package instant

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/localtime"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/tz"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/work"
)

// clock is a set of local times on the clock of a zone, delayed, between two instants.
//
// An interval with one offset shows each local time once, so it is searched as it is. The change of the clock at its
// start adds to that: after a jump forward, the skipped seconds; after a jump back, the repeated seconds are omitted
// if they run only once. No instant comes twice and none is out of order, because every search is one for instants.
type clock struct {
	set    *localtime.Set
	zone   *tz.Zone
	gap    Gap
	once   bool      // of two equal times, only the first counts
	except []Span    // in order, none overlaps another; seconds before the delay
	second int64     // the delay: whole seconds
	nano   int64     // and the rest
	start  time.Time // zero: none
	end    time.Time
}

// changeWork is the work to find the interval of a zone of an instant.
const changeWork = 3

// next returns the first instant strictly after t.
func (c *clock) next(m *work.Meter, after time.Time) (time.Time, bool) {
	if after.Before(c.start) {
		after = c.start.Add(-1)
	}
	u, ok := c.from(m, max(c.floor(after), calendar.FirstSecond-1)+1)
	for ok && len(c.except) > 0 {
		out := c.excluded(u)
		if len(out) == 0 || u < out[0].From {
			break
		}
		u, ok = c.from(m, out[0].To+1)
	}
	if !ok {
		return time.Time{}, false
	}
	t := c.instant(u)
	return t, !t.After(c.end)
}

// last returns the last instant that is not after notAfter.
func (c *clock) last(m *work.Meter, notAfter time.Time) (time.Time, bool) {
	if notAfter.After(c.end) {
		notAfter = c.end
	}
	u, ok := c.to(m, min(c.floor(notAfter), calendar.LastSecond))
	for ok && len(c.except) > 0 {
		out := c.excluded(u)
		if len(out) == 0 || u < out[0].From {
			break
		}
		u, ok = c.to(m, out[0].From-1)
	}
	if !ok {
		return time.Time{}, false
	}
	t := c.instant(u)
	return t, !t.Before(c.start)
}

// count returns how many instants lie in from…to.
func (c *clock) count(m *work.Meter, from, to time.Time) int {
	if from.Before(c.start) {
		from = c.start
	}
	if to.After(c.end) {
		to = c.end
	}
	a := max(c.floor(from.Add(-1))+1, calendar.FirstSecond)
	b := min(c.floor(to), calendar.LastSecond)
	n := c.countSeconds(m, a, b)
	for _, span := range c.excluded(a) {
		if span.From > b {
			break
		}
		n -= c.countSeconds(m, max(a, span.From), min(b, span.To))
	}
	return int(n)
}

// floor returns the last second whose delayed instant is not after t.
func (c *clock) floor(t time.Time) int64 {
	u := t.Unix() - c.second
	if int64(t.Nanosecond()) < c.nano {
		u--
	}
	return u
}

// instant returns the delayed instant of a second.
func (c *clock) instant(u int64) time.Time { return time.Unix(u+c.second, c.nano).UTC() }

// excluded returns the spans that end at a second or later.
func (c *clock) excluded(u int64) []Span {
	i, _ := slices.BinarySearchFunc(c.except, u, func(s Span, u int64) int { return cmp.Compare(s.To, u) })
	return c.except[i:]
}

// from returns the first instant not before u.
func (c *clock) from(m *work.Meter, u int64) (int64, bool) {
	if offset, fixed := c.zone.Fixed(); fixed {
		w, ok := c.set.Next(m, u+offset)
		return w - offset, ok && w-offset <= calendar.LastSecond && m.Spend(changeWork)
	}
	for u <= calendar.LastSecond && m.Spend(changeWork) {
		st := c.zone.At(u)
		if t, ok := c.nextDuring(m, st, u); ok {
			return t, t <= calendar.LastSecond
		}
		if st.End == calendar.Forever {
			break
		}
		// All later instants show a local time of the set after the end of this interval, within the margin.
		w, ok := c.set.Next(m, st.End-tz.Margin)
		if !ok {
			break
		}
		u = max(st.End, w-tz.Margin)
	}
	return 0, false
}

// nextDuring returns the first instant in an interval not before u, which is in it.
func (c *clock) nextDuring(m *work.Meter, st tz.Interval, u int64) (int64, bool) {
	t, ok := c.set.Next(m, max(u, c.counted(st))+st.Offset)
	t, ok = t-st.Offset, ok && t-st.Offset < st.End
	if jumped := st.Offset - st.Before; jumped > 0 && u < st.Start+jumped {
		if moved, found := c.moved(m, st, u); found && (!ok || moved < t) {
			return moved, true
		}
	}
	return t, ok
}

// counted returns the instant of an interval from which its local times count: after those that were shown before, if
// the first time counts.
func (c *clock) counted(st tz.Interval) int64 {
	if c.once && st.Before > st.Offset {
		return st.Start + st.Before - st.Offset
	}
	return max(st.Start, -1<<60)
}

// moved returns the first instant not before u of the times that were jumped over at the start of an interval.
func (c *clock) moved(m *work.Meter, st tz.Interval, u int64) (int64, bool) {
	switch c.gap {
	case GapShift:
		w, ok := c.set.Next(m, max(u, st.Start)+st.Before)
		return w - st.Before, ok && w < st.Start+st.Offset && w-st.Before < st.End
	case GapNext:
		w, ok := c.set.Next(m, st.Start+st.Before)
		return st.Start, ok && w < st.Start+st.Offset && u <= st.Start
	default:
		return 0, false
	}
}

// to returns the last instant not after u.
func (c *clock) to(m *work.Meter, u int64) (int64, bool) {
	for u >= calendar.FirstSecond && m.Spend(changeWork) {
		st := c.zone.At(u)
		if t, ok := c.lastDuring(m, st, u); ok {
			return t, t >= calendar.FirstSecond
		}
		if st.Start == math.MinInt64 {
			break
		}
		w, ok := c.set.Last(m, st.Start+tz.Margin)
		if !ok {
			break
		}
		u = min(st.Start-1, w+tz.Margin)
	}
	return 0, false
}

// lastDuring returns the last instant in an interval not after u, which is in it.
func (c *clock) lastDuring(m *work.Meter, st tz.Interval, u int64) (int64, bool) {
	t, ok := c.set.Last(m, min(u+st.Offset, calendar.LastSecond))
	t, ok = t-st.Offset, ok && t-st.Offset >= c.counted(st)
	if jumped := st.Offset - st.Before; jumped > 0 && (!ok || t < st.Start+jumped) {
		if moved, found := c.movedLast(m, st, u); found && (!ok || moved > t) {
			return moved, true
		}
	}
	return t, ok
}

// movedLast returns the last instant not after u of the times that were jumped over at the start of an interval.
func (c *clock) movedLast(m *work.Meter, st tz.Interval, u int64) (int64, bool) {
	switch c.gap {
	case GapShift:
		w, ok := c.set.Last(m, min(u+st.Before, st.Start+st.Offset-1))
		return w - st.Before, ok && w >= st.Start+st.Before
	case GapNext:
		w, ok := c.set.Next(m, st.Start+st.Before)
		return st.Start, ok && w < st.Start+st.Offset
	default:
		return 0, false
	}
}

// countSeconds returns how many seconds in a…b are instants before the delay.
func (c *clock) countSeconds(m *work.Meter, a, b int64) int64 {
	n := int64(0)
	for a <= b && m.Spend(changeWork) {
		st := c.zone.At(a)
		if low, high := max(a, c.counted(st)), min(b, st.End-1); low <= high {
			n += c.set.Count(m, low+st.Offset, min(high+st.Offset, calendar.LastSecond))
		}
		if jumped := st.Offset - st.Before; jumped > 0 && a < st.Start+jumped && c.gap != GapSkip {
			n += c.movedAlone(m, st, a, min(b, st.Start+jumped-1))
		}
		if st.End > b {
			break
		}
		w, ok := c.set.Next(m, st.End-tz.Margin)
		if !ok {
			break
		}
		a = max(st.End, w-tz.Margin)
	}
	return n
}

// movedAlone counts the instants in a…b of times that the clock skipped at the start of an interval, without instants
// that exist anyway.
func (c *clock) movedAlone(m *work.Meter, st tz.Interval, a, b int64) int64 {
	n := int64(0)
	for t, ok := c.moved(m, st, a); ok && t <= b; t, ok = c.moved(m, st, t+1) {
		if w, ok := c.set.Next(m, t+st.Offset); !ok || w != t+st.Offset {
			n++
		}
		if c.gap == GapNext {
			break
		}
	}
	return n
}
