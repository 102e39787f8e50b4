package engine

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/bubble"
)

// TestPace lets runs end so long after the first, and wants each to go so long after that.
func TestPace(t *testing.T) {
	const ms = time.Millisecond
	many := func(n int, at time.Duration) []time.Duration { return slices.Repeat([]time.Duration{at}, n) }
	for name, row := range map[string]struct{ ends, goes []time.Duration }{
		"by itself":           {[]time.Duration{0, 20 * ms, 50 * ms}, []time.Duration{0, 20 * ms, 50 * ms}},
		"shortly after":       {[]time.Duration{0, ms, 2 * ms, 19 * ms}, []time.Duration{0, 20 * ms, 20 * ms, 20 * ms}},
		"and again":           {[]time.Duration{0, 19 * ms, 21 * ms, 39 * ms, 41 * ms}, []time.Duration{0, 20 * ms, 40 * ms, 40 * ms, 60 * ms}},
		"some, and a pause":   {[]time.Duration{0, ms, 40 * ms, 41 * ms}, []time.Duration{0, 20 * ms, 40 * ms, 60 * ms}},
		"as many as may wait": {many(15, 0), append([]time.Duration{0}, many(14, 20*ms)...)},
		"a herd":              {many(100, 0), many(100, 0)},
		"amid a herd":         {append(many(100, 0), 10*ms, 20*ms), append(many(100, 0), 10*ms, 20*ms)},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				var p pace
				var all sync.WaitGroup
				began, goes := time.Now(), make([]time.Duration, len(row.ends))
				for i, at := range row.ends {
					time.Sleep(time.Until(began.Add(at)))
					all.Go(func() {
						p.join()
						goes[i] = time.Since(began)
					})
				}
				all.Wait()
				slices.Sort(goes) // those of one instant join in any order
				if got, want := fmt.Sprint(goes), fmt.Sprint(row.goes); got != want {
					t.Errorf("they go at %s, want %s", got, want)
				}
			})
		})
	}
}
