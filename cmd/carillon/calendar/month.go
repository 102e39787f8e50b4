package calendar

import (
	"fmt"
	"strings"
	"time"
)

// Months draws calendars of the months that have marked days. A week begins on Monday.
type Months struct {
	Zone  *time.Location // whose days are marked; required
	Times []time.Time    // the instants whose days are marked, ascending
	Most  int            // how many months are drawn; 0: all

	// Width is the width of the terminal in columns. It fits one to three months next to each other.
	Width int

	// Mark highlights the number of a marked day without changing its width. Default: brackets.
	Mark func(day string) string
}

// month is a month with the days that are marked.
type month struct {
	first time.Time // its first day at noon
	days  [32]bool
}

// Lines returns the calendars as they are printed, and how many months did not fit into Most.
func (m Months) Lines() (lines []string, left int) {
	months := m.marked()
	if m.Most > 0 && len(months) > m.Most {
		months, left = months[:m.Most], len(months)-m.Most
	}
	const between = "   "
	heading, _ := m.layout()
	size := len(heading)
	abreast := min(max(1, (m.Width+len(between))/(size+len(between))), 3)
	for begin := 0; begin < len(months); begin += abreast {
		if begin > 0 {
			lines = append(lines, "")
		}
		band := make([]strings.Builder, 2+6)
		for i, one := range months[begin:min(begin+abreast, len(months))] {
			for j, line := range m.draw(one, size) {
				if i > 0 {
					band[j].WriteString(between)
				}
				band[j].WriteString(line)
			}
		}
		for i := range band {
			if line := strings.TrimRight(band[i].String(), " "); line != "" {
				lines = append(lines, line)
			}
		}
	}
	return lines, left
}

// marked returns the months that have marked days.
func (m Months) marked() []*month {
	var months []*month
	for _, at := range m.Times {
		year, name, day := at.In(m.Zone).Date()
		first := time.Date(year, name, 1, 12, 0, 0, 0, time.UTC)
		if len(months) == 0 || !months[len(months)-1].first.Equal(first) {
			months = append(months, &month{first: first})
		}
		months[len(months)-1].days[day] = true
	}
	return months
}

// layout returns the names of the weekdays in their columns, and what separates two days. Where days are marked by
// brackets, columns are wider, and the brackets bring their own room.
func (m Months) layout() (heading, between string) {
	if m.Mark == nil {
		return " Mo  Tu  We  Th  Fr  Sa  Su ", ""
	}
	return "Mo Tu We Th Fr Sa Su", " "
}

// draw returns the lines of a month, all of the same width: its name, the weekdays, six weeks.
func (m Months) draw(one *month, size int) []string {
	heading, between := m.layout()
	title := one.first.Format("January 2006")
	lines := []string{fmt.Sprintf("%-*s", size, strings.Repeat(" ", (size-len(title))/2)+title), heading}
	day := 1 - (int(one.first.Weekday())+6)%7 // day of the first Monday, counted from the month's first
	last := one.first.AddDate(0, 1, -1).Day()
	for range 6 {
		cells := make([]string, 7)
		for i := range cells {
			cells[i] = m.cell(one, day, last)
			day++
		}
		lines = append(lines, strings.Join(cells, between))
	}
	return lines
}

// cell returns a day of a month that has so many, blank if it has no such day.
func (m Months) cell(one *month, day, last int) string {
	text, marked := "  ", false
	if day >= 1 && day <= last {
		text, marked = fmt.Sprintf("%2d", day), one.days[day]
	}
	switch {
	case m.Mark == nil && marked:
		return "[" + text + "]"
	case m.Mark == nil:
		return " " + text + " "
	case marked:
		return m.Mark(text)
	}
	return text
}
