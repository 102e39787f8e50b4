package localtime

import (
	"math/bits"
	"slices"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/work"
)

// part is the times of its plus layers that are in no minus layer, between two seconds.
type part struct {
	plus, minus  []Layer
	apart        bool // no two plus layers have a time in common
	first, final int64
}

// mostLayers limits the layers of a kind that a walk remembers, as bits, and the layers that a subtraction adds.
const mostLayers = 64

// newPart returns the seconds in first…final of the plus layers that are in none of the minus layers.
func newPart(m *work.Meter, plus, minus []Layer, first, final int64) part {
	plus, minus = subtract(m, Merge(m, plus), Merge(m, minus))
	return part{plus, minus, allApart(m, plus), first, final}
}

// allApart reports whether no two layers have a time in common.
func allApart(m *work.Meter, layers []Layer) bool {
	for i := range layers {
		for j := range layers[:i] {
			if !layers[i].apart(&layers[j]) {
				m.Spend(calendar.JoinWork)
				if !layers[i].Dates.Days.And(layers[j].Dates.Days).Empty() {
					return false
				}
			}
		}
		m.Spend(1 + int64(i)/8)
	}
	return true
}

// at returns the second of the part that is nearest to w: the first not before it with a sign of 1, the last not after
// it with -1.
func (p *part) at(m *work.Meter, w, sign int64) (found int64, ok bool) {
	if sign > 0 {
		w = max(w, p.first)
	} else {
		w = min(w, p.final)
	}
	if len(p.minus) > 0 {
		return p.left(m, w, sign)
	}
	for i := range p.plus {
		if at, some := p.plus[i].at(m, w, sign); some && (!ok || sign*at < sign*found) {
			if found, ok = at, true; at == w {
				break
			}
		}
	}
	return found, ok && found >= p.first && found <= p.final
}

// left is [part.at] for a part with minus layers.
func (p *part) left(m *work.Meter, w, sign int64) (int64, bool) {
	for {
		found, ok, exhausted := p.search(m, w, sign)
		if !exhausted {
			return found, ok
		}
		if m == nil || m.Exhausted() {
			return 0, m.GiveUp()
		}
		w = found
	}
}

// budget is the maximum number of minutes that a search visits before it reports that it is exhausted.
func (p *part) budget() int { return 200_000 / (len(p.plus) + len(p.minus)) }

// search is [part.at] for at most patience minutes. Beyond them, exhausted is true, and found is the position reached.
func (p *part) search(m *work.Meter, w, sign int64) (found int64, ok, exhausted bool) {
	var s walk
	s.begin(p, m, w, sign)
	for range p.budget() {
		if !s.step() {
			return 0, false, m.Exhausted()
		}
		switch {
		case s.left == 0:
		case sign > 0:
			return s.minute + int64(bits.TrailingZeros64(s.left)), true, false
		default:
			return s.minute + int64(bits.Len64(s.left)) - 1, true, false
		}
	}
	return s.w, false, true
}

// count returns the number of the part's seconds in a…b.
func (p *part) count(m *work.Meter, a, b int64) int64 {
	if a, b = max(a, p.first), min(b, p.final); a > b {
		return 0
	}
	n := int64(0)
	if p.apart && len(p.minus) == 0 {
		for i := range p.plus {
			n += p.plus[i].count(m, a, b)
		}
		return n
	}
	var s walk
	s.begin(p, m, a, 1)
	for s.low, s.high = a, b; s.step(); {
		n += s.size
	}
	return n
}

// countable reports whether the part is counted by arithmetic, or day by day at most.
func (p *part) countable() bool {
	strides := 0
	for _, l := range slices.Concat(p.plus, p.minus) {
		if l.stride != nil {
			strides++
		}
	}
	return strides == 0 || len(p.plus) == 1 && len(p.minus) == 0
}

// walk visits the minutes in which plus layers have times, forward or backward. The day determines the active layers.
// A minute is a mask of seconds: the seconds of the plus layers without the seconds of the minus layers. The walk passes
// a whole day if its active layers have no strides and an earlier day with the same layers was counted.
//
//	                ┌──────── no time left, or counted ────────┐
//	                ▼                                          │
//	nearest time of a plus layer ──▶ layers of its day ──▶ mask of its minute ──▶ found
//	                ▲                        │
//	                └────── size known ──────┘
type walk struct {
	*part

	meter  *work.Meter
	sign   int64             // 1 forward, -1 backward
	low    int64             // the first second to look at, and
	high   int64             // the last
	w      int64             // the next second to look at
	ahead  [mostLayers]int64 // where each plus layer was found, times the sign
	minute int64             // the minute of the last step
	left   uint64            // the seconds of that minute, from where the walk entered it
	size   int64             // number of these seconds, or of the times of a whole day

	date    calendar.Date
	begun   int64  // the first second of the day, Forever before the first day
	day     layers // of the day
	whole   bool   // the walk enters the day at its edge, and its layers decide its size
	total   int64  // number of times found on the day
	known   [8]known
	entries int
}

// layers are the active layers of a day among the first mostLayers, as bits.
type layers struct{ plus, minus uint64 }

// known is the number of times of the days with some active layers.
type known struct {
	layers

	size int64
}

// beyond is a second that no search reaches, and from which differences can be taken.
const beyond = 1 << 60

func (s *walk) begin(p *part, m *work.Meter, w, sign int64) {
	s.part, s.meter, s.w, s.sign, s.begun = p, m, w, sign, calendar.Forever
	s.low, s.high = max(p.first, -beyond), min(p.final, beyond)
	for i := range min(len(p.plus), mostLayers) {
		s.ahead[i] = -calendar.Forever
	}
}

// step passes the nearest minute with a plus time or, if its size is known, the day of that minute. It returns false at
// the end of the part, and without work to spend.
func (s *walk) step() bool {
	w, ok := s.nearest()
	if !ok || w < s.low || w > s.high || !s.meter.Spend(1+int64(len(s.plus)+len(s.minus))/8) {
		return false
	}
	if w < s.begun || w >= s.begun+calendar.DayLength {
		s.enter(w)
		if s.whole {
			for _, k := range s.known[:min(s.entries, len(s.known))] {
				if k.layers == s.day {
					s.left, s.size = 0, k.size
					s.w, s.whole = s.edge(calendar.DayLength), false
					return true
				}
			}
		}
	}
	second := w - s.begun
	hour, minute := int(second/3600), int(second/60%60)
	s.minute = w - second%60
	s.left = s.secondsOf(s.plus, s.day.plus, hour, minute) &^ s.secondsOf(s.minus, s.day.minus, hour, minute)
	from := w - s.minute
	if s.sign > 0 {
		s.left, s.w = s.left>>from<<from, s.minute+60
	} else {
		s.left, s.w = s.left&(1<<from<<1-1), s.minute-1
	}
	if end := s.high - s.minute; end < 59 {
		s.left &= 1<<end<<1 - 1
	}
	if begin := s.low - s.minute; begin > 0 {
		s.left = s.left >> begin << begin
	}
	s.size = int64(bits.OnesCount64(s.left))
	s.total += s.size
	return true
}

// nearest returns the nearest time of a plus layer.
func (s *walk) nearest() (w int64, ok bool) {
	best := int64(calendar.Forever)
	for i := range s.plus {
		if i < mostLayers && s.ahead[i] >= s.sign*s.w {
			best = min(best, s.ahead[i])
			continue
		}
		key := int64(calendar.Forever)
		if found, ok := s.plus[i].at(s.meter, s.w, s.sign); ok {
			key = s.sign * found
		}
		if i < mostLayers {
			s.ahead[i] = key
		}
		if best = min(best, key); best == s.sign*s.w {
			break
		}
	}
	return s.sign * best, best != calendar.Forever
}

// edge returns the second at which the walk enters the day, or a second at a given distance from it.
func (s *walk) edge(on int64) int64 {
	if s.sign > 0 {
		return s.begun + on
	}
	return s.begun + calendar.DayLength - 1 - on
}

// enter begins the day of a second. The size of the day before is known from now on.
func (s *walk) enter(w int64) {
	if s.whole {
		s.known[s.entries%len(s.known)] = known{s.day, s.total}
		s.entries++
	}
	day, second := calendar.Divide(w, calendar.DayLength)
	s.date, s.begun, s.day, s.total = calendar.DateOf(day), w-second, layers{}, 0
	s.meter.Spend(int64(len(s.plus) + len(s.minus)))
	plain := true
	lie := func(list []Layer) (set uint64) {
		for i := range list[:min(len(list), mostLayers)] {
			if l := &list[i]; l.Dates.HasDate(s.date) {
				set |= 1 << i
				plain = plain && l.stride == nil
			}
		}
		return set
	}
	s.day.plus, s.day.minus = lie(s.plus), lie(s.minus)
	few := len(s.plus) <= mostLayers && len(s.minus) <= mostLayers
	s.whole = few && plain && s.sign*s.w <= s.sign*s.edge(0) &&
		s.begun >= s.low && s.begun+calendar.DayLength-1 <= s.high
}

// secondsOf returns the seconds of a minute of the day that some layers have.
func (s *walk) secondsOf(list []Layer, lie uint64, hour, minute int) (set uint64) {
	for i := range list {
		l := &list[i]
		if i < mostLayers && lie>>i&1 == 1 || i >= mostLayers && l.Dates.HasDate(s.date) {
			set |= l.secondsOf(s.minute, hour, minute)
		}
	}
	return set
}
