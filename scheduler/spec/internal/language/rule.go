package language

import (
	"cmp"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/instant"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/work"
)

// Dialect names a schedule language that is written as text.
type Dialect string

// The dialects. Cron: [Obsidian] and [Dsari]; iCalendar recurrence: [RFC5545], [AWX] and Dsari.
const (
	Obsidian Dialect = "obsidian" // Obsidian Scheduler's cron, with L, W, #, year, zone, ";" and @recur
	Dsari    Dialect = "dsari"    // dsari's cron with hashes, and its RRULE with hashed positions
	RFC5545  Dialect = "rfc5545"  // iCalendar: DTSTART, RRULE, EXRULE, RDATE and EXDATE
	AWX      Dialect = "awx"      // iCalendar within AWX's limitations
)

// Rule is the text of a schedule language, parsed. It is immutable and safe for concurrent use.
type Rule interface {
	// Compile returns the instants of the rule. The error is a *[SyntaxError], or several joined, for errors that the
	// text alone does not show, such as a missing start. If the setting's meter is exhausted afterwards, do not use the
	// instants.
	Compile(s Context) (*instant.Schedule, error)

	// Differs reports whether the instants may differ between a and b, two settings that differ only in Name, Seed and
	// Created. If not, a schedule compiled for one is valid for the other.
	Differs(a, b Context) bool

	// Describe says in plain English when the rule fires, without a full stop.
	Describe(s Context) string
}

// Context holds the context of a rule.
type Context struct {
	// Name is the job's, from which dsari's hashes are made.
	Name string

	// Seed is where random positions (dsari's R) are drawn from, so that they are the same on every host and after
	// every restart. Empty: they were drawn when the text was parsed.
	Seed string

	// Zone is where the rule's clock hangs if the text names no zone. nil: UTC.
	Zone *time.Location

	// DST replaces parts of the rule's own policy at changes of the clock.
	DST instant.DST

	// Start is the job's startTime. No occurrence is due before it, and it is the default anchor of rules that count from an
	// instant. Zero: none.
	Start time.Time

	// Created is when the job was created.
	Created time.Time

	// End is the last instant at which the job may run. Zero: none.
	End time.Time

	// Grid makes an @recur count from the start alone, and not from the last execution.
	Grid bool

	// Work counts the work of compiling. The caller checks whether it is exhausted before it uses the rule's instants.
	// nil: work is not counted.
	Work *work.Meter
}

// Location returns the setting's zone with its default.
func (s Context) Location() *time.Location {
	if s.Zone == nil {
		return time.UTC
	}
	return s.Zone
}

// Begin returns the instant from which the rule counts: the start or, failing that, the creation.
func (s Context) Begin() time.Time {
	if s.Start.IsZero() {
		return s.Created
	}
	return s.Start
}

// SyntaxError is one error in the text of a schedule.
type SyntaxError struct {
	Column  int    // position in characters from 1; 0 for the whole text
	Field   string // "field 3 (day of month)" or "RRULE part BYDAY"; may be empty
	Message string // the text found and the allowed values
	Hint    string // a suggestion; may be empty
}

// Error returns the error in one line: "column 5, field 3 (day of month): 32 is not in 1-31; hint: …".
func (e *SyntaxError) Error() string {
	place, text := e.Field, e.Message
	if e.Column > 0 {
		place = strings.TrimSuffix(fmt.Sprintf("column %d, %s", e.Column, e.Field), ", ")
	}
	if place != "" {
		text = place + ": " + text
	}
	if e.Hint != "" {
		text += "; hint: " + e.Hint
	}
	return text
}

// InOrder returns at most the given number of problems, by position.
func InOrder(problems []*SyntaxError, most int) []*SyntaxError {
	slices.SortStableFunc(problems, func(a, b *SyntaxError) int { return cmp.Compare(a.Column, b.Column) })
	return problems[:min(len(problems), most)]
}

// Join returns problems in order as one error: the problem itself if there is one.
func Join(problems []*SyntaxError, most int) error {
	if len(problems) == 1 {
		return problems[0]
	}
	var list []error
	for _, problem := range InOrder(problems, most) {
		list = append(list, problem)
	}
	return errors.Join(list...)
}

// Hash replaces the job's name where a schedule leaves a position open: an H of dsari's cron, a part that a dsari RRULE
// omits. It spreads jobs evenly, and its positions are stable.
//
// The values equal croniter 6.3, so that migrated jobs keep their times: position i of a field is (crc32(name)
// >> field) modulo the number of values.
type Hash uint32

// HashField is a field whose position may be hashed. Its value is the shift of the hash, so that the fields of a job
// differ.
type HashField uint

// The fields, in the order of a line of cron.
const (
	HashMinute HashField = iota
	HashHour
	HashDay
	HashMonth
	HashWeekday
	HashSecond
)

// HashOf returns the hash of a job's name: the CRC-32 (IEEE) of its UTF-8 bytes.
func HashOf(name string) Hash { return Hash(crc32.ChecksumIEEE([]byte(name))) }

// Pick returns the job's value for a field, out of lo…hi.
func (h Hash) Pick(field HashField, lo, hi int) int {
	return lo + int(uint32(h>>field)%uint32(hi-lo+1))
}

// Step returns the first of the job's values, each n apart, for a field of lo…hi. The others follow up to hi.
func (h Hash) Step(field HashField, lo, hi, n int) (first int) {
	return h.Pick(field, lo, lo+min(n-1, hi-lo))
}
