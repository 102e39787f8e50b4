package load

import (
	"fmt"
	"math"
	"sort"
	"time"

	"github.com/carillon-sched/carillon/scheduler/console/words"
	"github.com/carillon-sched/carillon/scheduler/forecast"
)

// The dimensions of the heat map, in units of its drawing.
const (
	cellWidth  = 12
	cellHeight = 16
	labelWidth = 108
	headHeight = 20
)

// levels is the number of steps above zero.
const levels = 6

// heatMap shows the minutes of a forecast, with one row per hour of a zone. A repeated hour has two rows. Rows begin at
// the full hours of the zone, also if its UTC offset has half hours.
type heatMap struct {
	Rows          []heatRow
	Legend        []heatStep
	Ticks         []heatTick
	Width, Height int
	Zone          string
}

// heatRow is an hour.
type heatRow struct {
	From    time.Time
	Label   string
	Y       int
	TextY   int
	Cells   []heatCell // adjacent minutes with equal numbers are merged
	Runs    int
	Peak    int
	PeakAt  time.Time // the first minute with that number
	Quarter [4]int
}

// heatCell is a range of minutes with equal numbers.
type heatCell struct {
	X, Width int
	Level    int
	Runs     int // per minute
	Minutes  int
	Title    string
}

// heatStep is a step of the legend.
type heatStep struct {
	Level int
	Text  string
}

// heatTick is a label above the heat map.
type heatTick struct {
	X    int
	Text string
}

// newHeatMap returns the heat map of a report.
func newHeatMap(r *forecast.Report, zone *time.Location) heatMap {
	m := heatMap{Width: labelWidth + 60*cellWidth, Zone: zone.String(), Legend: legend(r.Peak)}
	for minute := 0; minute < 60; minute += 5 {
		m.Ticks = append(m.Ticks, heatTick{labelWidth + minute*cellWidth, fmt.Sprintf(":%02d", minute)})
	}
	form := "Mon 02 15:00"
	if offset(r.From.In(zone)) != offset(r.To.In(zone)) { // an hour may repeat
		form += " -07:00"
	}
	var row *heatRow
	var hour time.Time
	for i, n := range r.PerMinute {
		at := r.From.Add(time.Duration(i) * time.Minute).In(zone)
		begins := at.Add(-time.Duration(at.Minute()) * time.Minute)
		if row == nil || !begins.Equal(hour) {
			y := headHeight + len(m.Rows)*cellHeight
			m.Rows = append(m.Rows, heatRow{From: at, Label: words.Date(begins, form), Y: y, TextY: y + cellHeight - 4})
			row, hour = &m.Rows[len(m.Rows)-1], begins
		}
		row.add(at, n, r.Peak)
	}
	for i := range m.Rows {
		m.Rows[i].title()
	}
	m.Height = headHeight + len(m.Rows)*cellHeight
	return m
}

// offset returns the UTC offset of a time: +02:00.
func offset(t time.Time) string { return t.Format("-07:00") }

// add adds a minute.
func (r *heatRow) add(at time.Time, runs, peak int) {
	r.Runs += runs
	r.Quarter[at.Minute()/15] += runs
	if runs > r.Peak {
		r.Peak, r.PeakAt = runs, at
	}
	x := labelWidth + at.Minute()*cellWidth
	if n := len(r.Cells); n > 0 {
		if last := &r.Cells[n-1]; last.Runs == runs && last.X+last.Width == x {
			last.Width += cellWidth
			last.Minutes++
			return
		}
	}
	r.Cells = append(r.Cells, heatCell{X: x, Width: cellWidth, Level: level(runs, peak), Runs: runs, Minutes: 1})
}

// title sets the tooltips of the cells.
func (r *heatRow) title() {
	begins := r.From.Add(-time.Duration(r.From.Minute()) * time.Minute)
	for i := range r.Cells {
		c := &r.Cells[i]
		first := begins.Add(time.Duration((c.X-labelWidth)/cellWidth) * time.Minute)
		if c.Minutes == 1 {
			c.Title = first.Format("15:04") + ": " + words.Count("common.runs", c.Runs)
			continue
		}
		last := first.Add(time.Duration(c.Minutes-1) * time.Minute)
		c.Title = first.Format("15:04") + "–" + last.Format("15:04") + ": " + words.Text("load.each", words.Count("common.runs", c.Runs))
	}
}

// level returns the step of a minute: the square root of its share of the peak, so that values far below the peak
// remain distinguishable.
func level(runs, peak int) int {
	if runs <= 0 || peak <= 0 {
		return 0
	}
	return min(levels, int(math.Ceil(levels*math.Sqrt(float64(runs)/float64(peak)))))
}

// legend returns the range of runs of each step, without empty steps.
func legend(peak int) []heatStep {
	steps := []heatStep{{0, "0"}}
	from := 1
	for at := 1; at <= levels && from <= peak; at++ {
		to := sort.Search(peak, func(n int) bool { return level(n+1, peak) > at }) // the last number of the step
		if to < from {
			continue
		}
		text := words.Number(from)
		if to > from {
			text += "–" + words.Number(to)
		}
		steps = append(steps, heatStep{at, text})
		from = to + 1
	}
	return steps
}
