package why

import (
	"fmt"
	"time"
)

// local is an instant on the job's clock (RFC 3339).
func (q *Question) local(t time.Time) string { return t.In(q.Zone).Format(time.RFC3339Nano) }

// say is an instant for people: on the job's clock and, where that differs, in UTC.
func (q *Question) say(t time.Time) string {
	const utc = "2006-01-02T15:04:05.999Z"
	if _, offset := t.In(q.Zone).Zone(); offset == 0 {
		return t.UTC().Format(utc)
	}
	return t.In(q.Zone).Format("2006-01-02 15:04:05.999 MST") + " (" + t.UTC().Format(utc) + ")"
}

// span is a length of time for people.
func span(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(10 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

// by says who did it, if that is known.
func by(c Change) string {
	if c.By == "" {
		return ""
	}
	return " by " + c.By
}

// count says how many there are.
func count(n int, one, many string) string {
	if n == 1 {
		return "one " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
