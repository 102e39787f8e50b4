package chart

import (
	"bytes"
	"embed"
	"html/template"
	"math"
	"strconv"
	"strings"
	"time"
)

//go:embed chart.html
var files embed.FS

var page = template.Must(template.ParseFS(files, "chart.html"))

// Chart is a chart over steps of time. All series have one value for each step.
type Chart struct {
	ID    string // of its element; prefix of the ids of its parts
	Title string
	Desc  string // description, one sentence
	Zone  *time.Location
	Times []time.Time   // start of each step
	Every time.Duration // interval of labels on the time axis; at most a day

	// Hint returns the tooltip of a step.
	Hint func(i int) string

	Panels []Panel
}

// Panel is a part of a chart with a separate axis. Panels are stacked.
type Panel struct {
	Name   string // title at its top
	Height int    // in pixels
	Mark   string // CSS class of its shapes
	Down   bool   // bars hang from the top
	Lines  bool   // lines on a logarithmic axis instead of bars on a linear one
	Label  func(v float64) string
	Series []Series
}

// Series is a list of values in the order of the times. NaN means no value. A panel of bars has one series.
type Series struct {
	Name   string
	Mark   string // CSS class
	Values []float64
}

// drawn is the input of the template.
type drawn struct {
	*Chart

	Width  int // of the drawing, in its own units: ten per step
	Panels []*panel
	Ticks  []tick
	Slots  []slot
	Height int
}

type panel struct {
	Panel

	Top    int
	Labels []label
	Bars   []bar
	Paths  []path
}

// Bottom returns the lower end of the panel.
func (p *panel) Bottom() int { return p.Top + p.Height }

type (
	label struct {
		Y    float64
		Text string
	}
	bar  struct{ X, Y, W, H float64 }
	path struct{ Mark, D string }
	slot struct {
		X    int
		Hint string
	}
	tick struct{ Percent, Text string }
)

const (
	stepWidth = 10
	panelGap  = 22 // between panels, for their names
	leastBar  = 2  // minimum height of a bar that is not zero, in pixels
)

// Draw returns the chart.
func (c *Chart) Draw() (template.HTML, error) {
	d := &drawn{Chart: c, Width: stepWidth * len(c.Times)}
	for _, p := range c.Panels {
		d.Height += panelGap
		one := &panel{Panel: p, Top: d.Height}
		if p.Lines {
			one.lines()
		} else {
			one.bars()
		}
		d.Height += p.Height
		d.Panels = append(d.Panels, one)
	}
	d.Height++ // the last line
	for i := range c.Times {
		d.Slots = append(d.Slots, slot{i * stepWidth, c.Hint(i)})
	}
	d.Ticks = c.ticks()
	var out bytes.Buffer
	err := page.ExecuteTemplate(&out, "chart", d)
	return template.HTML(out.String()), err //nolint:gosec // a template wrote it, which escapes
}

// bars positions the bars of a panel and the labels of its axis.
func (p *panel) bars() {
	most := 0.0
	for _, v := range p.Series[0].Values {
		if v > most { // not NaN
			most = v
		}
	}
	top, step := Round(most)
	y := func(v float64) float64 {
		h := v / top * float64(p.Height)
		if p.Down {
			return tenth(float64(p.Top) + h)
		}
		return tenth(float64(p.Top+p.Height) - h)
	}
	for v := 0.0; v <= top*1.0001; v += step {
		if p.Down && v == 0 {
			continue // already covered by the line above
		}
		p.Labels = append(p.Labels, label{y(v), p.Label(v)})
	}
	for i, v := range p.Series[0].Values {
		if !(v > 0) {
			continue
		}
		h := tenth(math.Max(v/top*float64(p.Height), leastBar))
		b := bar{X: float64(i*stepWidth) + 1, Y: float64(p.Top+p.Height) - h, W: stepWidth - 2, H: h}
		if p.Down {
			b.Y = float64(p.Top)
		}
		p.Bars = append(p.Bars, b)
	}
}

// tenth rounds to a visible precision.
func tenth(v float64) float64 { return math.Round(v*10) / 10 }

// lines positions the lines of a panel and the labels of its axis, which are powers of ten.
func (p *panel) lines() {
	low, high := math.Inf(1), math.Inf(-1)
	for _, s := range p.Series {
		for _, v := range s.Values {
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
		return tenth(float64(p.Top+p.Height) - (math.Log10(v)-from)/(to-from)*float64(p.Height))
	}
	for e := from; e <= to; e++ {
		p.Labels = append(p.Labels, label{y(math.Pow(10, e)), p.Label(math.Pow(10, e))})
	}
	for _, s := range p.Series {
		if d := line(s.Values, y); d != "" {
			p.Paths = append(p.Paths, path{s.Mark, d})
		}
	}
}

// line returns the path through values, with gaps for missing ones. A single value is a stroke as wide as its step.
func line(values []float64, y func(float64) float64) string {
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

// ticks returns the labels of the time axis, at round times of the zone.
func (c *Chart) ticks() (all []tick) {
	n := len(c.Times)
	if n < 2 || c.Every <= 0 {
		return nil
	}
	step := c.Times[1].Sub(c.Times[0])
	for i, at := range c.Times {
		at = at.In(c.Zone)
		sinceMidnight := time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute
		if sinceMidnight%c.Every >= step {
			continue
		}
		part := (float64(i) + 0.5) / float64(n)
		if part > 0.96 { // it would overflow on the right or, on a narrow page, overlap the previous label
			continue
		}
		t := tick{Percent: strconv.FormatFloat(100*part, 'f', 2, 64) + "%", Text: at.Format("15:04")}
		all = append(all, t)
	}
	return all
}

// Round returns the smallest round number that is at least most, as the end of an axis, and the step between its two to
// five labels.
func Round(most float64) (top, step float64) {
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
