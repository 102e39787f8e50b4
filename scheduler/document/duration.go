package document

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Month is the mean length of a month in the Gregorian calendar: 30 days, 10 hours, 29 minutes and 6 seconds, a twelfth
// of 365.2425 days. [Duration.Approx] counts a month as that long.
const Month = 2_629_746 * time.Second

// Duration is a length of time. It stores months, whose length varies, separately from exact time. The zero Duration is
// empty. Durations are not negative.
type Duration struct {
	Months int           // a year has twelve
	Exact  time.Duration // a day is 24 hours, a week is seven days
}

// IsZero reports whether d is empty.
func (d Duration) IsZero() bool { return d == Duration{} }

// AddTo returns the instant d after t: first the months, on the same day of the month or its last one if it is shorter
// (31 January and a month is 28 or 29 February), then the exact time.
func (d Duration) AddTo(t time.Time) time.Time {
	if d.Months != 0 {
		moved := t.AddDate(0, d.Months, 0)
		if moved.Day() != t.Day() {
			moved = moved.AddDate(0, 0, -moved.Day())
		}
		t = moved
	}
	return t.Add(d.Exact)
}

// Approx returns d with each month counted as [Month], for comparisons and limits. Values above the range of
// time.Duration (292 years) are capped.
func (d Duration) Approx() time.Duration {
	const most = time.Duration(1<<63 - 1)
	if d.Months > int((most-d.Exact)/Month) {
		return most
	}
	return time.Duration(d.Months)*Month + d.Exact
}

// String returns d in ISO 8601, with the largest units that fit: "P1Y6M", "P7D", "PT1M30.5S", "PT0S" for none.
func (d Duration) String() string {
	if d.IsZero() {
		return "PT0S"
	}
	const day = 24 * time.Hour
	var b strings.Builder
	b.WriteByte('P')
	unit(&b, int64(d.Months/12), 'Y')
	unit(&b, int64(d.Months%12), 'M')
	unit(&b, int64(d.Exact/day), 'D')
	if rest := d.Exact % day; rest > 0 {
		b.WriteByte('T')
		unit(&b, int64(rest/time.Hour), 'H')
		unit(&b, int64(rest%time.Hour/time.Minute), 'M')
		seconds(&b, rest%time.Minute)
	}
	return b.String()
}

func unit(b *strings.Builder, n int64, letter byte) {
	if n > 0 {
		b.WriteString(strconv.FormatInt(n, 10))
		b.WriteByte(letter)
	}
}

func seconds(b *strings.Builder, d time.Duration) {
	if d == 0 {
		return
	}
	b.WriteString(strconv.FormatInt(int64(d/time.Second), 10))
	if fraction := int64(d % time.Second); fraction > 0 {
		nines := strconv.FormatInt(int64(time.Second)+fraction, 10) // 1fffffffff
		b.WriteString("." + strings.TrimRight(nines[1:], "0"))
	}
	b.WriteByte('S')
}

// ParseDuration parses a duration in one of four formats: ISO 8601 (Azure Scheduler's reference), .NET's TimeSpan (its
// wire format, Azure Scheduler REST API 2016-03-01), numbers with units, or a plain number of seconds.
//
//	P1Y2M10DT2H30M, PT30S, PT1.5S, P2W    units in this order, whole except seconds; weeks stand alone
//	00:01:00, 1.12:00:00, 00:00:00.5      [days.]hh:mm:ss[.fraction]
//	1h30m, 10s, 1.5s, 250ms, 2w3d         units w, d, h, m, s and ms in this order, whole except seconds; m is minutes
//	30, 0.5                               seconds
//
// Zero is valid, negative durations are not. Limits: 1000 years in years and months, 292 years in the other units.
func ParseDuration(text string) (Duration, error) {
	r := durationReader{scanner: scanner{rest: text}}
	switch {
	case text == "":
		return Duration{}, errors.New("is empty; write 30s, 1h30m or PT1H30M")
	case r.take('P'):
		r.iso()
	case strings.Contains(text, ":"):
		r.timeSpan()
	default:
		r.short()
	}
	if r.err != nil {
		return Duration{}, fmt.Errorf("%q is not a duration: %w; write 30s, 1h30m or PT1H30M", text, r.err)
	}
	return r.sum, nil
}

// durationReader adds up the parts of a duration, up to the first error.
type durationReader struct {
	scanner

	sum Duration
}

// iso parses the text after the P.
func (r *durationReader) iso() {
	date, clock, timed := strings.Cut(r.rest, "T")
	switch {
	case r.rest == "" || timed && clock == "":
		r.err = errors.New("it ends before a number")
	case !timed && strings.HasSuffix(date, "W"):
		r.units(date, "W")
	default:
		r.units(date, "YMD")
		r.units(clock, "hmS")
	}
}

// units adds the numbers in text, each followed by one letter of order, in that order. A lower-case h or m in order
// represents the H or M after the T, where M means minutes.
func (r *durationReader) units(text, order string) {
	letters := order
	r.rest = text
	for r.err == nil && r.rest != "" {
		n := digits(r.rest)
		number := r.rest[:n]
		r.rest = r.rest[n:]
		fractional := strings.HasPrefix(r.rest, ".")
		fraction := r.fraction()
		i := -1
		if r.rest != "" {
			i = strings.IndexByte(strings.ToUpper(order), r.rest[0])
		}
		switch {
		case r.err != nil:
		case n == 0:
			r.err = fmt.Errorf("expected a number before %q", r.rest)
		case i < 0:
			r.err = r.notUnit(number, letters)
		case fractional && order[i] != 'S':
			r.err = errors.New("only seconds may have a fraction")
		default:
			r.add(number, order[i])
			r.exact(1, time.Duration(fraction))
			r.rest, order = r.rest[1:], order[i+1:]
		}
	}
}

// notUnit describes the error after a number: no unit, an unknown unit, or a wrong order.
func (r *durationReader) notUnit(number, letters string) error {
	const behind, before = "hmS", "YMWD"
	if r.rest == "" {
		return fmt.Errorf("no unit follows %s", number)
	}
	unit, _ := utf8.DecodeRuneInString(r.rest)
	switch upper := unicode.ToUpper(unit); {
	case letters == "W" || letters != behind && unit == 'W':
		return errors.New("weeks stand alone behind a P, P2W; 2w3d is a form that mixes them")
	case strings.Contains(strings.ToUpper(letters), string(unit)):
		return errors.New("the longest unit comes first, and each once")
	case letters != behind && strings.ContainsRune("HS", unit):
		return fmt.Errorf("hours, minutes and seconds stand behind a T: PT%s%c", number, unit)
	case letters == behind && strings.Contains(before, string(unit)):
		return fmt.Errorf("years, months, weeks and days stand before the T: P%s%c", number, unit)
	case upper != unit && strings.ContainsRune(before+"HS", upper):
		return fmt.Errorf("the units behind a P are capital letters: %c", upper)
	}
	return fmt.Errorf("%q is not a unit", string(unit))
}

// add adds number, which consists of digits, in a unit.
func (r *durationReader) add(number string, unit byte) {
	number = strings.TrimLeft(number, "0")
	if len(number) > 12 {
		r.err = errTooLong
		return
	}
	n := (&scanner{rest: number}).number(len(number), "")
	length := durationUnits[unit]
	r.months(n * length.Months)
	r.exact(n, length.Exact)
}

// durationUnits maps letters to units; see units.
var durationUnits = map[byte]Duration{
	'Y': {Months: 12},
	'M': {Months: 1},
	'W': {Exact: 7 * 24 * time.Hour},
	'D': {Exact: 24 * time.Hour},
	'h': {Exact: time.Hour},
	'm': {Exact: time.Minute},
	'S': {Exact: time.Second},
}

var errTooLong = errors.New("it is too long")

func (r *durationReader) months(n int) {
	r.sum.Months += n
	if r.sum.Months > 12*1000 {
		r.err = errTooLong
	}
}

func (r *durationReader) exact(n int, unit time.Duration) {
	if unit > 0 && time.Duration(n) > (math.MaxInt64-r.sum.Exact)/unit {
		r.err = errTooLong
		return
	}
	r.sum.Exact += time.Duration(n) * unit
}

// timeSpan reads [days.]hh:mm:ss[.fraction].
func (r *durationReader) timeSpan() {
	if n := digits(r.rest); n > 0 && strings.HasPrefix(r.rest[n:], ".") {
		r.add(r.rest[:n], 'D')
		r.rest = r.rest[n+1:]
	}
	timed := strings.Count(r.rest, ":") == 2
	hour, minute, second, nanosecond := r.clock()
	if r.err == nil && (!timed || r.rest != "") {
		r.err = errors.New("expected hh:mm:ss, or days.hh:mm:ss")
	}
	r.exact(hour, time.Hour)
	r.exact(minute, time.Minute)
	r.exact(second, time.Second)
	r.exact(nanosecond, 1)
}

// shortUnit is a unit of the short format, with its length.
type shortUnit struct {
	name   string
	length time.Duration
}

// shortUnits lists the units of the short format in order. Only seconds may have a fraction.
var shortUnits = []shortUnit{
	{"w", 7 * 24 * time.Hour},
	{"d", 24 * time.Hour},
	{"h", time.Hour},
	{"m", time.Minute},
	{"s", time.Second},
	{"ms", time.Millisecond},
}

// short parses numbers with units, 1h30m, or a number of seconds.
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

// noNumber describes the error in a text that should begin with a number.
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

// longNames maps common names of units to units.
var longNames = map[string]string{
	"sec": "s", "secs": "s", "second": "s", "seconds": "s", "min": "m", "mins": "m", "minute": "m", "minutes": "m",
	"hr": "h", "hrs": "h", "hour": "h", "hours": "h", "day": "d", "days": "d", "week": "w", "weeks": "w",
	"msec": "ms", "millis": "ms", "milliseconds": "ms",
}

// notShort describes the error after a number in the short format. rest begins with that number.
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
