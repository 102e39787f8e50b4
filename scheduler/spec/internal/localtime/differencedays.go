package localtime

import (
	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/work"
)

// begin fills found for a search of days: each plus tile has been looked for up to a day.
func (d *Difference) begin(found *[MaxTiles]int64, day int64) {
	for i := range d.plus {
		found[i] = day
	}
}

// nextDay returns the first day not before day that has a plus tile and may have times left. ahead holds, for each plus
// tile, a day before which the search will not find it, so that tiles with rare days are looked for rarely.
func (d *Difference) nextDay(m *work.Meter, day int64, ahead *[MaxTiles]int64) (int64, bool) {
	for range calendar.SearchLimit {
		live, ok := d.live.Next(day)
		if !ok || !m.Spend(int64(len(d.plus))) {
			return 0, false
		}
		best := int64(calendar.Forever)
		for i := range d.plus {
			if ahead[i] < live {
				if ahead[i], ok = d.plus[i].Dates.Next(m, live); !ok {
					ahead[i] = calendar.Forever
				}
			}
			best = min(best, ahead[i])
		}
		if best == live || best == calendar.Forever {
			return best, best != calendar.Forever
		}
		day = best
	}
	return 0, m.GiveUp()
}

// lastDay returns the last day not after day that has a plus tile and may have times left. behind holds, for each plus
// tile, a day after which the search will not find it.
func (d *Difference) lastDay(m *work.Meter, day int64, behind *[MaxTiles]int64) (int64, bool) {
	for range calendar.SearchLimit {
		live, ok := d.live.Last(day)
		if !ok || !m.Spend(int64(len(d.plus))) {
			return 0, false
		}
		best := int64(-calendar.Forever)
		for i := range d.plus {
			if behind[i] > live {
				if behind[i], ok = d.plus[i].Dates.Last(m, live); !ok {
					behind[i] = -calendar.Forever
				}
			}
			best = max(best, behind[i])
		}
		if best == live || best == -calendar.Forever {
			return best, best != -calendar.Forever
		}
		day = best
	}
	return 0, m.GiveUp()
}

// barren remembers the layers, the latest few, that leave nothing of a day.
type barren struct {
	seen [8]layers
	n    int
}

func (b *barren) knows(l layers) bool {
	for i := range min(b.n, len(b.seen)) {
		if b.seen[i] == l {
			return true
		}
	}
	return false
}

func (b *barren) add(l layers) {
	b.seen[b.n%len(b.seen)] = l
	b.n++
}
