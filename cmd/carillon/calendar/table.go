package calendar

import (
	"strings"
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
	clock, decimals := "15:04", ""
	for _, at := range t.Times {
		if at.Nanosecond() > 0 {
			clock, decimals = "15:04:05", widest(decimals, fraction(at.Nanosecond()))
		} else if at.Second() > 0 || offset(at.In(t.Zone))%60 != 0 {
			clock = "15:04:05"
		}
	}
	if decimals != "" {
		clock += "." + strings.Repeat("0", len(decimals)-1)
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

func widest(a, b string) string {
	if len(b) > len(a) {
		return b
	}
	return a
}

// Lines returns the table as it is printed, with a heading, in columns. Marks are printed in emphasis.
func (t Table) Lines(emphasis func(text string) string) []string {
	rows := append([]Row{{"LOCAL TIME (" + t.Zone.String() + ")", "UTC", "GAP", ""}}, t.Rows()...)
	for _, row := range rows {
		if row.Marks != "" {
			rows[0].Marks = "DST"
			break
		}
	}
	var local, utc, gap int
	for _, row := range rows {
		local, utc, gap = max(local, width(row.Local)), max(utc, width(row.UTC)), max(gap, width(row.Gap))
	}
	lines := make([]string, len(rows))
	for i, row := range rows {
		line := strings.Join([]string{pad(row.Local, local), pad(row.UTC, utc), pad(row.Gap, gap)}, "  ")
		switch {
		case row.Marks == "":
			line = strings.TrimRight(line, " ")
		case i == 0:
			line += "  " + row.Marks
		default:
			line += "  " + emphasis(row.Marks)
		}
		lines[i] = line
	}
	return lines
}

func width(s string) int { return utf8.RuneCountInString(s) }

// pad fills a text up with blanks.
func pad(s string, to int) string { return s + strings.Repeat(" ", max(0, to-width(s))) }
