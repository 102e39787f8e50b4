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

// What every schedule language is made of, and what is made of it.
type (
	// Rule is the text of a schedule language, parsed.
	Rule = language.Rule
	// Setting is what a rule needs to know beside its text.
	Setting = language.Setting
	// SyntaxError is one thing that is wrong with the text of a schedule.
	SyntaxError = language.SyntaxError
	// Schedule is a compiled schedule: a set of instants, in UTC.
	Schedule = instant.Schedule
	// DSTGap is what a change of a clock takes from a schedule that skips the times which do not exist.
	DSTGap = instant.DSTGap
)

// Dialect names a schedule language that is written as text.
type Dialect = language.Dialect

// The dialects of cron are [Obsidian] and [Dsari], those of iCalendar recurrence [RFC5545], [AWX] and Dsari.
const (
	Obsidian = language.Obsidian
	Dsari    = language.Dsari
	RFC5545  = language.RFC5545
	AWX      = language.AWX
)

// DST is what a rule makes of the two changes of a clock. The zero value leaves it to the rule's dialect.
type DST = instant.DST

// GapSkip is the policy of [DST] by which what a clock jumps over does not happen.
const GapSkip = instant.GapSkip

// NewDST returns the policy of those names: "next", "shift" or "skip" for a gap and "first" or "both" for an overlap. Any
// other name leaves it to the rule's dialect.
func NewDST(gap, overlap string) DST { return instant.NewDST(gap, overlap) }

// What a [Recurrence] without a rule says, as Azure Scheduler has it.
type (
	// Frequency is the unit of time between the occurrences.
	Frequency = azure.Frequency
	// Elements is the schedule of a recurrence, which limits or expands its occurrences.
	Elements = azure.Elements
	// MonthlyOccurrence is a weekday of a month, such as its second Friday.
	MonthlyOccurrence = azure.MonthlyOccurrence
	// Anchor says what the occurrences are counted from.
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

// Forever is the interval of what does not recur: the longest time.Duration, 292 years.
const Forever = azure.Forever

// LoadZone returns the zone of that name in the IANA time zone database. Names are exact, those of [ZoneNames]:
// "America/New_York", "UTC". Beside them it knows what Java does and what has one meaning, such as "JST", "GMT+5" and
// "UTC+05:30". The error says which name was probably meant.
func LoadZone(name string) (*time.Location, error) { return tz.Load(name) }

// ZoneNames returns the names of the IANA database that [LoadZone] knows, in alphabetical order.
func ZoneNames() []string { return tz.Names() }

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
