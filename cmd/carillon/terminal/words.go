package terminal

import (
	"fmt"
	"time"
)

// Plural returns "1 job" or "2 jobs".
func Plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Ago says how long ago t was: "5m0s ago", or "-" for the zero time.
func Ago(t, now time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return Span(now.Sub(t)) + " ago"
}

// Span is a length of time in its two largest units.
func Span(d time.Duration) string {
	const day = 24 * time.Hour
	switch d = max(0, d); {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Hour:
		return d.Round(time.Second).String()
	case d < day:
		d = d.Round(time.Minute)
		return fmt.Sprintf("%dh%dm", d/time.Hour, d%time.Hour/time.Minute)
	}
	d = d.Round(time.Hour)
	return fmt.Sprintf("%dd%dh", d/day, d%day/time.Hour)
}
