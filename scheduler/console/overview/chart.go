package overview

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/stats"
)

// chart is a chart of the shown steps, drawn by the template "chart": an SVG with round numbers on the axes, a description
// for screen readers, and a tooltip for each step. The drawing is stretched to the page's width. Text is placed next to it
// and does not scale, so that it stays readable on a narrow screen.
type chart struct {
	ID            string // of its element; prefix of the ids of its parts
	Title         string
	Desc          string // description, one sentence
	Width, Height int    // of the drawing, in its own units: ten per step
	Panels        []*panel
	Ticks         []tick
	Slots         []slot // tooltips
}

// panel is a part of a chart with a separate axis. Panels are stacked.
type panel struct {
	Name   string // title at its top
	Height int    // in pixels
	Mark   string // CSS class of its bars
	Down   bool   // bars hang from the top

	Top    int
	Labels []axisLabel
	Bars   []bar
	Paths  []curve
}

// Bottom returns the lower end of the panel.
func (p *panel) Bottom() int { return p.Top + p.Height }

type (
	axisLabel struct {
		Y    float64
		Text string
	}
	bar   struct{ X, Y, W, H float64 }
	curve struct{ Mark, D string }
	slot  struct {
		X    int
		Hint string
	}
	tick struct{ Percent, Text string }
)

// line has the values of a line, in the order of the steps. NaN means no value.
type line struct {
	mark   string // CSS class
	values []float64
}

const (
	stepWidth = 10
	panelGap  = 22 // between panels, for their names
	leastBar  = 2  // minimum height of a bar that is not zero, in pixels
)

// newChart returns a chart with empty panels.
func (s *shown) newChart(id, title, desc string, panels ...*panel) *chart {
	of, every := s.Series(), 10*time.Minute
	if s.Day {
		every = 4 * time.Hour
	}
	c := &chart{
		ID: id, Title: title, Desc: desc, Width: stepWidth * len(of.Steps), Panels: panels, Ticks: ticks(of, s.Zone, every),
	}
	for _, p := range panels {
		p.Top = c.Height + panelGap
		c.Height = p.Bottom()
	}
	c.Height++ // the last line
	return c
}

// hint adds the tooltip of the next step.
func (c *chart) hint(text string) { c.Slots = append(c.Slots, slot{len(c.Slots) * stepWidth, text}) }

// bars adds bars and the labels of their axis.
func (p *panel) bars(values []float64, label func(v float64) string) {
	most := 0.0
	for _, v := range values {
		if v > most { // not NaN
			most = v
		}
	}
	top, step := round(most)
	y := func(v float64) float64 {
		h := v / top * float64(p.Height)
		if p.Down {
			return tenth(float64(p.Top) + h)
		}
		return tenth(float64(p.Bottom()) - h)
	}
	for v := 0.0; v <= top*1.0001; v += step {
		if p.Down && v == 0 {
			continue // already covered by the line above
		}
		p.Labels = append(p.Labels, axisLabel{y(v), label(v)})
	}
	for i, v := range values {
		if !(v > 0) {
			continue
		}
		h := tenth(math.Max(v/top*float64(p.Height), leastBar))
		b := bar{X: float64(i*stepWidth) + 1, Y: float64(p.Bottom()) - h, W: stepWidth - 2, H: h}
		if p.Down {
			b.Y = float64(p.Top)
		}
		p.Bars = append(p.Bars, b)
	}
}

// tenth rounds to a visible precision.
func tenth(v float64) float64 { return math.Round(v*10) / 10 }

// lines adds lines and the labels of their axis, which is logarithmic: powers of ten.
func (p *panel) lines(label func(v float64) string, lines ...line) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, l := range lines {
		for _, v := range l.values {
			if v > 0 {
				low, high = math.Min(low, v), math.Max(high, v)
			}
		}
	}
	if math.IsInf(low, 1) {
		low, high = 1, 1
	}
	from, to := math.Floor(math.Log10(low)), math.Ceil(math.Log10(high))
	if to <= from {
		to = from + 1
	}
	y := func(v float64) float64 {
		return tenth(float64(p.Bottom()) - (math.Log10(v)-from)/(to-from)*float64(p.Height))
	}
	for e := from; e <= to; e++ {
		p.Labels = append(p.Labels, axisLabel{y(math.Pow(10, e)), label(math.Pow(10, e))})
	}
	for _, l := range lines {
		if d := drawn(l.values, y); d != "" {
			p.Paths = append(p.Paths, curve{l.mark, d})
		}
	}
}

// drawn returns the path through values, with gaps for missing ones. A single value is a stroke as wide as its step.
func drawn(values []float64, y func(float64) float64) string {
	var d strings.Builder
	there := func(i int) bool { return i >= 0 && i < len(values) && values[i] > 0 }
	to := func(verb string, x int, v float64) {
		d.WriteString(verb + strconv.Itoa(x) + " " + strconv.FormatFloat(y(v), 'f', -1, 64))
	}
	for i, v := range values {
		x := i*stepWidth + stepWidth/2
		switch {
		case !there(i):
		case there(i - 1):
			to("L", x, v)
		case there(i + 1):
			to("M", x, v)
		default:
			to("M", i*stepWidth+1, v)
			d.WriteString("h" + strconv.Itoa(stepWidth-2))
		}
	}
	return d.String()
}

// ticks returns the labels of the time axis, at round times of a zone.
func ticks(of *stats.Series, zone *time.Location, every time.Duration) (all []tick) {
	for i := range of.Steps {
		at := of.At(i).In(zone)
		sinceMidnight := time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute
		part := (float64(i) + 0.5) / float64(len(of.Steps))
		if sinceMidnight%every >= of.Step || part > 0.96 { // further right, it would overflow or overlap the previous label
			continue
		}
		all = append(all, tick{strconv.FormatFloat(100*part, 'f', 2, 64) + "%", at.Format("15:04")})
	}
	return all
}

// round returns the smallest round number that is at least most, as the end of an axis, and the step between its two to
// five labels.
func round(most float64) (top, step float64) {
	if !(most > 1) {
		return 1, 1
	}
	unit := math.Pow(10, math.Floor(math.Log10(most)))
	for _, one := range []struct{ top, step float64 }{{1, 0.5}, {2, 1}, {3, 1}, {4, 2}, {5, 2.5}, {6, 2}, {8, 4}, {10, 5}} {
		if top := one.top * unit; top >= most*0.9999 {
			step = one.step * unit
			if step != math.Trunc(step) { // counts have no fractions
				step = top
			}
			return top, step
		}
	}
	return 10 * unit, 5 * unit
}
