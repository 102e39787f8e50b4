package calendar

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"
)

// Table lists instants, one on a line: on the clock of a zone, in UTC, how long after the one before, and what the changes
// of the clock have to do with it.
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

func width(s string) int { return utf8.RuneCountInString(s) }

// pad fills a text up with blanks.
func pad(s string, to int) string { return s + strings.Repeat(" ", max(0, to-width(s))) }
