package localtime

import (
	"slices"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/work"
)

// List is single local times in ascending order.
type List []int64

// Next implements [Set].
func (l List) Next(m *work.Meter, w int64) (int64, bool) {
	i, _ := slices.BinarySearch(l, w)
	m.Spend(1)
	if i == len(l) {
		return 0, false
	}
	return l[i], true
}

// Last implements [Set].
func (l List) Last(m *work.Meter, w int64) (int64, bool) {
	i, _ := slices.BinarySearch(l, w+1)
	m.Spend(1)
	if i == 0 {
		return 0, false
	}
	return l[i-1], true
}

// Count implements [Set].
func (l List) Count(_ *work.Meter, a, b int64) int64 {
	from, _ := slices.BinarySearch(l, a)
	to, _ := slices.BinarySearch(l, b+1)
	return int64(max(0, to-from))
}
