package spec

import (
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/work"
)

// PerDay returns how many runs each of n days has, on the clock of [Plan.Zone], beginning with the day of an instant. The
// recurrence's count is applied as if every run took place. A job of every second costs no more than one of every hour, as
// runs are counted and not walked. Where even that takes too much work there are fewer days, and complete is false.
func (p *Plan) PerDay(from time.Time, n int) (runs []int, complete bool) {
	left := p.MaxRuns()
	m := work.New(yearWork)
	day := from.In(p.Zone())
	begin := time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, day.Location())
	if left > 0 {
		spent, exact := p.spent(m, begin.Add(-1))
		if !exact {
			return nil, false
		}
		m.Reset(yearWork)
		if left -= spent; left <= 0 {
			return make([]int, n), true
		}
	}
	for i := range n {
		end := time.Date(day.Year(), day.Month(), day.Day()+i+1, 0, 0, 0, 0, day.Location())
		count := p.count(m, begin, end.Add(-1))
		if m.Exhausted() {
			return runs, false
		}
		if left > 0 {
			if count = min(count, left); count == left {
				return append(append(runs, count), make([]int, n-i-1)...), true
			}
			left -= count
		}
		runs, begin = append(runs, count), end
	}
	return runs, true
}
