package spec

import (
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/work"
)

// DSTGap returns the first change of a clock after an instant, and not after until, that takes times from the schedule:
// the clock jumps over them, and by the rule's policy they do not happen at all ([GapSkip]). A zero until is no limit.
//
// The times of a gap are no instants. Next, Last and Count know nothing of them, and neither does the recurrence's
// count. While the clock of the schedule is not changed between the two, the answer costs one look into the zone's
// changes.
func (p *Plan) DSTGap(after, until time.Time) (DSTGap, bool) {
	if p.schedule == nil {
		return DSTGap{}, false
	}
	return metered(searchWork, func(m *work.Meter) (DSTGap, bool) { return p.schedule.NextGap(m, after, until) })
}
