package spec

import (
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec/azure"
	"github.com/carillon-sched/carillon/scheduler/spec/cron"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/instant"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/language"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/tz"
	"github.com/carillon-sched/carillon/scheduler/spec/rrule"
)

// The building blocks of schedule languages, and the types built from them.
type (
	// Rule is the text of a schedule language, parsed.
	Rule = language.Rule
	// Context holds the context of a rule.
	Context = language.Context
	// SyntaxError is one error in the text of a schedule.
	SyntaxError = language.SyntaxError
	// Schedule is a compiled schedule: a set of instants, in UTC.
	Schedule = instant.Schedule
	// DSTGap describes times that a clock change skips and that the schedule omits.
	DSTGap = instant.DSTGap
)

// Dialect names a schedule language that is written as text.
type Dialect = language.Dialect

// The dialects. Cron: [Obsidian] and [Dsari]; iCalendar recurrence: [RFC5545], [AWX] and Dsari.
const (
	Obsidian = language.Obsidian
	Dsari    = language.Dsari
	RFC5545  = language.RFC5545
	AWX      = language.AWX
)

// DST is a rule's policy for clock changes. The zero value selects the default of the rule's dialect.
type DST = instant.DST

// GapSkip is the policy of [DST] that omits times which the clock skips.
const GapSkip = instant.GapSkip

// NewDST returns the policy of those names: "next", "shift" or "skip" for a gap and "first" or "both" for an overlap. Any
// other name leaves it to the rule's dialect.
func NewDST(gap, overlap string) DST { return instant.NewDST(gap, overlap) }

// The parts of a [Recurrence] without a rule, as in Azure Scheduler.
type (
	// Frequency is the unit of time between the occurrences.
	Frequency = azure.Frequency
	// Elements is the schedule of a recurrence, which limits or expands its occurrences.
	Elements = azure.Elements
	// MonthlyOccurrence is a weekday of a month, such as its second Friday.
	MonthlyOccurrence = azure.MonthlyOccurrence
	// Anchor selects the instant from which occurrences count.
	Anchor = azure.Anchor
)

// The frequencies and the anchors.
const (
	Second = azure.Second
	Minute = azure.Minute
	Hour   = azure.Hour
	Day    = azure.Day
	Week   = azure.Week
	Month  = azure.Month
	Year   = azure.Year

	AnchorGrid          = azure.AnchorGrid
	AnchorLastExecution = azure.AnchorLastExecution
)

// Forever is the interval of a schedule without recurrence: the longest time.Duration, 292 years.
const Forever = azure.Forever

// LoadZone returns the zone with that name in the IANA time zone database. Names are exact (see [ZoneNames]):
// "America/New_York", "UTC". It also accepts Java's unambiguous names, such as "JST", "GMT+5" and "UTC+05:30". The
// error suggests a name.
func LoadZone(name string) (*time.Location, error) { return tz.Load(name) }

// ZoneNames returns the names of the IANA database that [LoadZone] knows, in alphabetical order.
func ZoneNames() []string { return tz.Names() }

// ParseCron parses a cron expression or, in the dialect Obsidian, an @recur. The error is a *[SyntaxError] or several of
// them, joined.
func ParseCron(text string, dialect Dialect) (Rule, error) { return cron.Parse(text, dialect) }

// ParseRRule reads an iCalendar recurrence: properties DTSTART, RRULE, EXRULE, RDATE and EXDATE. The error is one or several
// *[SyntaxError], joined, or [AWXErrors] in the dialect AWX.
func ParseRRule(text string, dialect Dialect) (Rule, error) { return rrule.Parse(text, dialect) }

// Recur is Obsidian's @recur: an interval that no cron pattern can express.
type Recur = cron.Recur

// AWXErrors are AWX's error messages for a recurrence that it rejects.
type AWXErrors = rrule.AWXErrors
