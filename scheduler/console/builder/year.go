package builder

import (
	"math"
	"strconv"
	"time"

	"github.com/carillon-sched/carillon/scheduler/console/words"
	"github.com/carillon-sched/carillon/scheduler/service"
)

// year is the number of runs per day of a year: a column for each week, a row for each weekday, in two bands, one below
// the other.
type year struct {
	Width, Height int
	Days          []day
	Weekdays      []mark
	Months        []mark
	Legend        []level
	Table         []month
	Text          string // description for screen readers
	Cut           bool   // some days are missing
}

// day is a square.
type day struct {
	X, Y int
	Heat int    // 0-6
	Text string // "" for a day without runs
}

// mark is a positioned word.
type mark struct {
	X, Y int
	Text string
}

// level is the legend of a heat.
type level struct {
	Heat int
	Text string
}

// month is a row of the equivalent table.
type month struct {
	Name string
	Runs int
	Days int // days with runs
}

// The dimensions of the drawing.
const (
	cell   = 12 // a day with its margin
	left   = 30 // for the names of weekdays
	top    = 16 // for the names of months
	square = 10
	half   = 27 // weeks in one of two bands, so that a year fits on a phone
	band   = top + 7*cell + 6
)

// at returns the position of a day, counted from the first Monday.
func at(i int) (x, y int) {
	week := i / 7
	return left + week%half*cell, week/half*band + top + i%7*cell
}

// heats are the colors with the maximum number of runs per day. They are fixed, so that schedules are comparable. The
// palest color is unused, so that days with and without a run are easy to distinguish.
var heats = []struct{ heat, most int }{{0, 0}, {2, 1}, {3, 4}, {4, 24}, {5, 288}, {6, math.MaxInt}}

// heat returns the color of a number of runs.
func heat(runs int) int {
	for _, h := range heats {
		if runs <= h.most {
			return h.heat
		}
	}
	return 0
}

// newYear returns the chart of a preview.
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
		date := time.Date(o.From.Year(), o.From.Month(), o.From.Day()+i, 12, 0, 0, 0, time.UTC) // each day has a noon
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
