package spec

import "time"

// firstShown returns the first instant at which the zone's clock shows a wall-clock second or, if it jumps over it, the
// instant that comes as long after the jump's start as the clock would have said.
func firstShown(wall int64, zone *time.Location) time.Time {
	t, _ := newZoned(wallSecond(wall), zone, DST{GapShift, OverlapFirst}).Next(time.Unix(wall-margin, 0))
	return t
}
