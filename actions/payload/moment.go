package payload

import (
	"fmt"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// moment is a time in a template. The zero time is no time: it prints as nothing, and what is made of it is no time, or
// nothing, again.
type moment struct{ t time.Time }

// String returns RFC 3339, with a fraction if there is one.
func (m moment) String() string {
	if m.t.IsZero() {
		return ""
	}
	return m.t.Format(time.RFC3339Nano)
}

// maxLayout is the length in bytes of the longest layout of a time.
const maxLayout = 256

// method returns what the method of that name returns.
func (r *run) method(m moment, name string, args []any) (any, error) {
	switch name {
	case "Format", "In", "Add", "Truncate":
		if len(args) != 1 {
			return nil, fmt.Errorf(".%s takes one text, not %d arguments", name, len(args))
		}
		text, ok := args[0].(string)
		if !ok {
			return nil, fmt.Errorf(".%s takes a text, not %s", name, kindOf(args[0]))
		}
		return r.timeMethod(m, name, text)
	}
	if len(args) > 0 {
		return nil, fmt.Errorf(".%s takes no arguments", name)
	}
	part, ok := parts[name]
	switch {
	case name == "UTC":
		return moment{m.t.UTC()}, nil
	case !ok:
		return nil, fmt.Errorf("a time has no field .%s; it has .Add, .Day, .Format, .Hour, .In, .Minute, .Month, "+
			".Second, .Truncate, .Unix, .UnixMilli, .UTC, .Weekday, .Year and .YearDay", name)
	case m.t.IsZero():
		return nil, nil //nolint:nilnil // the value nil
	}
	return part(m.t), nil
}

// parts are the methods that return a number or a name.
var parts = map[string]func(t time.Time) any{
	"Unix":      func(t time.Time) any { return t.Unix() },
	"UnixMilli": func(t time.Time) any { return t.UnixMilli() },
	"Year":      func(t time.Time) any { return int64(t.Year()) },
	"Month":     func(t time.Time) any { return int64(t.Month()) },
	"Day":       func(t time.Time) any { return int64(t.Day()) },
	"Hour":      func(t time.Time) any { return int64(t.Hour()) },
	"Minute":    func(t time.Time) any { return int64(t.Minute()) },
	"Second":    func(t time.Time) any { return int64(t.Second()) },
	"YearDay":   func(t time.Time) any { return int64(t.YearDay()) },
	"Weekday":   func(t time.Time) any { return t.Weekday().String() },
}

// timeMethod is one of the methods that take a text.
func (r *run) timeMethod(m moment, name, text string) (any, error) {
	if err := r.charge(64 + len(text)); err != nil {
		return nil, err
	}
	switch name {
	case "Format":
		return r.format(m, text)
	case "In":
		loc, err := spec.LoadZone(text)
		if err != nil || m.t.IsZero() {
			return m, err
		}
		return moment{m.t.In(loc)}, nil
	case "Truncate":
		return m.truncate(text)
	}
	return m.add(text)
}

// format writes m in a layout of package time.
func (r *run) format(m moment, layout string) (any, error) {
	if len(layout) > maxLayout {
		return nil, fmt.Errorf("the layout of a time is %d bytes long, at most %d are allowed", len(layout), maxLayout)
	}
	if m.t.IsZero() {
		return "", nil
	}
	text := m.t.Format(layout)
	if r.all && text == layout { // no part of the sample is what a layout writes for it
		return nil, fmt.Errorf("%q shows nothing of a time: a layout is the time 2006-01-02T15:04:05Z07:00 in the wanted form", layout)
	}
	return text, nil
}

// add moves m by a duration, which may be negative: of Go (-1h30m) or of ISO 8601 (-P1D).
func (m moment) add(text string) (any, error) {
	d, negative, err := parseLength(text)
	if err != nil || m.t.IsZero() {
		return m, err
	}
	t := d.AddTo(m.t)
	if negative {
		t = m.t.AddDate(0, -d.Months, 0)
		if t.Day() != m.t.Day() {
			t = t.AddDate(0, 0, -t.Day()) // the last day of a month that is shorter
		}
		t = t.Add(-d.Exact)
	}
	if t.Year() < 1 || t.Year() > 9999 || t.IsZero() {
		return nil, fmt.Errorf("%s and %s is not a time in the years 1 to 9999", m, text)
	}
	return moment{t}, nil
}

// truncate rounds m down to a multiple of a duration on the wall clock of its zone: to a day is to its midnight, to
// seven days to a Monday's.
func (m moment) truncate(text string) (any, error) {
	d, negative, err := parseLength(text)
	switch {
	case err != nil:
		return nil, err
	case negative || d.Months != 0 || d.Exact <= 0:
		return nil, fmt.Errorf("a time cannot be truncated to %s: the duration must be positive and without months", text)
	case m.t.IsZero():
		return m, nil
	}
	_, offset := m.t.Zone()
	east := time.Duration(offset) * time.Second
	t := m.t.Add(east).Truncate(d.Exact).Add(-east)
	if _, there := t.Zone(); there != offset { // the clock was changed in between
		w := t.UTC().Add(east)
		t = time.Date(w.Year(), w.Month(), w.Day(), w.Hour(), w.Minute(), w.Second(), w.Nanosecond(), m.t.Location())
	}
	if t.Year() < 1 {
		return nil, fmt.Errorf("%s truncated to %s is not in the years 1 to 9999", m, text)
	}
	return moment{t}, nil
}

// parseLength reads a duration with an optional sign.
func parseLength(text string) (d document.Duration, negative bool, err error) {
	unsigned := strings.TrimPrefix(text, "+")
	unsigned, negative = strings.CutPrefix(unsigned, "-")
	if exact, err := time.ParseDuration(unsigned); err == nil && exact >= 0 && unsigned[0] != '+' {
		return document.Duration{Exact: exact}, negative, nil
	}
	if d, err = document.ParseDuration(unsigned); err != nil {
		return d, false, fmt.Errorf("%q is not a duration: write 90m, -24h, P1D or -P1M", text)
	}
	return d, negative, nil
}
