package overview

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/stats"
)

// minutes are the steps of a chart from 12:00 on.
func minutes(n int) *stats.Series {
	return &stats.Series{Start: time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC), Step: time.Minute, Steps: make([]stats.Minute, n)}
}

// sample is a chart with stacked bars, and one with lines.
func sample(n int, value func(i int) float64) (string, error) {
	s := shown{Range: &frame.TimeRange{Zone: time.UTC}, series: minutes(n)}
	c := s.newChart("c", "Runs <now>", "What ran & failed", "bars", 100)
	other := s.newChart("d", "Runs <now>", "What ran & failed", "lines", 100)
	values := make([]float64, n)
	for i := range n {
		values[i] = value(i)
		c.hint(fmt.Sprintf("step %d: \"<b>\"", i))
	}
	label := func(v float64) string { return fmt.Sprint(v) }
	c.bars(label, line{"low", values}, line{"high", values})
	other.lines(label, line{"a", values}, line{"b", values})
	drawn, err := frame.Written(page, "chart", c)
	if err != nil {
		return "", err
	}
	lines, err := frame.Written(page, "chart", other)
	return "<charts>" + drawn + lines + "</charts>", err
}

// TestChartsAreWellFormed draws whatever there may be, and reads it as XML.
func TestChartsAreWellFormed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 80).Draw(t, "steps")
		value := rapid.OneOf(rapid.Float64Range(0, 1e12), rapid.Just(math.NaN()), rapid.Just(0.0), rapid.Float64Range(0, 1e-9))
		drawn, err := sample(n, func(int) float64 { return value.Draw(t, "value") })
		if err != nil {
			t.Fatal(err)
		}
		for d := xml.NewDecoder(strings.NewReader(drawn)); ; {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%v:\n%s", err, drawn)
			}
			if e, ok := token.(xml.StartElement); ok {
				for _, a := range e.Attr {
					if a.Name.Local == "style" || strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") || strings.Contains(a.Value, "ZgotmplZ") {
						t.Fatalf("%s has %s=%q", e.Name.Local, a.Name.Local, a.Value)
					}
				}
			}
		}
	})
}

// TestWhatIsDrawn looks at a chart with one value.
func TestWhatIsDrawn(t *testing.T) {
	drawn, err := sample(30, func(i int) float64 { return map[bool]float64{true: 120, false: math.NaN()}[i == 3] })
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`<title id="c-title">Runs &lt;now&gt;</title>`, `<desc id="c-desc">What ran &amp; failed</desc>`,
		`<rect class="low" x="31" y="74" width="8" height="48"/>`, // 120 of 250
		`<rect class="high" x="31" y="26" width="8" height="48"/>`,
		`<path class="a" d="M31 114.1h8"`, // alone, between 100 and 1000
		`<title>step 3: &#34;&lt;b&gt;&#34;</title>`,
		`text-anchor="middle">12:10</text>`,
	} {
		if !strings.Contains(drawn, want) {
			t.Errorf("there is no %s in\n%s", want, drawn)
		}
	}
}

// TestOutages marks the steps in which attempts failed, and whether or not their runs did.
func TestOutages(t *testing.T) {
	of := minutes(60)
	of.Steps[3].Refused, of.Steps[4].Failed, of.Steps[6].Refused, of.Steps[7].Completed = 1, 1, 1, 1
	s := shown{Range: &frame.TimeRange{Zone: time.UTC}, series: of}
	for _, c := range []*chart{s.RunsChart(), s.LatenessChart()} {
		if want := []bar{{X: 30, W: 20, H: bandHeight}, {X: 60, W: 10, H: bandHeight}}; !slices.Equal(c.Bands, want) {
			t.Errorf("%s: %+v, want %+v", c.ID, c.Bands, want)
		}
	}
}

// TestRound ends axes.
func TestRound(t *testing.T) {
	for most, want := range map[float64][2]float64{
		0: {1, 1}, 1: {1, 1}, 2: {2, 1}, 3: {3, 1}, 4: {4, 1}, 5: {5, 1}, 7: {8, 2}, 11: {15, 5}, 99: {100, 20}, 100: {100, 20},
		120: {150, 50}, 450: {500, 100}, 30_000: {30_000, 10_000}, 30_001: {30_000, 10_000}, 31_000: {40_000, 10_000},
	} {
		if top, step := round(most); top != want[0] || step != want[1] {
			t.Errorf("%g: to %g by %g, want %v", most, top, step, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.Float64Range(0, 1e15).Draw(t, "most")
		top, step := round(most)
		if top < most*0.999 || step <= 0 || top/step > 5.01 || most > 10 && top > 1.6*most {
			t.Fatalf("%g: to %g by %g", most, top, step)
		}
	})
}

// TestTimesAreRoundInTheirZone has a zone that is half an hour off, and ranges of several lengths.
func TestTimesAreRoundInTheirZone(t *testing.T) {
	for _, test := range []struct {
		step  time.Duration
		steps int
		want  string
	}{
		{time.Minute, 15, "17:35 17:40"},
		{time.Minute, 60, "17:40 17:50 18:00 18:10 18:20"},
		{5 * time.Minute, 72, "18:00 19:00 20:00 21:00 22:00 23:00"},
		{10 * time.Minute, 144, "20:00 00:00 04:00 08:00 12:00 16:00"},
		{time.Hour, 48, "3 Mar 12:30 4 Mar 12:30"},
		{6 * time.Hour, 120, "8 Mar 13 Mar 18 Mar 23 Mar 28 Mar"},
	} {
		var texts []string
		for _, one := range ticks(&stats.Series{Start: minutes(1).Start, Step: test.step, Steps: make([]stats.Minute, test.steps)}, time.FixedZone("half", 5*3600+1800)) {
			texts = append(texts, one.Text)
		}
		if got := strings.Join(texts, " "); got != test.want {
			t.Errorf("%d steps of %v: %s, want %s", test.steps, test.step, got, test.want)
		}
	}
	if first := ticks(minutes(60), time.UTC)[0]; first.Percent != "17.50%" {
		t.Errorf("got %v", first)
	}
}

// TestTimesStayApart has no label at the edges: at the left one, it would be on the lowest label of the other axis, and at the
// right one, on the one before or outside.
func TestTimesStayApart(t *testing.T) {
	for n := range 200 {
		for _, one := range ticks(minutes(n), time.UTC) {
			if part, err := strconv.ParseFloat(strings.TrimSuffix(one.Percent, "%"), 64); err != nil || part < 4 || part > 96 {
				t.Errorf("of %d minutes: %v", n, one)
			}
		}
	}
}
