package document

import (
	"strconv"
	"strings"
	"time"
)

// Month is the mean length of a month in the Gregorian calendar: 30 days, 10 hours, 29 minutes and 6 seconds, a twelfth
// of 365.2425 days. [Duration.Approx] counts a month as that long.
const Month = 2_629_746 * time.Second

// Duration is a length of time that keeps months, whose length depends on when they begin, apart from exact time. The
// zero Duration is no time at all. Durations are not negative.
type Duration struct {
	Months int           // of a year there are twelve
	Exact  time.Duration // a day is 24 hours, a week is seven days
}

// IsZero reports whether d is no time at all.
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

// Approx returns d with each month counted as [Month], to compare lengths or to check them against a limit. What is
// longer than a time.Duration can be (292 years) is as long as it can be.
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
