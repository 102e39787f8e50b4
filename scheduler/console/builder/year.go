package builder

import (
	"math"
	"strconv"
	"time"

	"github.com/carillon-sched/carillon/scheduler/console/words"
	"github.com/carillon-sched/carillon/scheduler/service"
)

// year is how many runs the days of a year have, as it is drawn: a column for each week, a row for each weekday, and each
// half of the year below the other.
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
	half   = 27 // weeks in a band: there are two of them, so that a year fits on a telephone
	band   = top + 7*cell + 6
)

// at returns where a day is drawn, counted from the first Monday.
func at(i int) (x, y int) {
	week := i / 7
	return left + week%half*cell, week/half*band + top + i%7*cell
}

// heats are the colours, and the most runs of a day that each stands for. They are fixed, so that two schedules can be
// compared. The palest is left out: a day with a run must be told from one without.
var heats = []struct{ heat, most int }{{0, 0}, {2, 1}, {3, 4}, {4, 24}, {5, 288}, {6, math.MaxInt}}

// heat is the colour of a number of runs.
func heat(runs int) int {
	for _, h := range heats {
		if runs <= h.most {
			return h.heat
		}
	}
	return 0
}

// newYear draws what was found.
func newYear(o *service.Outlook) *year {
	if len(o.Days) == 0 {
		return nil
	}
	y := &year{Width: left + half*cell, Height: 2*band - 6, Cut: len(o.Days) < service.Weeks*7}
	for row, name := range []string{"Mon", "", "Wed", "", "Fri"} {
		for _, first := range []int{0, half * 7} {
			if _, top := at(first + row); name != "" {
				y.Weekdays = append(y.Weekdays, mark{0, top + square - 1, name})
			}
		}
	}
	for _, h := range heats {
		y.Legend = append(y.Legend, level{h.heat, words.Say("builder.heat." + strconv.Itoa(h.heat))})
	}
	total, busiest, most := 0, 0, time.Time{}
	for i, runs := range o.Days {
		date := time.Date(o.From.Year(), o.From.Month(), o.From.Day()+i, 12, 0, 0, 0, time.UTC) // noon is on every day
		d := day{Heat: heat(runs)}
		d.X, d.Y = at(i)
		if runs > 0 {
			d.Text = date.Format("Mon 2 Jan 2006: ") + words.Count("builder.runs", runs)
		}
		if runs > busiest {
			busiest, most = runs, date
		}
		total += runs
		y.Days = append(y.Days, d)
		y.month(date, i, runs)
	}
	y.Text = words.Say("builder.year.none")
	if total > 0 {
		y.Text = words.Say("builder.year.text", words.Count("builder.runs", total), o.From.Format("2 January 2006"),
			words.Count("builder.runs", busiest), most.Format("2 January 2006"))
	}
	return y
}

// month adds a day to its month.
func (y *year) month(date time.Time, i, runs int) {
	if name := date.Format("January 2006"); len(y.Table) == 0 || y.Table[len(y.Table)-1].Name != name {
		y.Table = append(y.Table, month{Name: name})
		if x, top := at(i - i%7); date.Day() <= 7 && i/7 < service.Weeks-1 {
			y.Months = append(y.Months, mark{x, top - 5, date.Format("Jan")})
		}
	}
	m := &y.Table[len(y.Table)-1]
	m.Runs += runs
	if runs > 0 {
		m.Days++
	}
}
