package wire

import (
	"net/http"
	"time"
)

// Forever is when a message expires that never does.
var Forever = time.Date(9999, time.December, 31, 23, 59, 59, 0, time.UTC)

// HTTPTime is a time as messages and headers carry it, in whole seconds.
func HTTPTime(t time.Time) string {
	return t.UTC().Format(http.TimeFormat)
}

// ISOTime is a time as access policies carry it.
func ISOTime(t time.Time) string {
	return t.UTC().Format("2006-01-02T15:04:05.0000000Z")
}

// OptionalISOTime is ISOTime, but nothing for the zero time.
func OptionalISOTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return ISOTime(t)
}

// isoForms are what access policies and signatures may write. A fraction of a second needs no form of its own.
var isoForms = []string{"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04Z07:00", "2006-01-02"}

// ParseISOTime reads the time of an access policy or a signature, from the year 1 to 9999.
func ParseISOTime(s string) (time.Time, bool) {
	for _, form := range isoForms {
		if t, err := time.Parse(form, s); err == nil {
			t = t.UTC()
			return t, t.Year() > 0 && t.Year() < 10000
		}
	}
	return time.Time{}, false
}
