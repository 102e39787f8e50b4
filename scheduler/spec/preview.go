package spec

import (
	"fmt"
	"math"
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/work"
)

// Preview shows the coming runs of a plan.
type Preview struct {
	Times       []time.Time    // in UTC, ascending
	Zone        *time.Location // of the clock that people look at: the rule's own or the job's
	Complete    bool           // nothing comes after the last of Times
	Description string         // in plain English
	Notes       []string       // surprising facts, such as the effects of clock changes
}

// Preview returns the next n runs strictly after an instant, or the first n if after is zero. The recurrence's count is
// applied as if every run took place. If the budget is exhausted, there are fewer than n runs; a note says so, and the
// preview is not complete.
func (p *Plan) Preview(after time.Time, n int) Preview {
	v := Preview{Zone: p.Zone(), Description: p.Describe()}
	from, t, ok := p.created, p.first, p.runs
	left, exact := math.MaxInt, true
	if most := p.MaxRuns(); most > 0 {
		left = most
	}
	m := work.New(listWork)
	if !after.IsZero() {
		from = after
		var spent int
		spent, exact = p.spent(m, after)
		left -= spent
		m.Reset(listWork)
		t, ok = p.next(m, after)
	}
	for ok && !m.Exhausted() && len(v.Times) < min(n, left) {
		v.Times = append(v.Times, t)
		t, ok = p.next(m, t)
	}
	v.Complete = !ok && !m.Exhausted() || len(v.Times) >= left
	v.Notes = p.notes(from, v.Times)
	if !exact {
		v.Notes = append(v.Notes,
			fmt.Sprintf("of the count of %d, only some of the runs before the list are taken off, as there are many", p.MaxRuns()))
	}
	if m.Exhausted() && !v.Complete {
		v.Notes = append(v.Notes, "the list is cut short: it would take too much work to find more runs of this rule")
	}
	return v
}

// PreviewPaused is [Plan.Preview] of a job that is paused until an instant; zero or past: no pause. Skipped runs do
// not reduce the count, so that more runs may follow than the preview shows.
func (p *Plan) PreviewPaused(until, after time.Time, n int) Preview {
	if !until.After(p.created) || !until.After(after) {
		return p.Preview(after, n)
	}
	note := "paused until " + until.UTC().Format(time.RFC3339Nano)
	if p.timing.Recurrence == nil {
		v := p.Preview(after, n)
		if len(v.Times) > 0 && v.Times[0].Before(until) {
			v.Times[0] = until.UTC()
			v.Notes = append(v.Notes, note+": it runs then")
		}
		return v
	}
	v := p.Preview(until.Add(-1), n)
	v.Notes = append(v.Notes, note+": runs due before that are skipped")
	if p.MaxRuns() > 0 {
		v.Notes = append(v.Notes, "skipped runs use up nothing of the count: there may be more runs than this list has")
	}
	return v
}

// walkable limits the runs that are counted one by one.
const walkable = 20_000

// spent returns how much of the recurrence's count is used up by the runs not after an instant, and whether that is all.
func (p *Plan) spent(m *work.Meter, until time.Time) (n int, exact bool) {
	most := p.MaxRuns()
	if most == 0 || !p.runs || until.Before(p.first) {
		return 0, true
	}
	if p.countable(until) {
		if n = p.count(m, p.first, until); !m.Exhausted() {
			return n, true
		}
		m.Reset(listWork)
	}
	n = 0
	for t, ok := p.first, true; ok && !t.After(until) && n < most; t, ok = p.next(m, t) {
		if n == walkable || m.Exhausted() {
			return n, false
		}
		n++
	}
	return n, !m.Exhausted()
}

// countable reports whether the runs until an instant can be counted without walking, in negligible time.
func (p *Plan) countable(until time.Time) bool {
	const most = calendar.DaysPer400Years * calendar.DayLength
	return until.Unix()-p.first.Unix() < most && p.schedule.Countable()
}

// notes returns the notes on the runs after an instant.
func (p *Plan) notes(from time.Time, times []time.Time) []string {
	notes := []string{}
	for _, w := range p.Warnings() {
		notes = append(notes, w.Message)
	}
	return append(notes, p.ClockNotes(from, times)...)
}

// local is a rule with its own zone.
type local interface {
	// Location returns the rule's zone, nil if it has none or several.
	Location() *time.Location
}

// Zone returns the zone of the clock that people look at: that of the rule or, if the rule names none or several, that
// of the job.
func (p *Plan) Zone() *time.Location {
	if rule, ok := p.recurrence.Rule.(local); ok {
		if zone := rule.Location(); zone != nil {
			return zone
		}
	}
	return p.timing.zone()
}
