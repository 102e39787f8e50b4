// Package rrule is the iCalendar recurrence of RFC 5545 (DTSTART, RRULE, EXRULE, RDATE and EXDATE), within the limitations of AWX
// (awx/docs/schedules.md) and with the hashed positions of dsari (the page "Schedule Format"). Where RFC 5545 is silent
// it follows python-dateutil; [Parse] says where.
//
// A rule becomes tiles as far as tiles can say it, and step sets for the rest ([expander]); excluded rules are taken
// out of the sets themselves where that leaves such sets, and second by second where it does not ([setCompiler]).
//
// Guarantees: [Parse] reports everything that is wrong with a text, at its column; what AWX refuses is refused in AWX's
// words ([AWXErrors]). Compiling is bounded: an EXRULE that leaves nothing of very many instances, taken out one by
// one, means never if the rule has ended by then or both have come back to where they began; else it is refused. So is
// a COUNT that takes longer than a lifetime to count.
package rrule
