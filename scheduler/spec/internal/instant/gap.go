package instant

import (
	"math"
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/localtime"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/tz"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/work"
)

// DSTGap is what a change of a clock takes from a schedule that skips the times which do not exist.
type DSTGap struct {
	At    time.Time // the change: the first instant after it
	Count int       // how many times of the schedule the clock jumps over
	Text  string    // in English, as in the notes of a preview
}

// NextGap returns the first change of a clock after an instant, and not after until, that takes times from a schedule.
// A zero until is no limit.
func NextGap(m *work.Meter, s Schedule, after, until time.Time) (DSTGap, bool) {
	to := int64(math.MaxInt64 - 1) // an interval without an end ends later
	if !until.IsZero() {
		to = until.Unix()
	}
	found, ok := gapsOf(s).nextGap(m, after.Unix()+1, to)
	if !ok {
		return DSTGap{}, false
	}
	text := found.zoned.remark(m, found.interval, found.first, found.last)
	return DSTGap{At: time.Unix(found.at(), 0).UTC(), Count: found.count, Text: text}, true
}

// gapped is a Schedule that may leave times out.
type gapped interface {
	// NextGap returns the first change in from…to that takes times from the schedule.
	nextGap(m *work.Meter, from, to int64) (gap, bool)
}

// gapsOf returns the schedule as one that may leave times out.
func gapsOf(s Schedule) gapped {
	if g, ok := s.(gapped); ok {
		return g
	}
	return gapless{}
}

// gapless is a Schedule that leaves nothing out.
type gapless struct{}

func (gapless) nextGap(*work.Meter, int64, int64) (gap, bool) { return gap{}, false }

// gap is a change of a clock that jumps over times of a set of local times.
type gap struct {
	zoned       *zoned
	interval    tz.Interval // that begins with the change
	first, last int64       // local times: the first time of the set, and the last second that do not exist
	count       int
}

// at returns the instant of the change.
func (g gap) at() int64 { return g.interval.Start }

// with returns what two schedules leave out at one change. In different zones they have nothing in common.
func (g gap) with(m *work.Meter, other gap) gap {
	if g.zoned.zone != other.zoned.zone {
		g.count += other.count
		return g
	}
	joint := *g.zoned
	joint.set = localtime.Union{g.zoned.set, other.zoned.set}
	g.zoned, g.first = &joint, min(g.first, other.first)
	g.count = int(joint.set.Count(m, g.first, g.last))
	return g
}
