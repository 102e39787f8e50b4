package instant

import (
	"fmt"
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/english"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/tz"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/work"
)

// remark says what the change at the start of an interval does to the set, of which the times from first to b are
// changed.
func (s *zoned) remark(m *work.Meter, st tz.Interval, first, b int64) string {
	last, _ := s.set.Last(m, b)
	times, words := localText(first, 0), verbs{"occurs", "does", "runs"}
	if last > first {
		times += " to " + localText(last, first)
		words = verbs{"occur", "do", "run"}
	}
	if st.Offset > st.Before {
		return fmt.Sprintf("%s %s not exist in %s: %s", times, words.do, s.zone.Name, s.instead(st, first, last > first))
	}
	often := "both times"
	if s.first {
		often = "the first time only"
	}
	return fmt.Sprintf("%s %s twice in %s: %s %s", times, words.occur, s.zone.Name, words.run, often)
}

// verbs are what the sentence of a remark is made of, in one number.
type verbs struct{ occur, do, run string }

// instead says what becomes of times that are jumped over.
func (s *zoned) instead(st tz.Interval, first int64, many bool) string {
	switch {
	case s.gap == GapNext && many:
		return "runs once for them, at " + localText(st.Start+st.Offset, first)
	case s.gap == GapNext:
		return "runs at " + localText(st.Start+st.Offset, first)
	case s.gap == GapShift && many:
		return "run " + (time.Duration(st.Offset-st.Before) * time.Second).String() + " later"
	case s.gap == GapShift:
		return "runs at " + localText(first+st.Offset-st.Before, first)
	case many:
		return "do not run"
	}
	return "does not run"
}

// localText writes a local time, without the date if it is that of another.
func localText(w, other int64) string {
	day, second := calendar.Divide(w, calendar.DayLength)
	clock := english.Clock(int(second/3600), int(second/60%60), int(second%60))
	if same, _ := calendar.Divide(other, calendar.DayLength); other != 0 && same == day {
		return clock
	}
	return time.Unix(day*calendar.DayLength, 0).UTC().Format("2006-01-02 ") + clock
}

func (s *zoned) notes(m *work.Meter, from, to int64) []note {
	var list []note
	for st := s.zone.At(from); st.End <= to && len(list) < mostNotes; {
		if st = s.zone.At(st.End); !m.Spend(changeWork) {
			break
		}
		a, b := st.Changed()
		first, ok := s.set.Next(m, a)
		if !ok {
			break
		}
		if first <= b {
			list = append(list, note{st.Start, s.remark(m, st, first, b)})
		} else if first-tz.Margin > st.End { // nothing happens at the changes in between
			st = s.zone.At(first - tz.Margin)
		}
	}
	return list
}

func (s *zoned) nextGap(m *work.Meter, from, to int64) (gap, bool) {
	if s.gap != GapSkip {
		return gap{}, false
	}
	for st := s.zone.At(from - 1); st.End <= to; {
		if st = s.zone.At(st.End); !m.Spend(changeWork) {
			break
		}
		a, b := st.Changed()
		first, ok := s.set.Next(m, a)
		switch {
		case !ok:
			return gap{}, false
		case first > b && first-tz.Margin > st.End: // nothing happens at the changes in between
			st = s.zone.At(first - tz.Margin)
		case first <= b && st.Offset > st.Before:
			return gap{s, st, first, b, int(s.set.Count(m, first, b))}, true
		}
	}
	return gap{}, false
}
