package calendar

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// Table lists instants, one per line: on the clock of a zone, in UTC, the time since the previous one, and the
// effects of clock changes.
type Table struct {
	Zone  *time.Location // required
	Times []time.Time    // ascending
	Moved Moved          // nil: none are
}

// Row is a line of a table.
type Row struct {
	Local string // weekday, date, time and offset: "Sun 2026-03-08 03:00 -04:00"
	UTC   string // "2026-03-08T07:00Z"
	Gap   string // "+23 h"; empty in the first row
	Marks string // "DST starts, moved"; mostly empty
}

// Rows returns the lines of the table. Seconds are shown if one of the instants is not on a whole minute.
func (t Table) Rows() []Row {
	clock, decimals := "15:04", 0
	for _, at := range t.Times {
		decimals = max(decimals, len(fraction(at.Nanosecond()))-1)
		if at.Nanosecond() > 0 || at.Second() > 0 || offset(at.In(t.Zone))%60 != 0 {
			clock = "15:04:05"
		}
	}
	if decimals > 0 {
		clock += "." + strings.Repeat("0", decimals)
	}
	rows := make([]Row, len(t.Times))
	var previous time.Time
	for i, at := range t.Times {
		local := at.In(t.Zone)
		zone := "-07:00"
		if offset(local)%60 != 0 {
			zone = "-07:00:00"
		}
		rows[i] = Row{
			Local: local.Format("Mon 2006-01-02 " + clock + " " + zone),
			UTC:   at.UTC().Format("2006-01-02T" + clock + "Z"),
			Marks: marks(previous, local, t.Moved),
		}
		if i > 0 {
			rows[i].Gap = "+" + Gap(previous, at)
		}
		previous = local
	}
	return rows
}

// Lines returns the table as it is printed, with a heading, in columns. Marks are printed in emphasis.
func (t Table) Lines(emphasis func(text string) string) []string {
	rows := t.Rows()
	heading := "LOCAL TIME (" + t.Zone.String() + ")\tUTC\tGAP\t"
	if slices.ContainsFunc(rows, func(row Row) bool { return row.Marks != "" }) {
		heading += "DST"
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, heading)
	for _, row := range rows {
		if row.Marks != "" {
			row.Marks = emphasis(row.Marks)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", row.Local, row.UTC, row.Gap, row.Marks)
	}
	_ = w.Flush() // a builder takes everything
	lines := make([]string, 0, len(rows)+1)
	for line := range strings.Lines(b.String()) {
		lines = append(lines, strings.TrimRight(line, " \n"))
	}
	return lines
}

// Gap formats the exact time between two instants: "1 day", "23 h", "1 h 30 min". A day is 24 elapsed hours, so
// a day on which the clock goes forward is "23 h".
func Gap(from, to time.Time) string {
	seconds, nanos := to.Unix()-from.Unix(), to.Nanosecond()-from.Nanosecond()
	if nanos < 0 {
		seconds, nanos = seconds-1, nanos+int(time.Second)
	}
	var words []string
	for _, unit := range []struct {
		size      int64
		one, many string
	}{
		{24 * 3600, "day", "days"},
		{3600, "h", "h"},
		{60, "min", "min"},
	} {
		switch n := seconds / unit.size; {
		case n == 1:
			words = append(words, "1 "+unit.one)
		case n > 1:
			words = append(words, strconv.FormatInt(n, 10)+" "+unit.many)
		}
		seconds %= unit.size
	}
	if seconds > 0 || nanos > 0 || len(words) == 0 {
		words = append(words, strconv.FormatInt(seconds, 10)+fraction(nanos)+" s")
	}
	return strings.Join(words, " ")
}

// fraction writes nanoseconds as a decimal fraction of a second: ".25", and "" for 0.
func fraction(nanos int) string {
	return strings.TrimRight(strings.TrimRight(fmt.Sprintf(".%09d", nanos), "0"), ".")
}

// Moved reports whether an instant shortly after a clock went forward replaces a time that the clock skipped.
type Moved func(t time.Time) bool

// marks describes the effects of clock changes on an instant: the offset changed since the previous instant, the
// instant was moved, or the clock shows its time twice. Both instants are in the clock's zone. A zero previous
// is none.
func marks(previous, t time.Time, moved Moved) string {
	var words []string
	if !previous.IsZero() {
		if word := changed(previous, t); word != "" {
			words = append(words, word)
		}
	}
	if inGap(t) && moved != nil && moved(t) {
		words = append(words, "moved")
	}
	if word := again(t); word != "" {
		words = append(words, word)
	}
	return strings.Join(words, ", ")
}

// changed describes how the offset of t differs from an earlier instant's, or returns "".
func changed(earlier, t time.Time) string {
	jump := offset(t) - offset(earlier)
	switch summer := t.IsDST() != earlier.IsDST(); {
	case jump == 0:
		return ""
	case summer && jump > 0: // also where winter is the exception, as in Dublin
		return "DST starts"
	case summer:
		return "DST ends"
	case jump > 0:
		return "clock " + Gap(time.Unix(0, 0), time.Unix(int64(jump), 0)) + " forward"
	default:
		return "clock " + Gap(time.Unix(int64(jump), 0), time.Unix(0, 0)) + " back"
	}
}

// inGap reports whether t is so soon after its clock went forward that it can replace a time in the gap.
func inGap(t time.Time) bool {
	start, _ := t.ZoneBounds()
	if start.IsZero() {
		return false
	}
	jump := offset(t) - offset(start.Add(-1))
	return jump > 0 && t.Unix()-start.Unix() < int64(jump)
}

// again says whether the clock shows the time of t before or after in the same words, because it goes back.
func again(t time.Time) string {
	start, end := t.ZoneBounds()
	if !start.IsZero() {
		if jump := offset(start.Add(-1)) - offset(t); t.Unix()-start.Unix() < int64(jump) {
			return "second time"
		}
	}
	if !end.IsZero() {
		if jump := offset(t) - offset(end); end.Unix()-t.Unix() <= int64(jump) {
			return "first time"
		}
	}
	return ""
}

// offset returns the seconds by which a clock is ahead of UTC.
func offset(t time.Time) int {
	_, seconds := t.Zone()
	return seconds
}
