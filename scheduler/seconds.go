package scheduler

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Seconds is a duration in APIs and in the store: a JSON number of seconds, exact to the nanosecond.
type Seconds time.Duration //nolint:recvcheck

// nanoDigits is the number of decimals of a nanosecond.
const nanoDigits = 9

// MarshalJSON returns the decimal number: 0.0625037.
func (s Seconds) MarshalJSON() ([]byte, error) { return s.append(make([]byte, 0, secondsLength)), nil }

// secondsLength is the length of the longest number.
const secondsLength = len("-9223372036.854775808")

// append appends the number to text.
func (s Seconds) append(text []byte) []byte {
	n := uint64(s)
	if s < 0 {
		text, n = append(text, '-'), -n
	}
	text = strconv.AppendUint(text, n/uint64(time.Second), 10)
	rest := n % uint64(time.Second)
	if rest == 0 {
		return text
	}
	text = append(text, '.')
	for unit := uint64(time.Second) / 10; rest > 0; unit /= 10 {
		text = append(text, '0'+byte(rest/unit))
		rest %= unit
	}
	return text
}

// UnmarshalJSON parses the number, exact to the nanosecond. Numbers with an exponent may lose precision.
func (s *Seconds) UnmarshalJSON(data []byte) error {
	text, negative := strings.CutPrefix(string(data), "-")
	whole, fraction, _ := strings.Cut(text, ".")
	if len(fraction) < nanoDigits {
		fraction += strings.Repeat("0", nanoDigits-len(fraction))
	}
	n, err := strconv.ParseUint(whole+fraction[:nanoDigits], 10, 64)
	if err != nil || strings.ContainsAny(text, "eE") {
		return s.unmarshalFloat(data)
	}
	if n > math.MaxInt64 && (!negative || n > 1<<63) {
		return fmt.Errorf("%s seconds are too many", data)
	}
	if negative {
		n = -n
	}
	*s = Seconds(n)
	return nil
}

func (s *Seconds) unmarshalFloat(data []byte) error {
	f, err := strconv.ParseFloat(string(data), 64)
	nanos := math.Round(f * float64(time.Second))
	if err != nil || math.Abs(nanos) >= 1<<63 {
		return fmt.Errorf("%s is not a number of seconds", data)
	}
	*s = Seconds(nanos)
	return nil
}
