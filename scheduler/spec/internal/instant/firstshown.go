package instant

import (
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/localtime"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/tz"
)

// FirstShown returns the first instant at which the zone's clock shows a local time or, if it jumps over it, the
// instant that comes as long after the jump's start as the clock would have said.
func FirstShown(local int64, zone *time.Location) time.Time {
	t, _ := NewZoned(localtime.Single(local), zone, DST{GapShift, OverlapFirst}).Next(time.Unix(local-tz.Margin, 0))
	return t
}
