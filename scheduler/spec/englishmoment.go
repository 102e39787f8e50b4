package spec

import (
	"fmt"
	"time"
)

// stampText writes an instant as people do, in UTC.
func stampText(t time.Time) string {
	t = t.UTC()
	text := t.Format("2006-01-02 15:04")
	if t.Second() > 0 || t.Nanosecond() > 0 {
		text = t.Format("2006-01-02 15:04:05.999999999")
	}
	return text
}

// englishDate returns "2 September 1997".
func englishDate(wall int64) string { return time.Unix(wall, 0).UTC().Format("2 January 2006") }

// englishMoment returns "2 September 1997 09:00".
func englishMoment(wall int64) string {
	second := mod(wall, dayLength)
	return englishDate(wall) + " " + clockTime(int(second/3600), int(second/60%60), int(second%60))
}

// clockTime returns "09:05", or "09:05:30" if there are seconds.
func clockTime(hour, minute, second int) string {
	if second == 0 {
		return fmt.Sprintf("%02d:%02d", hour, minute)
	}
	return fmt.Sprintf("%02d:%02d:%02d", hour, minute, second)
}
