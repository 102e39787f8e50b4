package instant

import (
	"slices"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// DST is what a rule makes of the two changes of a clock. The zero value leaves it to the rule's dialect:
//
//	Obsidian and dsari cron   next, first; a pattern with * in its minute or hour follows the clock: skip, both
//	@recur in days and more   shift, first
//	RFC 5545                  shift, first (section 3.3.5)
//	AWX, dsari's RRULE        skip, first
//
// Azure recurrences and @recur in minutes and hours are not asked: they count UTC and elapsed time.
type DST struct {
	Gap     Gap
	Overlap Overlap
}

// NewDST returns the policy of those names; any other name leaves it open.
func NewDST(gap, overlap string) DST {
	return DST{Gap(max(slices.Index(gapNames, gap), 0)), Overlap(max(slices.Index(overlapNames, overlap), 0))}
}

// Gap is what becomes of an occurrence at a time that the clock jumps over.
type Gap uint8

// The ways with a gap.
const (
	GapDefault Gap = iota // as the dialect has it
	GapNext               // at the first instant after the gap, as Debian's cron does it: 02:30 runs at 03:00
	GapShift              // later by the length of the gap, as RFC 5545 says: 02:30 runs at 03:30
	GapSkip               // not at all
)

// gapNames are the names of gaps as they are written, by their values.
var gapNames = []string{GapDefault: "", GapNext: "next", GapShift: "shift", GapSkip: "skip"}

// String returns the gap as it is written.
func (g Gap) String() string { return gapNames[g] }

// Overlap is what becomes of an occurrence at a time that the clock shows twice.
type Overlap uint8

// The ways with an overlap.
const (
	OverlapDefault Overlap = iota // as the dialect has it
	OverlapFirst                  // the first time only
	OverlapBoth                   // both times
)

// overlapNames are the names of overlaps as they are written, by their values.
var overlapNames = []string{OverlapDefault: "", OverlapFirst: "first", OverlapBoth: "both"}

// String returns the overlap as it is written.
func (o Overlap) String() string { return overlapNames[o] }

// Or fills what d leaves open.
func (d DST) Or(gap Gap, overlap Overlap) DST {
	if d.Gap == GapDefault {
		d.Gap = gap
	}
	if d.Overlap == OverlapDefault {
		d.Overlap = overlap
	}
	return d
}

// Literal follows the clock: what it jumps over does not happen, what it shows twice happens twice.
var Literal = DST{GapSkip, OverlapBoth}

// ReadDST reads the members gap and overlap.
func ReadDST(o *document.Object) DST {
	gap, _ := o.Enum("gap", gapNames[1:]...)
	overlap, _ := o.Enum("overlap", overlapNames[1:]...)
	return NewDST(gap, overlap)
}
