package english

import (
	"fmt"
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
)

// Stamp writes an instant as people do, in UTC.
func Stamp(t time.Time) string {
	t = t.UTC()
	text := t.Format("2006-01-02 15:04")
	if t.Second() > 0 || t.Nanosecond() > 0 {
		text = t.Format("2006-01-02 15:04:05.999999999")
	}
	return text
}

// Date returns "2 September 1997".
func Date(local int64) string { return time.Unix(local, 0).UTC().Format("2 January 2006") }

// Moment returns "2 September 1997 09:00".
func Moment(local int64) string {
	second := calendar.Mod(local, calendar.DayLength)
	return Date(local) + " " + Clock(int(second/3600), int(second/60%60), int(second%60))
}

// Clock returns "09:05", or "09:05:30" if there are seconds.
func Clock(hour, minute, second int) string {
	if second == 0 {
		return fmt.Sprintf("%02d:%02d", hour, minute)
	}
	return fmt.Sprintf("%02d:%02d:%02d", hour, minute, second)
}
