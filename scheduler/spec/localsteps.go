package spec

// wallSteps is every so many seconds.
type wallSteps struct{ cycle cycle }

func (s wallSteps) next(w int64) (int64, bool) { return s.cycle.next(w) }

func (s wallSteps) last(w int64) (int64, bool) { return s.cycle.last(w), true }

func (s wallSteps) count(a, b int64) int64 { return s.cycle.count(a, b) }

// wallSecond is a single wall-clock second.
type wallSecond int64

func (s wallSecond) next(w int64) (int64, bool) { return int64(s), w <= int64(s) }

func (s wallSecond) last(w int64) (int64, bool) { return int64(s), w >= int64(s) }

func (s wallSecond) count(a, b int64) int64 {
	if a <= int64(s) && int64(s) <= b {
		return 1
	}
	return 0
}
