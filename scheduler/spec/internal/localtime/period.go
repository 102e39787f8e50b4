package localtime

import (
	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
)

// PeriodOf returns a number of seconds after which sets repeat themselves, 0 if that takes longer than the calendar.
func PeriodOf(tiles []Tile, steps []*StepSet) int64 {
	turn := int64(1)
	join := func(n int64) {
		if turn /= calendar.GCD(turn, n); turn > calendar.LastSecond/n {
			turn = 0
			return
		}
		turn *= n
	}
	for _, s := range steps {
		join(s.unit * s.grid.Step)
		tiles = append(tiles, s.tile)
	}
	for _, t := range tiles {
		days := int64(1)
		switch {
		case t.Dates.Days.Weekly():
			days = 7
		case t.Dates.Days != calendar.EveryDay:
			days = calendar.DaysPer400Years
		}
		join(days * calendar.DayLength)
		switch c := t.Dates.Cycle; t.Dates.Unit {
		case calendar.EachDay:
		case calendar.ByDay:
			join(c.Step * c.Length * calendar.DayLength)
		default:
			return 0
		}
		if turn == 0 {
			return 0
		}
	}
	return turn
}
