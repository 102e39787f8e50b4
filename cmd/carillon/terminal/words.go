package terminal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Plural returns "1 job" or "2 jobs".
func Plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Pairs returns "a=1,b=2" of a map, with a separator.
func Pairs(m map[string]string, between string) string {
	pairs := make([]string, 0, len(m))
	for _, name := range slices.Sorted(maps.Keys(m)) {
		pairs = append(pairs, name+"="+m[name])
	}
	return strings.Join(pairs, between)
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

// The layouts of times: of what may be long ago, and of what happens now.
const (
	Dated = "2006-01-02 15:04:05.000 Z07:00"
	Clock = "15:04:05.000"
)

// Zone returns the time zone of printed times: local time, because people compare them with a clock, or UTC with
// --utc.
func (t *Terminal) Zone() *time.Location {
	if t.UTC {
		return time.UTC
	}
	return time.Local //nolint:gosmopolitan // see above
}

// Time is a time in a layout; "-" for the zero time.
func (t *Terminal) Time(at time.Time, layout string) string {
	if at.IsZero() {
		return "-"
	}
	return at.In(t.Zone()).Format(layout)
}

// momentLayouts are the forms of a moment. One without an offset is in the zone
// in which times are shown.
var momentLayouts = []string{
	time.RFC3339Nano, "2006-01-02 15:04:05.999999999 Z07:00", "2006-01-02T15:04Z07:00",
	"2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly,
}

// days is a span of days or weeks, which [time.ParseDuration] does not know.
var days = regexp.MustCompile(`^(\d{1,5})([dw])$`)

// Moment parses the time of a flag: a date or time (RFC 3339, or as this terminal shows it); a time of day such as 12:00,
// the latest that is not after now; or a duration before now, such as 90m, 2h, -2h or 7d. The error is a usage error that names
// the flag. Without text, the time is zero.
func (t *Terminal) Moment(flag, text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range momentLayouts {
		if at, err := time.ParseInLocation(layout, text, t.Zone()); err == nil {
			return at, nil
		}
	}
	if clock, err := time.Parse("15:04", text); err == nil {
		y, m, d := now.In(t.Zone()).Date()
		at := time.Date(y, m, d, clock.Hour(), clock.Minute(), 0, 0, t.Zone())
		if at.After(now) {
			at = time.Date(y, m, d-1, clock.Hour(), clock.Minute(), 0, 0, t.Zone())
		}
		return at, nil
	}
	ago := strings.TrimPrefix(text, "-")
	if m := days.FindStringSubmatch(ago); m != nil {
		n, _ := strconv.Atoi(m[1])
		if m[2] == "w" {
			n *= 7
		}
		return now.Add(-time.Duration(n) * 24 * time.Hour), nil
	}
	if d, err := time.ParseDuration(ago); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	return time.Time{}, Usage(fmt.Errorf("--%s: %q is neither a date or time such as 2026-03-08, 2026-03-08T02:30Z or 12:00, "+
		"nor how long ago it was, such as 2h or 7d", flag, text))
}

// ReplaceFile writes a file of a mode, completely or not at all.
func ReplaceFile(path string, mode fs.FileMode, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // of mode 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // already renamed on success
	if err = write(f); err == nil {
		err = errors.Join(f.Chmod(mode), f.Sync())
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// WritePrivate writes a file that its owner alone may read, also where one of another mode was there: payloads and URLs in it
// may be confidential.
func WritePrivate(path string, data []byte) error {
	const mode = 0o600
	return errors.Join(os.WriteFile(path, data, mode), os.Chmod(path, mode))
}
