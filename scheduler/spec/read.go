package spec

import (
	"math"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"

	"github.com/carillon-sched/carillon/scheduler/spec/azure"
	"github.com/carillon-sched/carillon/scheduler/spec/rrule"
)

// ReadRecurrence reads a recurrence object: the fields frequency, interval, schedule and anchor, or cron or rrule with
// dialect, and optionally count and endTime. The object's reader collects all problems; do not use the result if there
// are any. The caller reads its own fields and calls o.Done.
func ReadRecurrence(o *document.Object) Recurrence {
	var r Recurrence
	if checkSources(o) {
		r.Rule = readRule(o)
		r.Anchor = readAnchor(o, r.Rule)
		r.Count, r.End = readLimits(o)
		return r
	}
	r.Frequency, r.Interval = azure.ReadStep(o)
	r.Count, r.End = readLimits(o)
	r.Schedule, r.Anchor = azure.ReadSchedule(o, r.Frequency)
	if o.Describes() {
		r.Rule = readRule(o)
	}
	return r
}

// readAnchor reads the base of a rule.
func readAnchor(o *document.Object, r Rule) Anchor {
	anchor := DefaultAnchor(r)
	if anchor == AnchorGrid && o.Has("anchor") && r != nil {
		o.Problem("anchor", "goes with frequency or @recur only; %s says it itself", memberOf(r))
	}
	return azure.ReadAnchor(o, anchor)
}

// DefaultAnchor returns the anchor of a rule in a recurrence without one. "Recurring intervals are calculated from the
// last execution time, if available" (Obsidian's page).
func DefaultAnchor(r Rule) Anchor {
	if _, ok := r.(base); ok {
		return AnchorLastExecution
	}
	return AnchorGrid
}

// readLimits reads what ends a recurrence of any kind.
func readLimits(o *document.Object) (count int, end time.Time) {
	if n, ok := o.Int("count", 1, math.MaxInt32); ok {
		count = int(n)
	}
	end, _ = o.Time("endTime")
	return count, end
}

// The members of a recurrence that hold a rule as text.
const (
	memberCron  = "cron"
	memberRRule = "rrule"
)

// memberOf returns the member of a recurrence that a rule comes from.
func memberOf(r Rule) string {
	if _, ok := r.(*rrule.Set); ok {
		return memberRRule
	}
	return memberCron
}

// readRule reads the fields cron, rrule and dialect, and returns their rule; nil if it is absent or invalid.
func readRule(o *document.Object) Rule {
	cron, isCron := o.String(memberCron)
	rrule, isRRule := o.String(memberRRule)
	dialects, dialect := []string{string(Obsidian), string(Dsari)}, Obsidian
	if o.Describes() {
		_, _ = o.Enum("dialect", string(RFC5545), string(AWX), string(Dsari))
	}
	if o.Has(memberRRule) {
		dialects, dialect = []string{string(RFC5545), string(AWX), string(Dsari)}, RFC5545
	}
	if name, ok := o.Enum("dialect", dialects...); ok {
		dialect = Dialect(name)
	}
	var rule Rule
	var err error
	member := memberCron
	switch {
	case isCron && !o.Has(memberRRule):
		rule, err = ParseCron(cron, dialect)
	case isRRule && !o.Has(memberCron):
		member = memberRRule
		rule, err = ParseRRule(rrule, dialect)
	}
	if err != nil {
		for _, p := range problemsOf(member, err) {
			o.Report(p)
		}
		return nil
	}
	return rule
}

// checkSources reports a recurrence without exactly one of frequency, cron and rrule, and fields that require a
// frequency.
func checkSources(o *document.Object) (text bool) {
	given := o.RequireOne("frequency", memberCron, memberRRule)
	switch {
	case len(given) == 0:
		return false
	case len(given) > 1:
		o.Problem(given[1], "cannot be used together with %s; a recurrence has one of frequency, cron and rrule", given[0])
	}
	text = given[len(given)-1] != "frequency"
	if text {
		for _, name := range []string{"interval", "schedule"} {
			if o.Has(name) {
				o.Problem(name, "goes with frequency only; %s says it itself", given[len(given)-1])
				o.Ignore(name)
			}
		}
	} else if o.Has("dialect") {
		o.Problem("dialect", "goes with cron or rrule only")
	}
	return text
}
