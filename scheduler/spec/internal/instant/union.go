package instant

import (
	"cmp"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/work"
)

// union is the instants of several schedules, equal ones once.
type union []Schedule

// UnionOf returns the union of schedules.
func UnionOf(schedules ...Schedule) Schedule {
	if len(schedules) == 1 {
		return schedules[0]
	}
	return union(schedules)
}

// Next implements [Schedule].
func (u union) Next(after time.Time) (best time.Time, some bool) { return u.nextIn(nil, after) }

func (u union) nextIn(m *work.Meter, after time.Time) (best time.Time, some bool) {
	for _, s := range u {
		if t, ok := Next(m, s, after); ok && (!some || t.Before(best)) {
			best, some = t, true
		}
	}
	return best, some
}

// Last implements [Schedule].
func (u union) Last(notAfter time.Time) (best time.Time, some bool) { return u.lastIn(nil, notAfter) }

func (u union) lastIn(m *work.Meter, notAfter time.Time) (best time.Time, some bool) {
	for _, s := range u {
		if t, ok := Last(m, s, notAfter); ok && (!some || t.After(best)) {
			best, some = t, true
		}
	}
	return best, some
}

// Count implements [Schedule]. It counts one schedule and walks what the others add to it.
func (u union) Count(from, to time.Time) int { return u.countIn(nil, from, to) }

func (u union) countIn(m *work.Meter, from, to time.Time) int {
	n := 0
	for i, s := range u {
		n += Count(m, s, from, to)
		if i == 0 {
			continue
		}
		earlier := u[:i]
		for t, ok := Next(m, s, from.Add(-1)); ok && !t.After(to); t, ok = Next(m, s, t) {
			if found, ok := earlier.lastIn(m, t); ok && found.Equal(t) {
				n--
			}
		}
	}
	return n
}

func (u union) notes(m *work.Meter, from, to int64) []note {
	var list []note
	for _, s := range u {
		list = append(list, notesOf(m, s, from, to)...)
	}
	slices.SortStableFunc(list, func(a, b note) int { return cmp.Compare(a.at, b.at) })
	list = slices.CompactFunc(list, func(a, b note) bool { return a == b })
	return list[:min(len(list), mostNotes)]
}

// NextGap puts together what several schedules leave out at one change: what they have in common counts once.
func (u union) nextGap(m *work.Meter, from, to int64) (best gap, some bool) {
	var all []gap
	for _, s := range u {
		g, ok := gapsOf(s).nextGap(m, from, to)
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
		best = best.with(m, g)
	}
	return best, true
}
