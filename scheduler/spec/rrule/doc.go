// Package rrule implements the iCalendar recurrence of RFC 5545 (DTSTART, RRULE, EXRULE, RDATE and EXDATE), with the
// limitations of AWX (awx/docs/schedules.md) and the hashed positions of dsari (the page "Schedule Format"). Where RFC
// 5545 is silent, it follows python-dateutil; see [Parse].
//
//	text ──Parse──▶ Set ──expander──▶ layers ──setCompiler──▶ instant.Schedule
//
// The [expander] turns a rule into tiles where possible, and into step sets for the rest. The [setCompiler] subtracts
// excluded rules from these sets where the result is such a set, and else second by second.
//
// Guarantees: [Parse] reports all errors of a text with their columns, and errors of AWX in AWX's words ([AWXErrors]).
// Compiling is bounded. If an EXRULE removes very many instances one by one and leaves none, the rule never fires if it
// has ended by then, or if both have returned to their initial state; otherwise it is refused. A COUNT that takes
// longer than a lifetime to count is refused too.
package rrule
