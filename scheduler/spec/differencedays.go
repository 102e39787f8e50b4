package spec

// expect fills ahead for a search of days from day on.
func (m *mosaic) expect(ahead *[maxTiles]int64, day int64) {
	for i := range m.plus {
		ahead[i] = day - 1
	}
}

// recall fills behind for a search of days from day back.
func (m *mosaic) recall(behind *[maxTiles]int64, day int64) {
	for i := range m.plus {
		behind[i] = day + 1
	}
}

// nextDay returns the first day not before day that has a plus tile and may have times left. ahead holds, for each plus
// tile, a day before which the search will not find it, so that tiles with rare days are looked for rarely.
func (m *mosaic) nextDay(day int64, ahead *[maxTiles]int64) (int64, bool) {
	for range searchLimit {
		live, ok := m.live.next(day)
		if !ok {
			return 0, false
		}
		best := int64(forever)
		for i := range m.plus {
			if ahead[i] < live {
				if ahead[i], ok = m.plus[i].dates.next(live); !ok {
					ahead[i] = forever
				}
			}
			best = min(best, ahead[i])
		}
		if best == live || best == forever {
			return best, best != forever
		}
		day = best
	}
	return 0, false
}

// lastDay returns the last day not after day that has a plus tile and may have times left. behind holds, for each plus
// tile, a day after which the search will not find it.
func (m *mosaic) lastDay(day int64, behind *[maxTiles]int64) (int64, bool) {
	for range searchLimit {
		live, ok := m.live.last(day)
		if !ok {
			return 0, false
		}
		best := int64(-forever)
		for i := range m.plus {
			if behind[i] > live {
				if behind[i], ok = m.plus[i].dates.last(live); !ok {
					behind[i] = -forever
				}
			}
			best = max(best, behind[i])
		}
		if best == live || best == -forever {
			return best, best != -forever
		}
		day = best
	}
	return 0, false
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
