package overview

import (
	"math"
	"time"

	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/words"
	"github.com/carillon-sched/carillon/scheduler/stats"
)

// axisHeight is the height of an axis, in pixels.
const axisHeight = 180

// when returns the time of a step for its tooltip.
func (s *shown) when(of *stats.Series, i int) string {
	if i == len(of.Steps)-1 {
		return words.Text("overview.step.now", s.Clock(of.At(i)))
	}
	return s.Clock(of.At(i))
}

// per returns the period whose runs the chart shows, and its name.
func (s *shown) per() (unit time.Duration, name string) {
	if s.series.Step >= time.Hour {
		return time.Hour, "hour"
	}
	return time.Minute, "minute"
}

// RunsTitle returns the title of the chart of runs.
func (s *shown) RunsTitle() string {
	_, unit := s.per()
	return words.Text("overview.runs.per." + unit)
}

// RunsChart returns the chart of ended runs per minute or hour.
func (s *shown) RunsChart() *chart {
	c := s.newChart("runs-chart", s.RunsTitle(), s.RunsText(), "", axisHeight)
	of := s.series
	completed, failed := make([]float64, len(of.Steps)), make([]float64, len(of.Steps))
	for i := range of.Steps {
		completed[i], failed[i] = s.rateOf(of.Steps[i].Completed), s.rateOf(of.Steps[i].Failed)
		c.hint(words.Text("overview.runs.step", s.when(of, i), rate(completed[i]), rate(failed[i])))
	}
	c.bars(rate, line{"bar-completed", completed}, line{"bar-failed", failed})
	return c
}

// RunsText summarizes it in a sentence.
func (s *shown) RunsText() string {
	of := s.series
	var completed, failed uint64
	most := 0.0
	for i := range of.Steps {
		m := &of.Steps[i]
		completed, failed = completed+m.Completed, failed+m.Failed
		most = max(most, s.rateOf(m.Runs()))
	}
	if completed+failed == 0 {
		return words.Text("overview.runs.none", s.Range.Text())
	}
	_, unit := s.per()
	return words.Text("overview.runs.desc."+unit, s.Range.Text(), words.Number(completed), words.Number(failed), rate(most))
}

// rateOf returns the rate of the runs of a step.
func (s *shown) rateOf(n uint64) float64 {
	unit, _ := s.per()
	return float64(n) * float64(unit) / float64(s.series.Step)
}

// LatenessChart returns the chart of the delay between due time and start of attempts.
func (s *shown) LatenessChart() *chart {
	c := s.newChart("lateness-chart", words.Text("overview.lateness"), s.LatenessText(), words.Text("overview.lateness.axis"), axisHeight)
	of := s.series
	half, most := make([]float64, len(of.Steps)), make([]float64, len(of.Steps))
	for i := range of.Steps {
		h := &of.Steps[i].Lateness
		half[i], most[i] = seconds(h.Quantile(0.5)), seconds(h.Quantile(0.99))
		if math.IsNaN(half[i]) {
			c.hint(words.Text("overview.lateness.still", s.when(of, i)))
		} else {
			c.hint(words.Text("overview.lateness.step", s.when(of, i), lateness(half[i]), lateness(most[i])))
		}
	}
	c.lines(lateness, line{"line-half", half}, line{"line-most", most})
	return c
}

// LatenessText summarizes it in a sentence.
func (s *shown) LatenessText() string {
	all := sum(s.series)
	p50, ok := all.Quantile(0.5)
	if !ok {
		return words.Text("overview.lateness.none", s.Range.Text())
	}
	p99, _ := all.Quantile(0.99)
	return words.Text("overview.lateness.desc", s.Range.Text(), rounded(p50), rounded(p99))
}

// LateNow returns the 99th percentile of the lateness in the last hour; "" without attempts.
func (s *shown) LateNow() string {
	if d, ok := sum(&s.Board.Hour).Quantile(0.99); ok {
		return rounded(d)
	}
	return ""
}

// sum adds the lateness of all steps.
func sum(of *stats.Series) *stats.Histogram {
	all := &stats.Histogram{}
	for i := range of.Steps {
		all.Add(&of.Steps[i].Lateness)
	}
	return all
}

// rate formats a rate, with one decimal if it is low.
func rate(v float64) string {
	if v < 10 && v != math.Trunc(v) {
		return words.Number(math.Round(v*10) / 10)
	}
	return words.Number(int64(math.Round(v)))
}

func seconds(d time.Duration, ok bool) float64 {
	if !ok {
		return math.NaN()
	}
	return d.Seconds()
}

func lateness(v float64) string { return rounded(time.Duration(v * float64(time.Second))) }

// rounded formats a duration with its two significant digits.
func rounded(d time.Duration) string {
	unit := time.Duration(1)
	for d/unit >= 100 {
		unit *= 10
	}
	return frame.Took(d.Round(unit))
}
