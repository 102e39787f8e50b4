package overview

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/console/words"
	"github.com/carillon-sched/carillon/scheduler/stats"
)

// chart is a chart of the shown steps, drawn by the template "chart": an SVG with round numbers on the axes, a description
// for screen readers, and a tooltip for each step. The drawing is stretched to the page's width. Text is placed next to it
// and does not scale, so that it stays readable on a narrow screen.
type chart struct {
	ID          string // of its element; prefix of the ids of its parts
	Title       string
	Desc        string // description, one sentence
	Name        string // of the axis, at its top
	Width       int    // of the drawing, in its own units: ten per step
	Top, Bottom int    // of the axis
	Labels      []axisLabel
	Bars        []bar
	Paths       []curve
	Ticks       []tick
	Bands       []bar  // outages: the steps in which attempts failed
	Slots       []slot // tooltips
	Of          *stats.Series
}

// Height returns the height of the drawing, with the last line.
func (c *chart) Height() int { return c.Bottom + 1 }

// y returns the place of a part of the axis.
func (c *chart) y(part float64) float64 {
	return tenth(float64(c.Bottom) - part*float64(c.Bottom-c.Top))
}

type (
	axisLabel struct {
		Y    float64
		Text string
	}
	bar struct {
		Mark       string
		X, Y, W, H float64
	}
	curve struct{ Mark, D string }
	slot  struct {
		X    int
		Hint string
	}
	tick struct{ Percent, Text string }
)

// line has the values of a line or of bars, in the order of the steps. NaN means no value.
type line struct {
	mark   string // CSS class
	values []float64
}

const (
	stepWidth  = 10
	nameHeight = 22 // of the name of the axis
	bandHeight = 6  // of an outage, at the top
	leastBar   = 2  // minimum height of a bar that is not zero, in pixels
)

// newChart returns an empty chart with an axis of a height.
func (s *shown) newChart(id, title, desc, name string, height int) *chart {
	of := s.series
	c := &chart{
		ID: id, Title: title, Desc: desc, Name: name, Width: stepWidth * len(of.Steps), Top: nameHeight, Bottom: nameHeight + height,
		Ticks: ticks(of, s.Range.Zone), Of: of,
	}
	for i := range of.Steps {
		switch n := len(c.Bands); {
		case of.Steps[i].Failed+of.Steps[i].Refused == 0:
		case n > 0 && c.Bands[n-1].X+c.Bands[n-1].W == float64(i*stepWidth):
			c.Bands[n-1].W += stepWidth
		default:
			c.Bands = append(c.Bands, bar{X: float64(i * stepWidth), W: stepWidth, H: bandHeight})
		}
	}
	return c
}

// hint adds the tooltip of the next step.
func (c *chart) hint(text string) { c.Slots = append(c.Slots, slot{len(c.Slots) * stepWidth, text}) }

// bars adds bars, stacked from the first line on, and the labels of their axis.
func (c *chart) bars(label func(v float64) string, stack ...line) {
	sums := make([]float64, len(stack[0].values))
	for _, l := range stack {
		for i, v := range l.values {
			if v > 0 { // not NaN
				sums[i] += v
			}
		}
	}
	most := 0.0
	for _, sum := range sums {
		most = max(most, sum)
	}
	top, step := round(most)
	for v := 0.0; v <= top*1.0001; v += step {
		c.Labels = append(c.Labels, axisLabel{c.y(v / top), label(v)})
	}
	for i := range sums {
		y := float64(c.Bottom)
		for _, l := range stack {
			if v := l.values[i]; v > 0 {
				h := tenth(math.Max(v/top*float64(c.Bottom-c.Top), leastBar))
				y = tenth(y - h)
				c.Bars = append(c.Bars, bar{l.mark, float64(i*stepWidth) + 1, y, stepWidth - 2, h})
			}
		}
	}
}

// tenth rounds to a visible precision.
func tenth(v float64) float64 { return math.Round(v*10) / 10 }

// lines adds lines and the labels of their axis, which is logarithmic: powers of ten.
func (c *chart) lines(label func(v float64) string, lines ...line) {
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
	y := func(v float64) float64 { return c.y((math.Log10(v) - from) / (to - from)) }
	for e := from; e <= to; e++ {
		c.Labels = append(c.Labels, axisLabel{y(math.Pow(10, e)), label(math.Pow(10, e))})
	}
	for _, l := range lines {
		if d := drawn(l.values, y); d != "" {
			c.Paths = append(c.Paths, curve{l.mark, d})
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

// tickLengths are the distances between labels of the time axis. A chart has at most seven labels.
var tickLengths = []time.Duration{
	time.Minute, 5 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour, 4 * time.Hour, 12 * time.Hour, stats.Day, 5 * stats.Day,
}

// ticks returns the labels of the time axis, at round times of a zone.
func ticks(of *stats.Series, zone *time.Location) (all []tick) {
	every := tickLengths[0]
	for _, every = range tickLengths {
		if of.Length() <= 7*every {
			break
		}
	}
	for i := range of.Steps {
		at := of.At(i).In(zone)
		_, offset := at.Zone()
		local := time.Duration(at.Unix()+int64(offset)) * time.Second // since 1970 on the clock of the zone
		part := (float64(i) + 0.5) / float64(len(of.Steps))
		if local%every >= of.Step || part < 0.04 || part > 0.96 { // nearer to a side, it would overlap another label or overflow
			continue
		}
		form := "15:04"
		if of.Length() > stats.Day && local%stats.Day < of.Step {
			form = words.Text("date.day")
		}
		all = append(all, tick{strconv.FormatFloat(100*part, 'f', 2, 64) + "%", words.Date(at, form)})
	}
	return all
}

// round returns the end of an axis, at least most, and the step between its labels: 1, 2 or 5 times a power of ten, and at
// most five steps.
func round(most float64) (top, step float64) {
	if !(most > 1) {
		return 1, 1
	}
	unit := math.Pow(10, math.Floor(math.Log10(most))-1)
	for _, times := range []float64{2, 5, 10, 20} {
		if step = max(1, times*unit); step*5 >= most*0.9999 {
			break
		}
	}
	return math.Ceil(most*0.9999/step) * step, step
}
