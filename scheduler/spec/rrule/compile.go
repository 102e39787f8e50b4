package rrule

import (
	"cmp"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/instant"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/language"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/localtime"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/tz"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/work"
)

// Compile implements [language.Rule]. The first instance is the first match from DTSTART on; a DTSTART that does not
// match is none (as in python-dateutil; RFC 5545 leaves it undefined). COUNT counts local times, those in a gap of the
// clock included. A set that excludes so much, in so irregular a way, that nothing is found among many thousand
// instances is refused.
func (r *Set) Compile(s language.Context) (*instant.Schedule, error) {
	if r.dialect == language.Dsari {
		r = r.hashed(s.Name)
	}
	c := setCompiler{Set: r, loc: r.zone, begin: int64(r.start), bounded: r.hasStart, work: s.Work}
	if c.loc == nil {
		c.loc = s.Location()
	}
	c.zone = tz.Of(c.loc)
	if !r.hasStart && r.dialect != language.Dsari && len(r.rules) > 0 {
		if s.Start.IsZero() {
			return nil, &language.SyntaxError{
				Message: "DTSTART is missing, and the job has no startTime to count from",
				Hint:    "begin with DTSTART, such as DTSTART;TZID=America/New_York:20300115T120000, or set startTime",
			}
		}
		u := s.Start.Unix()
		c.begin, c.bounded = u+c.zone.At(u).Offset, true
	}
	gap := instant.GapSkip
	if r.dialect == language.RFC5545 {
		gap = instant.GapShift
	}
	dst := s.DST.Or(gap, instant.OverlapFirst)
	schedule, err := c.schedule(dst)
	if err != nil {
		return nil, err
	}
	by := time.Duration(s.Start.Nanosecond())
	if r.hasStart || r.dialect == language.Dsari {
		by = 0
	}
	return c.withSingles(schedule, dst, by)
}

// Differs implements [language.Rule].
func (r *Set) Differs(a, b language.Context) bool {
	return r.dialect == language.Dsari && !r.hasStart && a.Name != b.Name
}

// setCompiler makes one set of local times of a rule set.
type setCompiler struct {
	*Set

	loc     *time.Location
	zone    *tz.Zone
	begin   int64 // DTSTART
	bounded bool  // nothing comes before begin
	work    *work.Meter
}

// schedule returns the instants of the set. An UNTIL is an instant. If a policy moves or repeats times past an UNTIL
// that not all rules share, each rule becomes a separate schedule.
func (c *setCompiler) schedule(dst instant.DST) (*instant.Schedule, error) {
	if dst.Gap != instant.GapShift && dst.Overlap == instant.OverlapFirst {
		return c.instants(c.rules, dst)
	}
	var schedules []*instant.Schedule
	for rest := c.rules; len(rest) > 0; {
		var same, others []rrule
		for _, rule := range rest {
			if rule.until == rest[0].until {
				same = append(same, rule)
			} else {
				others = append(others, rule)
			}
		}
		schedule, err := c.instants(same, dst)
		if err != nil {
			return nil, err
		}
		if until := rest[0].until; until.given && until.utc {
			schedule = schedule.Clip(time.Time{}, time.Unix(int64(until.at), 0).UTC())
		}
		schedules, rest = append(schedules, schedule), others
	}
	return instant.UnionOf(schedules...), nil
}

// instants returns the instants of some of the rules, without the excluded ones.
func (c *setCompiler) instants(rules []rrule, dst instant.DST) (*instant.Schedule, error) {
	set, err := c.set(rules)
	if err != nil {
		return nil, err
	}
	return instant.NewZoned(set, c.loc, dst), nil
}

// term is a rule with its layers and its bounds.
type term struct {
	rule         *rrule
	layers       []localtime.Layer
	first, final int64
}

// terms compiles rules.
func (c *setCompiler) terms(rules []rrule) ([]term, error) {
	list := make([]term, 0, len(rules))
	for i := range rules {
		t := term{&rules[i], c.layers(&rules[i]), -calendar.Forever, calendar.Forever}
		if c.work.Exhausted() {
			return nil, refused(rules[i].column)
		}
		if err := c.bound(&t); err != nil {
			return nil, err
		}
		if t.first <= t.final && len(t.layers) > 0 {
			list = append(list, t)
		}
	}
	return list, nil
}

// set returns the union of the rules without the excluded ones.
func (c *setCompiler) set(rules []rrule) (*localtime.Set, error) {
	plus, err := c.terms(rules)
	if err != nil {
		return nil, err
	}
	minus, err := c.terms(c.excluded)
	if err != nil {
		return nil, err
	}
	return c.segments(plus, minus)
}

// segments returns the union of terms without others. Between any two ends of rules, the same rules hold all the time.
func (c *setCompiler) segments(plus, minus []term) (*localtime.Set, error) {
	var ends []int64
	for _, t := range slices.Concat(plus, minus) {
		ends = append(ends, t.final)
	}
	slices.Sort(ends)
	ended := func(end int64) func(term) bool { return func(t term) bool { return t.final < end } }
	var eras []*localtime.Set
	first := int64(-calendar.Forever)
	if c.bounded {
		first = c.begin
	}
	for _, end := range slices.Compact(ends) {
		if plus = slices.DeleteFunc(plus, ended(end)); len(plus) == 0 {
			break
		}
		minus = slices.DeleteFunc(minus, ended(end))
		set, err := c.era(layersOf(plus), layersOf(minus), first, end)
		if err != nil {
			return nil, err
		}
		eras, first = append(eras, set), end+1
	}
	return localtime.Concat(eras...), nil
}

// layersOf returns the layers of terms, those with few first: they are subtracted first.
func layersOf(terms []term) (layers []localtime.Layer) {
	few := func(a, b term) int { return cmp.Compare(len(a.layers), len(b.layers)) }
	for _, t := range slices.SortedStableFunc(slices.Values(terms), few) {
		layers = append(layers, t.layers...)
	}
	return layers
}

// era returns the set of layers that hold all the time in begin…end. It is refused if nothing is found of it.
func (c *setCompiler) era(plus, minus []localtime.Layer, begin, end int64) (*localtime.Set, error) {
	set := localtime.New(c.work, plus, minus, begin, end)
	if len(minus) == 0 {
		return set, nil
	}
	begin = max(begin, calendar.FirstSecond)
	some, reached, exhausted := set.Begins(c.work, begin)
	switch turn := localtime.PeriodOf(slices.Concat(plus, minus)); {
	case c.work.Exhausted():
		return nil, refused(c.excluded[0].column)
	case some:
		return set, nil
	case exhausted && (turn == 0 || reached-begin <= turn):
		return nil, &language.SyntaxError{
			Column:  c.excluded[0].column,
			Field:   "EXRULE",
			Message: "nothing is left of the first many thousand instances",
			Hint:    "leave the excluded times out of the RRULE by its BY parts",
		}
	}
	return localtime.Concat(), nil
}

// tooCostly begins the problem of a rule whose instants take too much work to find.
const tooCostly = "too costly"

// refused returns the problem of a rule that takes too much work, with all that came before it.
func refused(column int) error {
	return &language.SyntaxError{
		Column:  column,
		Field:   "rule",
		Message: tooCostly + ": it takes too much work to find out when the rules up to here are due",
		Hint:    "write fewer rules, with fewer items in their lists and less seldom steps, or split them into several jobs",
	}
}

// bound finds out when a rule begins and ends.
func (c *setCompiler) bound(t *term) error {
	if c.bounded {
		t.first = c.begin
	}
	if t.rule.until.given {
		t.final = c.lastOf(t.rule.until)
	}
	if t.rule.count == 0 || len(t.layers) == 0 {
		return nil
	}
	last := localtime.Of(c.work, t.layers...).Nth(c.work, t.first, int64(t.rule.count))
	if c.work.Exhausted() {
		return &language.SyntaxError{
			Column:  t.rule.column,
			Field:   "part COUNT",
			Message: tooCostly + ": it takes too much work to find the last of so many instances",
			Hint:    "leave COUNT out, or end the rule with UNTIL",
		}
	}
	t.final = min(t.final, last)
	return nil
}

// lastOf returns the last local time that is not after an UNTIL: of a second that is shown twice, the first time
// counts.
func (c *setCompiler) lastOf(until rruleUntil) int64 {
	u := int64(until.at)
	if !until.utc {
		return u
	}
	st := c.zone.At(u)
	w := u + st.Offset
	if again := st.Before - st.Offset; again > 0 && u-st.Start < again {
		return st.Start + st.Before - 1
	}
	return w
}
