package document

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// shortUnit is a unit of the short form, and how long it is.
type shortUnit struct {
	name   string
	length time.Duration
}

// shortUnits are the units of the short form in order. That of seconds is the only one with a fraction.
var shortUnits = []shortUnit{
	{"w", 7 * 24 * time.Hour},
	{"d", 24 * time.Hour},
	{"h", time.Hour},
	{"m", time.Minute},
	{"s", time.Second},
	{"ms", time.Millisecond},
}

// short reads numbers with units, 1h30m, or a number of seconds.
func (r *durationReader) short() {
	if text := strings.TrimLeft(r.rest, "0123456789."); text == "" && r.rest[0] != '.' {
		r.rest += "s"
	}
	units := shortUnits
	for r.err == nil && r.rest != "" {
		begin, n := r.rest, digits(r.rest)
		number := strings.TrimLeft(r.rest[:n], "0")
		r.rest = r.rest[n:]
		fractional := strings.HasPrefix(r.rest, ".")
		fraction := r.fraction()
		name := r.rest[:len(r.rest)-len(strings.TrimLeftFunc(r.rest, unicode.IsLetter))]
		at := slices.IndexFunc(units, func(u shortUnit) bool { return u.name == name })
		switch {
		case r.err != nil:
		case n == 0:
			r.err = noNumber(begin)
		case at < 0:
			r.err = notShort(name, r.rest)
		case fractional && units[at].length != time.Second:
			r.err = errors.New("only seconds may have a fraction")
		case len(number) > 18:
			r.err = errTooLong
		default:
			count, _ := strconv.ParseInt("0"+number, 10, 64)
			r.exact(int(count), units[at].length)
			r.exact(fraction, 1)
			r.rest, units = r.rest[len(name):], units[at+1:]
		}
	}
}

// noNumber says what is wrong with a text that should begin with a number.
func noNumber(text string) error {
	switch {
	case text[0] == '-':
		return errors.New("it is negative")
	case strings.TrimSpace(text) != text || text[0] == ' ':
		return errors.New("there is a blank in it")
	case strings.HasPrefix(strings.ToUpper(text), "PT"):
		return errors.New("the P and T of ISO 8601 are capital letters")
	}
	return fmt.Errorf("expected a number, not %q", text)
}

// longNames are what people call the units.
var longNames = map[string]string{
	"sec": "s", "secs": "s", "second": "s", "seconds": "s", "min": "m", "mins": "m", "minute": "m", "minutes": "m",
	"hr": "h", "hrs": "h", "hour": "h", "hours": "h", "day": "d", "days": "d", "week": "w", "weeks": "w",
	"msec": "ms", "millis": "ms", "milliseconds": "ms",
}

// notShort says what is wrong with what follows a number of the short form; rest begins with it.
func notShort(name, rest string) error {
	lower := strings.ToLower(name)
	short, known := longNames[lower]
	isUnit := func(name string) bool {
		return slices.ContainsFunc(shortUnits, func(u shortUnit) bool { return u.name == name })
	}
	switch {
	case rest == "":
		return errors.New("the last number has no unit")
	case name == "" && rest[0] == ' ':
		return errors.New("there is a blank in it")
	case name == "":
		return fmt.Errorf("expected a unit, not %q", rest)
	case isUnit(name):
		return errors.New("the longest unit comes first, and each once")
	case known:
		return fmt.Errorf("the unit is %s, not %s", short, name)
	case name == "M" || strings.HasPrefix(lower, "mo") || strings.HasPrefix(lower, "y"):
		return errors.New("m is minutes; months and years are P1M and P1Y")
	case isUnit(lower):
		return fmt.Errorf("the unit is %s, not %s", lower, name)
	}
	return fmt.Errorf("%q is not one of the units w, d, h, m, s and ms", name)
}
