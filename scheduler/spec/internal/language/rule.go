package language

import (
	"github.com/carillon-sched/carillon/scheduler/spec/internal/instant"
)

// Dialect names a schedule language that is written as text.
type Dialect string

// The dialects of cron are [Obsidian] and [Dsari], those of iCalendar recurrence [RFC5545], [AWX] and Dsari.
const (
	Obsidian Dialect = "obsidian" // Obsidian Scheduler's cron, with L, W, #, year, zone, ";" and @recur
	Dsari    Dialect = "dsari"    // dsari's cron with hashes, and its RRULE with hashed positions
	RFC5545  Dialect = "rfc5545"  // iCalendar: DTSTART, RRULE, EXRULE, RDATE and EXDATE
	AWX      Dialect = "awx"      // iCalendar within AWX's limitations
)

// Rule is the text of a schedule language, parsed. It is immutable and safe for concurrent use.
type Rule interface {
	// Compile returns the instants of the rule. The error is a *[SyntaxError], or several, joined: what the text alone
	// could not show, such as a start that is missing. With a meter in the setting that is exhausted then, the instants are
	// of no use.
	Compile(s Setting) (*instant.Schedule, error)

	// Differs reports whether the instants may be others for b than for a, two settings that differ in nothing but
	// Name, Seed and Created. For settings that do not differ so, what was compiled for one serves the other.
	Differs(a, b Setting) bool

	// Describe says in plain English when the rule fires, without a full stop.
	Describe(s Setting) string
}
