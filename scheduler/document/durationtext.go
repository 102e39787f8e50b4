package document

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// ParseDuration reads a length of time in one of four forms: ISO 8601, as Azure Scheduler's reference has it; .NET's
// TimeSpan, as its wire format had it (Azure Scheduler REST API, 2016-03-01); numbers with units, as people and Go write
// them; or a number of seconds alone.
//
//	P1Y2M10DT2H30M, PT30S, PT1.5S, P2W    units in this order, whole except seconds; weeks stand alone
//	00:01:00, 1.12:00:00, 00:00:00.5      [days.]hh:mm:ss[.fraction]
//	1h30m, 10s, 1.5s, 250ms, 2w3d         units w, d, h, m, s and ms in this order, whole except seconds; m is minutes
//	30, 0.5                               seconds
//
// Zero is a duration; a negative one is not. Years and months may not exceed 1000 years, the rest 292 years.
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

// durationReader adds up the parts of a duration, until the first error.
type durationReader struct {
	scanner

	sum Duration
}

// iso reads what follows the P.
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

// units adds the numbers of text, each with one letter of order behind it, in that order. An h or m in order stands for
// the H or M behind the T, where M means minutes.
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

// notUnit says what is wrong with what follows a number: nothing does, or it is not one of the letters, or their order
// is another.
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

// add adds number, which is all digits, of a unit.
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

// durationUnits are the units of durations by their letters; see units.
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
