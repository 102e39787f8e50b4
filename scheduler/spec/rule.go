package spec

import (
	"fmt"
	"strings"
	"time"
)

// Dialect names a schedule language that is written as text.
type Dialect string

// The dialects of cron are [Obsidian] and [Dsari], those of iCalendar recurrence [RFC5545], [AWX] and Dsari.
const (
	Obsidian Dialect = "obsidian" // Obsidian Scheduler's cron, with L, W, #, year, zone, ";" and @recur (seed 002)
	Dsari    Dialect = "dsari"    // dsari's cron with hashes, and its RRULE with hashed positions (seed 003)
	RFC5545  Dialect = "rfc5545"  // iCalendar: DTSTART, RRULE and EXRULE
	AWX      Dialect = "awx"      // iCalendar within AWX's limitations (seed 004)
)

// Rule is the text of a schedule language, parsed. It is immutable and safe for concurrent use.
type Rule interface {
	// Compile returns the instants of the rule. The error is a *[SyntaxError], or several, joined: what the text alone
	// could not show, such as a start that is missing.
	Compile(s Setting) (Schedule, error)

	// Describe says in plain English when the rule fires, without a full stop.
	Describe(s Setting) string
}

// Setting is what a rule needs to know beside its text.
type Setting struct {
	// Name is the job's, from which dsari's hashes are made.
	Name string

	// Seed is where random positions (dsari's R) are drawn from, so that they are the same on every host and after every
	// restart. Empty: they were drawn when the text was parsed.
	Seed string

	// Zone is where the rule's clock hangs if the text names no zone. nil: UTC.
	Zone *time.Location

	// DST replaces parts of the rule's own policy at changes of the clock.
	DST DST

	// Start is the job's startTime. Nothing is due before it, and rules that are counted from somewhere are counted from
	// it if they do not say. Zero: none.
	Start time.Time

	// Created is when the job was created.
	Created time.Time

	// End is the last instant at which the job may run. Zero: none.
	End time.Time
}

// zone returns the setting's zone with its default.
func (s Setting) zone() *time.Location {
	if s.Zone == nil {
		return time.UTC
	}
	return s.Zone
}

// begin returns the instant from which the rule counts: the start or, failing that, the creation.
func (s Setting) begin() time.Time {
	if s.Start.IsZero() {
		return s.Created
	}
	return s.Start
}

// SyntaxError is one thing that is wrong with the text of a schedule.
type SyntaxError struct {
	Column  int    // where it stands, in characters from 1; 0 if it is about the whole text
	Field   string // "field 3 (day of month)" or "RRULE part BYDAY"; may be empty
	Message string // what was found and what is allowed
	Hint    string // what was probably meant; may be empty
}

// Error returns the error in one line: "column 5, field 3 (day of month): 32 is not in 1-31; hint: …".
func (e *SyntaxError) Error() string {
	var b strings.Builder
	if e.Column > 0 {
		fmt.Fprintf(&b, "column %d", e.Column)
	}
	if e.Field != "" {
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		b.WriteString(e.Field)
	}
	if b.Len() > 0 {
		b.WriteString(": ")
	}
	b.WriteString(e.Message)
	if e.Hint != "" {
		b.WriteString("; hint: ")
		b.WriteString(e.Hint)
	}
	return b.String()
}
