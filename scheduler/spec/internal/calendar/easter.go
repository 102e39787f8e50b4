package calendar

import (
	"slices"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/work"
)

// The offsets from Easter Sunday whose day is in the same year, for every year.
const (
	FirstOfEaster = -80
	LastOfEaster  = 250
)

// Easter returns Easter Sunday of a year in the western churches, by the formula of python-dateutil.
func Easter(year int64) int64 {
	golden, century := year%19, year/100
	h := (century - century/4 - (8*century+13)/25 + 19*golden + 15) % 30
	i := h - h/28*(1-h/28*(29/(h+1))*((21-golden)/11))
	j := (year + year/4 + i + 2 - century + century/4) % 7
	return FirstDay(12*year+2) + i - j + 27
}

// OfEaster returns the dates that are so many days from Easter Sunday of their year.
func (d *Dates) OfEaster(m *work.Meter, offsets []int) Dates {
	list := []int64{}
	for year := int64(1); year <= lastYear && m.Spend(int64(len(offsets))); year++ {
		easter := Easter(year)
		for _, n := range offsets {
			if day := easter + int64(n); d.Has(day) {
				list = append(list, day)
			}
		}
	}
	return Dates{Days: d.Days, Unit: listed, rare: slices.Clip(list)}
}
