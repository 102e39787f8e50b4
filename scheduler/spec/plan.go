package spec

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/english"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/instant"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/work"
	"github.com/carillon-sched/carillon/scheduler/spec/rrule"
)

// Plan computes the runs of a job from its creation. It applies the table "Details: startTime" of the Azure page:
//
//	startTime     a single run     a recurrence
//	none          immediately      immediately, then the occurrences counted from the creation
//	past          immediately      the occurrences counted from startTime, those before the creation discarded
//	now, future   at startTime     the occurrences counted from startTime
//
// "Immediately" is the creation time itself; that run counts towards the recurrence's count. No run is after the
// recurrence's end, not even an immediate one. A cron or iCalendar rule has no immediate run, only its occurrences
// after the creation and startTime. @recur fires when its schedule starts. A Plan is immutable and safe for concurrent
// use.
type Plan struct {
	timing     Timing
	created    time.Time
	recurrence *Recurrence // of the timing; zero for a job that runs once
	rule       *Schedule   // of the recurrence's rule alone, nil if it has none
	schedule   *Schedule   // nil for a job that runs once
	first      time.Time
	runs       bool // false: never
	extra      bool // first is not in the schedule
	gap        time.Duration
	work       int64 // that it took to compile the rule and to find the first run
	search     int64 // what of that was the search
}

// NewPlan returns the plan of a job. A zero created means that the start is never in the past. The error is a
// [document.Problems], with paths relative to the job's properties.
//
// Only NewPlan compiles the text of a rule. A plan can be reused for other jobs ([Plan.For]), and provides the
// description ([Plan.Describe]) and the smallest gap ([Plan.SmallestGap]).
func NewPlan(t Timing, created time.Time) (*Plan, error) { return newPlan(t, created, nil) }

// For returns the plan of a job with the timing of p and its own name, seed of random positions and creation time, as
// in [Timing] and [NewPlan]. It compiles the text of a rule again only if the rule depends on them, like dsari's hashes
// and an @recur without a start. The error is NewPlan's, nil if nothing is compiled.
func (p *Plan) For(name, seed string, created time.Time) (*Plan, error) {
	t := p.timing
	t.Name, t.Seed = name, seed
	return newPlan(t, created, p)
}

// newPlan returns a plan. It takes the rule's instants from another plan of the same timing, if they are the same.
func newPlan(t Timing, created time.Time, other *Plan) (*Plan, error) {
	t.Start, created = t.Start.Round(0).UTC(), created.Round(0).UTC() // no monotonic clock
	p := &Plan{timing: t, created: created, recurrence: cmp.Or(t.Recurrence, &once)}
	if t.Recurrence == nil {
		p.first, p.gap = instant.Later(t.Start, created), Forever
		p.runs = !p.first.After(calendar.EndOfTime)
		return p, nil
	}
	if err := p.compile(other); err != nil {
		return nil, err
	}
	p.gap = Forever
	if p.runs {
		s := gapSearch{schedule: p.schedule, smallest: Forever, left: few, meter: work.New(spreadWork)}
		s.walk(p.first, calendar.EndOfTime)
		p.gap = s.smallest
	}
	return p, nil
}

// once is the recurrence of a job that runs once.
var once Recurrence

// Work returns the cost of compiling the rule as a fraction of the limit: 0 for a rule that was not compiled, above 1
// for a stored rule that would be refused today. Cache the plans of expensive rules when you read many jobs.
func (p *Plan) Work() float64 { return float64(p.work) / compileWork }

// compile finds the schedule of a recurrence and its first instant.
func (p *Plan) compile(other *Plan) error {
	start, created, r := p.timing.Start, p.created, p.recurrence
	if r.Rule != nil {
		search, err := p.compileRule(other)
		if err != nil {
			return err
		}
		p.schedule = p.rule.Clip(start, r.End)
		p.first, p.runs = p.schedule.NextIn(search, instant.Later(start, created).Add(-1))
		if search.Exhausted() {
			return costly("recurrence." + memberOf(r.Rule))
		}
		p.work, p.search = p.work+search.Spent(), max(p.search, search.Spent())
		return nil
	}
	schedule, err := r.Compile(start, created)
	if err != nil {
		return below("recurrence", err)
	}
	p.schedule = schedule
	if start.IsZero() {
		p.first, p.runs = created, r.End.IsZero() || !created.After(r.End)
		p.extra = schedule.Count(created, created) == 0
	} else {
		p.first, p.runs = schedule.Next(instant.Later(start, created).Add(-1))
	}
	return nil
}

// compileRule compiles a rule and finds its instants. The caller continues the search for the first run with the
// returned meter.
func (p *Plan) compileRule(other *Plan) (search *work.Meter, err error) {
	rule, setting := p.recurrence.Rule, p.timing.context(p.created)
	if other != nil && !rule.Differs(other.timing.context(other.created), setting) {
		p.rule, p.search = other.rule, other.search
		return work.New(p.searchBudget()), nil
	}
	if err := p.recurrence.Validate(); err != nil {
		return nil, below("recurrence", err)
	}
	m := work.New(compileWork)
	if p.timing.stored {
		m.Reset(storedWork)
	}
	setting.Work = m
	compiled, err := rule.Compile(setting)
	if err != nil {
		return nil, problemsOf("recurrence."+memberOf(rule), err)
	}
	p.work = m.Spent()
	search = work.New(m.Left())
	if !p.timing.stored {
		search.Reset(min(m.Left(), firstWork))
	}
	p.rule = compiled.Begun(search)
	return search, nil
}

// First returns the first run, false if the job never runs.
func (p *Plan) First() (time.Time, bool) { return p.first, p.runs }

// Next returns the first run strictly after t, false if none exists. It honors the recurrence's end but not its count,
// which only the caller can track.
//
// NewPlan refuses a job whose first run is too expensive to find. Later runs may be more expensive: for a stored job,
// the search has half a second more. If it still exceeds its budget, Next returns false, and [GaveUp] distinguishes
// this from the end of the schedule.
func (p *Plan) Next(after time.Time) (time.Time, bool) {
	t, ok, done := p.seek(p.searchBudget(), after)
	if !done && p.timing.stored {
		t, ok, done = p.seek(laterWork, after)
	}
	switch {
	case !done:
		return givenUp, false
	case !ok:
		return time.Time{}, false
	}
	return t, true
}

// seek is next with a budget in units of work. done reports that the budget sufficed.
func (p *Plan) seek(units int64, after time.Time) (t time.Time, ok, done bool) {
	t, done = metered(units, func(m *work.Meter) (time.Time, bool) {
		t, found := p.next(m, after)
		ok = found
		return t, true
	})
	return t, ok, done
}

// givenUp is the time that an abandoned search returns.
var givenUp = time.Time{}.Add(1)

// GaveUp reports whether a search of [Plan.Next] or [Plan.Last] exceeded its budget, so that such a run may exist.
func GaveUp(t time.Time, ok bool) bool { return !ok && t.Equal(givenUp) }

func (p *Plan) next(m *work.Meter, after time.Time) (time.Time, bool) {
	switch {
	case !p.runs:
		return time.Time{}, false
	case after.Before(p.first):
		return p.first, true
	case p.schedule == nil:
		return time.Time{}, false
	}
	return p.schedule.NextIn(m, after)
}

// Last returns the last run not after t. It returns false without such a run, or if the budget is exhausted ([GaveUp]).
func (p *Plan) Last(notAfter time.Time) (time.Time, bool) {
	if !p.runs || notAfter.Before(p.first) {
		return time.Time{}, false
	}
	if p.schedule != nil {
		last, done := metered(p.searchBudget(), func(m *work.Meter) (time.Time, bool) {
			last, _ := p.schedule.LastIn(m, notAfter)
			return last, true
		})
		switch {
		case !done:
			return givenUp, false
		case last.After(p.first):
			return last, true
		}
	}
	return p.first, true
}

// Count returns the number of runs in from…to, both inclusive. For most schedules, the cost does not depend on the
// length of the period; unions in several zones, and exclusions by odd steps, are enumerated. If the budget is
// exhausted, the result is a lower bound.
func (p *Plan) Count(from, to time.Time) int {
	n, _ := p.Counted(from, to)
	return n
}

// Counted is [Plan.Count], and also reports whether the result is exact.
func (p *Plan) Counted(from, to time.Time) (n int, all bool) {
	n, ok := metered(p.searchBudget(), func(m *work.Meter) (int, bool) { return p.count(m, from, to), true })
	if ok {
		return n, true
	}
	n = 0
	_, all = metered(listWork, func(m *work.Meter) (int, bool) {
		for t, ok := p.next(m, from.Add(-1)); ok && !t.After(to) && !m.Exhausted(); t, ok = p.next(m, t) {
			n++
		}
		return n, true
	})
	return n, all
}

func (p *Plan) count(m *work.Meter, from, to time.Time) int {
	if !p.runs || to.Before(p.first) || to.Before(from) {
		return 0
	}
	n := 0
	if (p.schedule == nil || p.extra) && !from.After(p.first) {
		n = 1
	}
	if p.schedule != nil {
		n += p.schedule.CountIn(m, instant.Later(from, p.first), to)
	}
	return n
}

// base is a rule whose occurrences can be counted from the last execution: Obsidian's @recur.
type base interface {
	// AnchoredAt returns the occurrences after an execution at t, the first of them one interval later.
	AnchoredAt(t time.Time, s Context) *Schedule
}

// Moves reports whether the occurrences are counted from the last execution ([AnchorLastExecution]): a late or a manual
// run moves those that follow ([Plan.Moved]).
func (p *Plan) Moves() bool { return p.recurrence.Anchor == AnchorLastExecution }

// onTime is how late an execution may start without moving an @recur, so that the delays of dispatch do not add up.
const onTime = time.Second

// Base returns the instant from which occurrences count after an execution of nominal that began at started. It returns
// false if the execution does not change it.
func (p *Plan) Base(nominal, started time.Time, manual bool) (time.Time, bool) {
	if !p.Moves() || p.recurrence.Rule != nil && !manual && started.Sub(nominal) < onTime {
		return time.Time{}, false
	}
	return instant.Later(nominal, started).Round(0).UTC(), true
}

// Moved returns the plan of a job whose occurrences count from an execution at that time ([Plan.Base]). It returns p if
// nothing moves, or for a zero time.
func (p *Plan) Moved(at time.Time) *Plan {
	if !p.Moves() || at.IsZero() {
		return p
	}
	moved := *p
	if rule, ok := p.recurrence.Rule.(base); ok {
		moved.schedule = rule.AnchoredAt(at, p.timing.context(p.created))
	} else {
		moved.schedule = p.recurrence.azure().Compile(at, at)
	}
	moved.schedule = moved.schedule.Clip(instant.Later(p.timing.Start, at.Add(1)), p.recurrence.End)
	moved.first, moved.runs = moved.schedule.Next(at)
	moved.extra = false
	return &moved
}

// MaxRuns returns the recurrence's count, zero if unlimited.
func (p *Plan) MaxRuns() int { return p.recurrence.Count }

// Interval estimates the job's interval, to spread load: the smallest gap between its first runs, Forever for a job
// that runs once or never.
func (p *Plan) Interval() time.Duration { return p.gap }

// few is the number of occurrences that represent all where precision is not required.
const few = 8

// Upcoming returns the first n runs of the job, its count applied. complete reports whether the job ends with the last
// of them, because there are fewer than n.
func (p *Plan) Upcoming(n int) (times []time.Time, complete bool) {
	limit := n
	if most := p.MaxRuns(); most > 0 {
		limit = min(n, most)
	}
	if limit == 0 || !p.runs {
		return nil, n > 0
	}
	m := work.New(listWork)
	times = p.after(m, p.first, limit-1)
	return slices.Insert(times, 0, p.first), len(times)+1 < n && !m.Exhausted()
}

// After returns up to n runs strictly after an instant: fewer at the end of the schedule, or if the budget is
// exhausted. Like [Plan.Next], it ignores the recurrence's count.
func (p *Plan) After(t time.Time, n int) []time.Time {
	return p.after(work.New(listWork), t, n)
}

func (p *Plan) after(m *work.Meter, t time.Time, n int) []time.Time {
	var times []time.Time
	for t, ok := p.next(m, t); ok && !m.Exhausted() && len(times) < n; t, ok = p.next(m, t) {
		times = append(times, t)
	}
	return times
}

// Describe returns the schedule in plain English, without a full stop: "at 05:15 and 17:15 on the third Wednesday of
// every month, America/New_York".
func (p *Plan) Describe() string {
	r := p.timing.Recurrence
	if r == nil {
		if p.timing.Start.IsZero() {
			return "once, at once"
		}
		return "once, at " + english.Stamp(p.timing.Start) + ", UTC"
	}
	text := r.text(p)
	if r.Count > 0 {
		text += fmt.Sprintf(", %s at most", english.Count(r.Count, "run"))
	}
	if !r.End.IsZero() {
		text += ", until " + english.Stamp(r.End) + " UTC"
	}
	return text
}

// text describes the recurrence without its limits.
func (r Recurrence) text(p *Plan) string {
	setting := p.timing.context(p.created)
	switch rule := r.Rule.(type) {
	case nil:
	case *rrule.Set:
		return rule.DescribeCompiled(setting, p.rule)
	default:
		return rule.Describe(setting)
	}
	return r.azure().Describe(p.timing.Start, p.created)
}

// Warning is something in a document that is allowed, and that its writer might not expect.
type Warning struct {
	Path    string `json:"path"` // of the member, such as "recurrence.cron"
	Message string `json:"message"`
}

// hinter is a rule whose text may mean something else than it looks like.
type hinter interface {
	// Hints returns the suggestions, as sentences without a full stop. compiled are the rule's instants.
	Hints(s Context, compiled *Schedule) []string
}

// Warnings returns surprising properties of the timing that do not depend on the current time: it never runs, a field
// has no effect, or the text of a rule looks like another language. Paths are relative to the job's properties.
func (p *Plan) Warnings() []Warning {
	var list []Warning
	warn := func(path, message string) { list = append(list, Warning{path, message}) }
	r := p.timing.Recurrence
	if r == nil {
		if p.timing.Zone != nil && p.timing.Zone != time.UTC {
			warn("timeZone", p.timing.Zone.String()+" has no effect without recurrence; give startTime an offset instead")
		}
		return list
	}
	path := "recurrence"
	if r.Rule != nil {
		path += "." + memberOf(r.Rule)
	}
	switch {
	case !r.End.IsZero() && r.End.Before(p.timing.Start):
		warn("recurrence.endTime", "never runs: endTime is before startTime")
	case !p.runs:
		warn(path, "never runs: "+p.whyNever())
	}
	if rule, ok := r.Rule.(hinter); ok {
		for _, doubt := range rule.Hints(p.timing.context(p.created), p.rule) {
			warn(path, doubt)
		}
	}
	if zone := p.timing.zone(); zone != time.UTC {
		switch own := p.Zone(); {
		case r.Rule == nil:
			warn("timeZone", "the recurrence counts in UTC; timeZone "+zone.String()+" applies to cron and rrule only")
		case own.String() != zone.String():
			warn("timeZone", zone.String()+" has no effect: the rule names its own, "+own.String())
		}
	}
	return list
}

// ClockNotes describes the effects of clock changes on runs, the first of which is not before from.
func (p *Plan) ClockNotes(from time.Time, times []time.Time) []string {
	if len(times) == 0 || p.schedule == nil {
		return nil
	}
	if start := p.timing.Start; from.Before(start) {
		from = start
	}
	return p.schedule.Notes(work.New(listWork), from, times[len(times)-1])
}

// whyNever says why a recurrence never runs.
func (p *Plan) whyNever() string {
	if end := p.recurrence.End; !end.IsZero() {
		return "no time matches until the end, " + english.Stamp(end) + " UTC"
	}
	if last, ok := p.schedule.LastIn(work.New(listWork), p.created); ok {
		return "its last time was " + english.Stamp(last) + " UTC"
	}
	return "no time matches"
}
