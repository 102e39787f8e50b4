package payload

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// values holds the data that a job or its action gives to templates, by name. It prints as JSON. Templates
// cannot use a field named String.
type values map[string]any

func (v values) String() string { return string(appendValue(nil, v)) }

// list is an array in a template. It prints as JSON.
type list []any

func (l list) String() string { return string(appendValue(nil, l)) }

// number is a number in its original notation, which no Go type preserves. It prints so.
type number string

func (n number) String() string { return string(n) }

// merged merges objects; later ones take precedence.
func merged(objects ...document.Value) values {
	all := values{}
	for _, object := range objects {
		for _, m := range object.Members() {
			all[m.Name] = valueOf(m.Value)
		}
	}
	return all
}

// declared returns the properties of a JSON Schema with their defaults. An object without a default has the defaults of its
// properties; any other property without one is null.
func declared(schema document.Value) document.Value {
	properties, _ := schema.Member("properties")
	members := make([]document.Member, 0, len(properties.Members()))
	for _, m := range properties.Members() {
		value, ok := m.Value.Member("default")
		if _, object := m.Value.Member("properties"); object && !ok {
			value = declared(m.Value)
		}
		members = append(members, document.Member{Name: m.Name, Value: value})
	}
	return document.ObjectValue(members...)
}

// valueOf returns a value as templates have it. Null is not a time: it prints as nothing.
func valueOf(v document.Value) any {
	switch v.Kind() {
	case document.KindBool:
		return v.Bool()
	case document.KindNumber:
		return numberOf(v.Text())
	case document.KindString:
		return v.Text()
	case document.KindArray:
		items := make(list, len(v.Items()))
		for i, item := range v.Items() {
			items[i] = valueOf(item)
		}
		return items
	case document.KindObject:
		return merged(v)
	case document.KindNull:
	}
	return (*moment)(nil)
}

func numberOf(text string) any {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	const exact = 15 // digits that every float64 preserves
	if f, err := strconv.ParseFloat(text, 64); err == nil && len(text) <= exact {
		return f
	}
	return number(text)
}

// appendValue appends a value as JSON, the members of objects by name.
func appendValue(b []byte, v any) []byte {
	switch v := v.(type) {
	case values:
		b = append(b, '{')
		for i, name := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendValue(append(appendJSON(b, name), ':'), v[name])
		}
		return append(b, '}')
	case list:
		b = append(b, '[')
		for i, item := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendValue(b, item)
		}
		return append(b, ']')
	}
	return append(b, toJSON(v)...)
}

// appendJSON appends s as a JSON string. It escapes only what RFC 8259 requires and replaces invalid UTF-8 by
// U+FFFD.
func appendJSON(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\r':
			b = append(b, `\r`...)
		case r == '\t':
			b = append(b, `\t`...)
		case r < ' ':
			b = append(b, '\\', 'u', '0', '0', hex[r>>4], hex[r&0xf])
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}

// moment is a time in a template. The nil moment is not a time: it prints as nothing, and its methods return nothing.
type moment struct{ t time.Time }

// newMoment returns a time in UTC, the nil moment for the zero time.
func newMoment(t time.Time) *moment {
	if t.IsZero() {
		return nil
	}
	return &moment{t.UTC()}
}

// String returns RFC 3339, with a fraction if there is one.
func (m *moment) String() string {
	if m == nil {
		return ""
	}
	return m.t.Format(time.RFC3339Nano)
}

// Unix and the others are parts of a time: numbers, or nothing of no time.
func (m *moment) Unix() any      { return part(m, time.Time.Unix) }
func (m *moment) UnixMilli() any { return part(m, time.Time.UnixMilli) }
func (m *moment) Year() any      { return part(m, time.Time.Year) }
func (m *moment) Month() any     { return part(m, func(t time.Time) int { return int(t.Month()) }) }
func (m *moment) Day() any       { return part(m, time.Time.Day) }
func (m *moment) Hour() any      { return part(m, time.Time.Hour) }
func (m *moment) Minute() any    { return part(m, time.Time.Minute) }
func (m *moment) Second() any    { return part(m, time.Time.Second) }
func (m *moment) YearDay() any   { return part(m, time.Time.YearDay) }
func (m *moment) Weekday() any {
	return part(m, func(t time.Time) string { return t.Weekday().String() })
}

func part[T any](m *moment, of func(time.Time) T) any {
	if m == nil {
		return (*moment)(nil) // the value nil would be printed
	}
	return of(m.t)
}

// Format writes m in a layout of package time, of at most 256 bytes.
func (m *moment) Format(layout string) (string, error) {
	const longest = 256
	if len(layout) > longest {
		return "", fmt.Errorf("the layout of a time is %d bytes long, at most %d are allowed", len(layout), longest)
	}
	if laterSample.Due.Format(layout) == layout { // the layout contains no element of a time
		return "", fmt.Errorf("%q shows nothing of a time: a layout is the time 2006-01-02T15:04:05Z07:00 in the wanted form", layout)
	}
	if m == nil {
		return "", nil
	}
	return m.t.Format(layout), nil
}

// UTC returns m in UTC.
func (m *moment) UTC() *moment {
	if m == nil {
		return nil
	}
	return &moment{m.t.UTC()}
}

// In returns m in a zone of the IANA database.
func (m *moment) In(zone string) (*moment, error) {
	loc, err := spec.LoadZone(zone)
	if err != nil || m == nil {
		return nil, err
	}
	return &moment{m.t.In(loc)}, nil
}

// Add returns m moved by a duration, which may be negative: of Go (-1h30m) or of ISO 8601 (-P1D).
func (m *moment) Add(length string) (*moment, error) {
	d, negative, err := parseLength(length)
	if err != nil || m == nil {
		return nil, err
	}
	t := d.AddTo(m.t)
	if negative {
		t = m.t.AddDate(0, -d.Months, 0)
		if t.Day() != m.t.Day() {
			t = t.AddDate(0, 0, -t.Day()) // the last day of a month that is shorter
		}
		t = t.Add(-d.Exact)
	}
	return inYears(t)
}

// Truncate returns m rounded down to a multiple of a duration on the wall clock of its zone: to a day is to its midnight,
// to seven days to a Monday's.
func (m *moment) Truncate(length string) (*moment, error) {
	d, negative, err := parseLength(length)
	switch {
	case err != nil:
		return nil, err
	case negative || d.Months != 0 || d.Exact <= 0:
		return nil, fmt.Errorf("a time cannot be truncated to %s: the duration must be positive and without months", length)
	case m == nil:
		return m, nil
	}
	_, offset := m.t.Zone()
	east := time.Duration(offset) * time.Second
	t := m.t.Add(east).Truncate(d.Exact).Add(-east)
	if _, there := t.Zone(); there != offset { // the clock was changed in between
		w := t.UTC().Add(east)
		t = time.Date(w.Year(), w.Month(), w.Day(), w.Hour(), w.Minute(), w.Second(), w.Nanosecond(), m.t.Location())
	}
	return inYears(t)
}

// inYears returns a time if RFC 3339 can express its year.
func inYears(t time.Time) (*moment, error) {
	if t.Year() < 1 || t.Year() > 9999 || t.IsZero() {
		return nil, fmt.Errorf("a time must be in the years 1 to 9999, as %s is not", t.Format(time.DateTime))
	}
	return &moment{t}, nil
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
