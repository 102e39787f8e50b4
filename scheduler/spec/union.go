package spec

import "time"

// union is the instants of several schedules, equal ones once.
type union []Schedule

// unionOf returns the union of schedules.
func unionOf(schedules ...Schedule) Schedule {
	if len(schedules) == 1 {
		return schedules[0]
	}
	return union(schedules)
}

// Next implements [Schedule].
func (u union) Next(after time.Time) (best time.Time, some bool) {
	for _, s := range u {
		if t, ok := s.Next(after); ok && (!some || t.Before(best)) {
			best, some = t, true
		}
	}
	return best, some
}

// Last implements [Schedule].
func (u union) Last(notAfter time.Time) (best time.Time, some bool) {
	for _, s := range u {
		if t, ok := s.Last(notAfter); ok && (!some || t.After(best)) {
			best, some = t, true
		}
	}
	return best, some
}

// Count implements [Schedule]. It counts one schedule and walks what the others add to it.
func (u union) Count(from, to time.Time) int {
	n := 0
	for i, s := range u {
		n += s.Count(from, to)
		if i == 0 {
			continue
		}
		earlier := u[:i]
		for t, ok := s.Next(from.Add(-1)); ok && !t.After(to); t, ok = s.Next(t) {
			if found, ok := earlier.Last(t); ok && found.Equal(t) {
				n--
			}
		}
	}
	return n
}

// window is the part of a schedule in start…end, both included.
type window struct {
	schedule   Schedule
	start, end time.Time
}

// clip returns the part of a schedule in start…end, both included. A zero start or end is none.
func clip(s Schedule, start, end time.Time) Schedule {
	if start.IsZero() && end.IsZero() {
		return s
	}
	if end.IsZero() {
		end = endOfTime
	}
	return &window{s, start, end}
}

// Next implements [Schedule].
func (w *window) Next(after time.Time) (time.Time, bool) {
	if after.Before(w.start) {
		after = w.start.Add(-1)
	}
	t, ok := w.schedule.Next(after)
	return t, ok && !t.After(w.end)
}

// Last implements [Schedule].
func (w *window) Last(notAfter time.Time) (time.Time, bool) {
	if notAfter.After(w.end) {
		notAfter = w.end
	}
	t, ok := w.schedule.Last(notAfter)
	return t, ok && !t.Before(w.start)
}

// Count implements [Schedule].
func (w *window) Count(from, to time.Time) int {
	if from.Before(w.start) {
		from = w.start
	}
	if to.After(w.end) {
		to = w.end
	}
	if from.After(to) {
		return 0
	}
	return w.schedule.Count(from, to)
}
