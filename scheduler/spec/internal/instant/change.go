package instant

import (
	"fmt"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/english"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/localtime"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/tz"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/work"
)

// note is a remark about a change of a clock.
type note struct {
	at   int64 // the change, in seconds since the epoch
	text string
}

// mostNotes limits the notes of a schedule.
const mostNotes = 20

// remark describes the effect of the change at the start of an interval on the times from first to last.
func (c *clock) remark(st tz.Interval, first, last int64) string {
	times, words := localText(first, 0), verbs{"occurs", "does", "runs"}
	if last > first {
		times += " to " + localText(last, first)
		words = verbs{"occur", "do", "run"}
	}
	if st.Offset > st.Before {
		return fmt.Sprintf("%s %s not exist in %s: %s", times, words.do, c.zone.Name, c.instead(st, first, last > first))
	}
	often := "both times"
	if c.once {
		often = "the first time only"
	}
	return fmt.Sprintf("%s %s twice in %s: %s %s", times, words.occur, c.zone.Name, words.run, often)
}

// verbs are the verbs of a remark, in the singular or the plural.
type verbs struct{ occur, do, run string }

// instead describes the policy for times that are jumped over.
func (c *clock) instead(st tz.Interval, first int64, many bool) string {
	switch {
	case c.gap == GapNext && many:
		return "runs once for them, at " + localText(st.Start+st.Offset, first)
	case c.gap == GapNext:
		return "runs at " + localText(st.Start+st.Offset, first)
	case c.gap == GapShift && many:
		return "run " + (time.Duration(st.Offset-st.Before) * time.Second).String() + " later"
	case c.gap == GapShift:
		return "runs at " + localText(first+st.Offset-st.Before, first)
	case many:
		return "do not run"
	}
	return "does not run"
}

// localText writes a local time, without the date if another has the same.
func localText(w, other int64) string {
	day, second := calendar.Divide(w, calendar.DayLength)
	clock := english.Clock(int(second/3600), int(second/60%60), int(second%60))
	if same, _ := calendar.Divide(other, calendar.DayLength); other != 0 && same == day {
		return clock
	}
	return time.Unix(day*calendar.DayLength, 0).UTC().Format("2006-01-02 ") + clock
}

// notes returns remarks about the changes in from…to, in order, a few at most.
func (c *clock) notes(m *work.Meter, from, to int64) []note {
	if !c.start.IsZero() {
		from = max(from, c.start.Unix())
	}
	to = min(to, c.end.Unix())
	var list []note
	for st := c.zone.At(from); st.End <= to && len(list) < mostNotes; {
		if st = c.zone.At(st.End); !m.Spend(changeWork) {
			break
		}
		a, b := st.Changed()
		first, ok := c.set.Next(m, a)
		if !ok {
			break
		}
		if first <= b {
			last, _ := c.set.Last(m, b)
			list = append(list, note{st.Start, c.remark(st, first, last)})
		} else if first-tz.Margin > st.End { // nothing happens at the changes in between
			st = c.zone.At(first - tz.Margin)
		}
	}
	return list
}

// gap is a change of a clock that jumps over times of a set of local times.
type gap struct {
	clock       *clock
	sets        []*localtime.Set // of that zone
	interval    tz.Interval      // that begins with the change
	first, last int64            // local times: the first and the last of the sets that do not exist
	count       int
}

// at returns the instant of the change.
func (g gap) at() int64 { return g.interval.Start }

// with returns what two clocks leave out at one change. In different zones they have nothing in common.
func (g gap) with(m *work.Meter, other gap) gap {
	if g.clock.zone != other.clock.zone {
		g.count += other.count
		return g
	}
	set := other.clock.set
	for w, ok := set.Next(m, other.first); ok && w <= other.last; w, ok = set.Next(m, w+1) {
		if !slices.ContainsFunc(g.sets, func(s *localtime.Set) bool { found, ok := s.Next(m, w); return ok && found == w }) {
			g.count++
		}
	}
	g.sets, g.first, g.last = append(g.sets, set), min(g.first, other.first), max(g.last, other.last)
	return g
}

// nextGap returns the first change in from…to that takes times from the clock.
func (c *clock) nextGap(m *work.Meter, from, to int64) (gap, bool) {
	if c.gap != GapSkip {
		return gap{}, false
	}
	if !c.start.IsZero() { // the nonexistent times come before the change
		from = max(from, c.start.Unix()+1)
	}
	to = min(to, c.end.Unix())
	for st := c.zone.At(from - 1); st.End <= to; {
		if st = c.zone.At(st.End); !m.Spend(changeWork) {
			break
		}
		a, b := st.Changed()
		first, ok := c.set.Next(m, a)
		switch {
		case !ok:
			return gap{}, false
		case first > b && first-tz.Margin > st.End: // nothing happens at the changes in between
			st = c.zone.At(first - tz.Margin)
		case first <= b && st.Offset > st.Before:
			last, _ := c.set.Last(m, b)
			return gap{c, []*localtime.Set{c.set}, st, first, last, int(c.set.Count(m, first, last))}, true
		}
	}
	return gap{}, false
}

// DST is a rule's policy for the two clock changes of daylight saving time. The zero value selects the default of the
// rule's dialect:
//
//	Obsidian and dsari cron   next, first; a pattern with * in its minute or hour follows the clock: skip, both
//	@recur in days and more   shift, first
//	RFC 5545                  shift, first (section 3.3.5)
//	AWX, dsari's RRULE        skip, first
//
// Azure recurrences, which use UTC, and @recur in minutes and hours, which uses elapsed time, ignore it.
type DST struct {
	Gap     Gap
	Overlap Overlap
}

// NewDST returns the policy of those names; any other name leaves it open.
func NewDST(gap, overlap string) DST {
	return DST{Gap(max(slices.Index(gapNames, gap), 0)), Overlap(max(slices.Index(overlapNames, overlap), 0))}
}

// Gap is the policy for occurrences at local times that the clock skips.
type Gap uint8

// The ways with a gap.
const (
	GapDefault Gap = iota // as the dialect has it
	GapNext               // at the first instant after the gap, as Debian's cron does it: 02:30 runs at 03:00
	GapShift              // later by the length of the gap, as RFC 5545 says: 02:30 runs at 03:30
	GapSkip               // not at all
)

// gapNames holds the names of the gap policies by value.
var gapNames = []string{GapDefault: "", GapNext: "next", GapShift: "shift", GapSkip: "skip"}

// Overlap is the policy for occurrences at local times that occur twice.
type Overlap uint8

// The ways with an overlap.
const (
	OverlapDefault Overlap = iota // as the dialect has it
	OverlapFirst                  // the first time only
	OverlapBoth                   // both times
)

// overlapNames holds the names of the overlap policies by value.
var overlapNames = []string{OverlapDefault: "", OverlapFirst: "first", OverlapBoth: "both"}

// Or fills what d leaves open.
func (d DST) Or(gap Gap, overlap Overlap) DST {
	if d.Gap == GapDefault {
		d.Gap = gap
	}
	if d.Overlap == OverlapDefault {
		d.Overlap = overlap
	}
	return d
}

// Literal follows the clock: it omits skipped times and runs repeated times twice.
var Literal = DST{GapSkip, OverlapBoth}

// ReadDST reads the members gap and overlap.
func ReadDST(o *document.Object) DST {
	gap, _ := o.Enum("gap", gapNames[1:]...)
	overlap, _ := o.Enum("overlap", overlapNames[1:]...)
	return NewDST(gap, overlap)
}
