package spec

import (
	"github.com/carillon-sched/carillon/scheduler/spec/cron"
	"github.com/carillon-sched/carillon/scheduler/spec/rrule"
)

// ParseCron parses a cron expression or, in the dialect Obsidian, an @recur. The rule is a [*Cron] or a [*Recur]. The
// error is a *[SyntaxError] or several of them, joined.
func ParseCron(text string, dialect Dialect) (Rule, error) { return cron.Parse(text, dialect) }

// ParseRRule reads an iCalendar recurrence: properties DTSTART, RRULE, EXRULE, RDATE and EXDATE. The error is one or several
// *[SyntaxError], joined, or [AWXErrors] in the dialect AWX.
func ParseRRule(text string, dialect Dialect) (Rule, error) { return rrule.Parse(text, dialect) }

// Cron is a cron expression, parsed.
type Cron = cron.Expression

// Recur is Obsidian's @recur: an interval that no cron pattern can express.
type Recur = cron.Recur

// AWXErrors are the reasons why AWX does not take a recurrence, in its own words.
type AWXErrors = rrule.AWXErrors

// AWXRequired is the error for a request to AWX without an rrule.
func AWXRequired() AWXErrors { return rrule.AWXRequired() }
