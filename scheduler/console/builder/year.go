package builder

import (
	"math"
	"time"

	"github.com/carillon-sched/carillon/scheduler/console/words"
	"github.com/carillon-sched/carillon/scheduler/service"
)

// year is how many runs the days of a year have, as it is drawn: a column for each week, a row for each weekday.
type year struct {
	Width, Height int
	Days          []day
	Weekdays      []mark
	Months        []mark
	Legend        []level
	Table         []month
	Text          string // what it shows, for those who do not see it
	Cut           bool   // there are days missing
}

// day is a square.
type day struct {
	X, Y int
	Heat int    // 0-6
	Text string // "" for a day without runs
}

// mark is a word at a place.
type mark struct {
	X, Y int
	Text string
}

// level is what a heat stands for.
type level struct {
	Heat int
	Text string
}

// month is a row of the table that says the same.
type month struct {
	Name string
	Runs int
	Days int // that have any
}

// The measures of the drawing.
const (
	cell   = 12 // of a day with the space behind it
	left   = 30 // for the names of weekdays
	top    = 16 // for those of months
	square = 10
)

// heats are the most runs of a day of each heat. They are fixed, so that two schedules can be compared.
var heats = []int{0, 1, 4, 24, 288, 1440, math.MaxInt}

// heat is the colour of a number of runs.
func heat(runs int) int {
	for i, most := range heats {
		if runs <= most {
			return i
		}
	}
	return len(heats) - 1
}

// newYear draws what was found.
func newYear(o *service.Outlook) *year {
	if len(o.Days) == 0 {
		return nil
	}
	y := &year{Width: left + service.Weeks*cell, Height: top + 7*cell, Cut: len(o.Days) < service.Weeks*7}
	for row, name := range []string{"Mon", "", "Wed", "", "Fri", "", ""} {
		if name != "" {
			y.Weekdays = append(y.Weekdays, mark{0, top + row*cell + square - 1, name})
		}
	}
	for i, most := range heats {
		y.Legend = append(y.Legend, level{i, words.Say("builder.heat." + string(rune('0'+i)))})
		_ = most
	}
	total, busiest, at := 0, 0, time.Time{}
	for i, runs := range o.Days {
		date := time.Date(o.From.Year(), o.From.Month(), o.From.Day()+i, 12, 0, 0, 0, time.UTC) // noon is on every day
		d := day{X: left + i/7*cell, Y: top + i%7*cell, Heat: heat(runs)}
		if runs > 0 {
			d.Text = date.Format("Mon 2 Jan 2006: ") + words.Count("builder.runs", runs)
		}
		if runs > busiest {
			busiest, at = runs, date
		}
		total += runs
		y.Days = append(y.Days, d)
		y.month(date, i, runs)
	}
	y.Text = words.Say("builder.year.none")
	if total > 0 {
		y.Text = words.Say("builder.year.text", words.Count("builder.runs", total), o.From.Format("2 January 2006"),
			words.Count("builder.runs", busiest), at.Format("2 January 2006"))
	}
	return y
}

// month adds a day to its month.
func (y *year) month(date time.Time, i, runs int) {
	if name := date.Format("January 2006"); len(y.Table) == 0 || y.Table[len(y.Table)-1].Name != name {
		y.Table = append(y.Table, month{Name: name})
		if date.Day() <= 7 && i/7 < service.Weeks-1 {
			y.Months = append(y.Months, mark{left + i/7*cell, top - 5, date.Format("Jan")})
		}
	}
	m := &y.Table[len(y.Table)-1]
	m.Runs += runs
	if runs > 0 {
		m.Days++
	}
}
