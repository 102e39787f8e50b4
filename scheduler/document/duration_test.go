package document_test

import (
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
)

func TestParseDuration(t *testing.T) {
	const day = 24 * time.Hour
	tests := []struct {
		text      string
		want      document.Duration
		canonical string
	}{
		{"PT30S", document.Duration{Exact: 30 * time.Second}, "PT30S"},
		{"PT0S", document.Duration{}, "PT0S"},
		{"P0D", document.Duration{}, "PT0S"},
		{"PT90M", document.Duration{Exact: 90 * time.Minute}, "PT1H30M"},
		{"PT1.5S", document.Duration{Exact: 1500 * time.Millisecond}, "PT1.5S"},
		{"PT0.000000001S", document.Duration{Exact: 1}, "PT0.000000001S"},
		{"P1DT12H", document.Duration{Exact: 36 * time.Hour}, "P1DT12H"},
		{"P2W", document.Duration{Exact: 14 * day}, "P14D"},
		{"P18M", document.Duration{Months: 18}, "P1Y6M"},
		{"P1Y2M10DT2H30M5S", document.Duration{Months: 14, Exact: 10*day + 2*time.Hour + 30*time.Minute + 5*time.Second}, "P1Y2M10DT2H30M5S"},
		{"P1MT1M", document.Duration{Months: 1, Exact: time.Minute}, "P1MT1M"},
		{"PT1H1S", document.Duration{Exact: time.Hour + time.Second}, "PT1H1S"},
		{"P007D", document.Duration{Exact: 7 * day}, "P7D"},
		{"P1000Y", document.Duration{Months: 12_000}, "P1000Y"},
		{"P106751D", document.Duration{Exact: 106_751 * day}, "P106751D"},

		{"00:00:30", document.Duration{Exact: 30 * time.Second}, "PT30S"},
		{"00:01:00", document.Duration{Exact: time.Minute}, "PT1M"},
		{"23:59:59.9999999", document.Duration{Exact: day - 100}, "PT23H59M59.9999999S"},
		{"1.12:00:00", document.Duration{Exact: 36 * time.Hour}, "P1DT12H"},
		{"548.00:00:00.25", document.Duration{Exact: 548*day + 250*time.Millisecond}, "P548DT0.25S"},
		{"00:00:00", document.Duration{}, "PT0S"},

		{"10s", document.Duration{Exact: 10 * time.Second}, "PT10S"},
		{"1h30m", document.Duration{Exact: 90 * time.Minute}, "PT1H30M"},
		{"1d", document.Duration{Exact: day}, "P1D"},
		{"2w3d", document.Duration{Exact: 17 * day}, "P17D"},
		{"1.5s", document.Duration{Exact: 1500 * time.Millisecond}, "PT1.5S"},
		{"1s250ms", document.Duration{Exact: 1250 * time.Millisecond}, "PT1.25S"},
		{"007m", document.Duration{Exact: 7 * time.Minute}, "PT7M"},
		{"30", document.Duration{Exact: 30 * time.Second}, "PT30S"},
		{"0.25", document.Duration{Exact: 250 * time.Millisecond}, "PT0.25S"},
		{"0", document.Duration{}, "PT0S"},
		{"0s", document.Duration{}, "PT0S"},
	}
	for _, test := range tests {
		got, err := document.ParseDuration(test.text)
		if err != nil || got != test.want || got.String() != test.canonical {
			t.Errorf("ParseDuration(%q) = %v (%v), %v; want %v (%s)", test.text, got, got.String(), err, test.want, test.canonical)
		}
	}
}

func TestParseDurationErrors(t *testing.T) {
	for _, text := range []string{
		"", "P", "PT", "P1", "1D", "PD", "PTS", "P1YT", "P1H", "PT1D", "P1D1Y", "PT1S1M", "P1D1D", "P1W1D", "P1WT1H", "-PT1S", "PT-1S",
		"P-1D", "+P1D", "PT1.5M", "P1.5D", "PT1.S", "PT.5S", "PT1,5S", "PT1.1234567890S", "pt30s", "PT30s", " PT30S", "PT30S ",
		"P1001Y", "P12001M", "P106752D", "PT9999999999999999999S", "1h1h", "1m1h", "1h30",
		"10S", "1H", "1M", "5 s", "s", ".5", "1.h", "1.5h", "10min", "-5s", "-30", "+30", "1y", "1e3", "0x10", "9999999999999999999s", "15251w",
		"00:30", "0:00:30", "24:00:00", "00:60:00", "00:00:60", "-00:00:30", "1.1.00:00:00", "00:00:30.", "00:00:30.1234567890",
		"1:00:00:30", "00:00:30Z", ".00:00:30", "106752.00:00:00", "P1DT", "PT1H30",
	} {
		if got, err := document.ParseDuration(text); err == nil {
			t.Errorf("ParseDuration(%q) = %v, want an error", text, got)
		}
	}
}

// TestParseDurationSaysWhatIsWrong shows that a wrong duration is told by its own mistake.
func TestParseDurationSaysWhatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		"":             `is empty`,
		"x":            `"x" is not a duration: expected a number, not "x"`,
		"soon":         `expected a number, not "soon"`,
		"10x":          `"x" is not one of the units w, d, h, m, s and ms`,
		"10 s":         `there is a blank in it`,
		" 10s":         `there is a blank in it`,
		"5min":         `the unit is m, not min`,
		"2 hours":      `there is a blank in it`,
		"2hours":       `the unit is h, not hours`,
		"10S":          `the unit is s, not S`,
		"1M":           `m is minutes; months and years are P1M and P1Y`,
		"2years":       `m is minutes; months and years are P1M and P1Y`,
		"1h30":         `the last number has no unit`,
		"30m1h":        `the longest unit comes first, and each once`,
		"1.5h":         `only seconds may have a fraction`,
		"-5s":          `it is negative`,
		"pt30s":        `the P and T of ISO 8601 are capital letters`,
		"P1H":          `hours, minutes and seconds stand behind a T: PT1H`,
		"P30S":         `hours, minutes and seconds stand behind a T: PT30S`,
		"PT1D":         `years, months, weeks and days stand before the T: P1D`,
		"PT30s":        `the units behind a P are capital letters: S`,
		"PT30":         `no unit follows 30`,
		"PT1S1M":       `the longest unit comes first, and each once`,
		"P1D1W":        `weeks stand alone`,
		"PTH":          `expected a number before "H"`,
		"00:30":        `expected hh:mm:ss, or days.hh:mm:ss`,
		"0:00:30":      `expected the hour in 2 digits`,
		"300000000000": `it is too long`,
	} {
		_, err := document.ParseDuration(text)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasSuffix(err.Error(), "; write 30s, 1h30m or PT1H30M") {
			t.Errorf("%q: %v; want %s", text, err, want)
		}
	}
}

// TestDurationMember shows the forms that a member may have, and that ISO 8601 is what is kept of it, but
// for the form of .NET.
func TestDurationMember(t *testing.T) {
	for text, want := range map[string]string{
		`{"d":"10s"}`: `{"d":"PT10S"}`, `{"d":30}`: `{"d":"PT30S"}`, `{"d":0.5}`: `{"d":"PT0.5S"}`, "d: 30": `{"d":"PT30S"}`,
		"d: 1h30m": `{"d":"PT1H30M"}`, "d: 00:00:30": `{"d":"00:00:30"}`, `{"d":"PT60S"}`: `{"d":"PT60S"}`, "d: 1d": `{"d":"P1D"}`,
	} {
		v, err := document.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		o := document.NewReader().Object(v, "")
		if _, ok := o.Duration("d"); !ok || v.String() != want {
			t.Errorf("%s: %s, not %s; %v", text, v, want, o.Reader().Err())
		}
	}
	for text, want := range map[string]string{
		`{"d":true}`: "d: must be a duration such as 30s or PT1H30M, not a boolean",
		`{"d":-3}`:   `d: "-3" is not a duration: it is negative; write 30s, 1h30m or PT1H30M`,
		`{"d":[30]}`: "d: must be a duration such as 30s or PT1H30M, not an array",
		`{"d":"x"}`:  `d: "x" is not a duration: expected a number, not "x"; write 30s, 1h30m or PT1H30M`,
	} {
		v, err := document.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		o := document.NewReader().Object(v, "")
		if _, ok := o.Duration("d"); ok || o.Reader().Err().Error() != want {
			t.Errorf("%s: %v, not %s", text, o.Reader().Err(), want)
		}
	}
}

func TestDurationAddTo(t *testing.T) {
	tests := []struct{ from, duration, want string }{
		{"2024-01-31T08:00:30.5Z", "P1M", "2024-02-29T08:00:30.5Z"},
		{"2023-01-31", "P1M", "2023-02-28T00:00:00Z"},
		{"2024-02-29", "P1Y", "2025-02-28T00:00:00Z"},
		{"2024-02-29", "P4Y", "2028-02-29T00:00:00Z"},
		{"2024-01-31", "P1M1D", "2024-03-01T00:00:00Z"}, // the months first
		{"2024-11-30", "P18M", "2026-05-30T00:00:00Z"},
		{"2024-12-31", "P2M", "2025-02-28T00:00:00Z"},
		{"2024-05-15", "PT36H", "2024-05-16T12:00:00Z"},
	}
	for _, test := range tests {
		from, err := document.ParseTime(test.from)
		if err != nil {
			t.Fatal(err)
		}
		d, err := document.ParseDuration(test.duration)
		if err != nil {
			t.Fatal(err)
		}
		if got := d.AddTo(from).Format(time.RFC3339Nano); got != test.want {
			t.Errorf("%s + %s = %s, want %s", test.from, test.duration, got, test.want)
		}
	}
}

func TestDurationApprox(t *testing.T) {
	tests := []struct {
		duration document.Duration
		want     time.Duration
	}{
		{document.Duration{Exact: time.Hour}, time.Hour},
		{document.Duration{Months: 12}, time.Duration(365.2425 * 24 * float64(time.Hour))},
		{document.Duration{Months: 1, Exact: 1}, document.Month + 1},
		{document.Duration{Months: 12_000}, 1<<63 - 1},
		{document.Duration{Months: 1, Exact: 1<<63 - 1}, 1<<63 - 1},
	}
	for _, test := range tests {
		if got := test.duration.Approx(); got != test.want {
			t.Errorf("%+v: Approx() = %v, want %v", test.duration, got, test.want)
		}
	}
}

func FuzzDuration(f *testing.F) {
	for _, seed := range []string{"P1Y2M10DT2H30M5.5S", "P2W", "PT30S", "1.12:00:00.5", "00:01:00", "P", "PT1.5M", "1h30m", "1.5s250ms", "2w", "30"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := document.ParseDuration(text)
		if err != nil {
			return
		}
		if d.Months < 0 || d.Exact < 0 || d.Approx() < 0 {
			t.Fatalf("ParseDuration(%q) = %+v is negative", text, d)
		}
		if again, err := document.ParseDuration(d.String()); err != nil || again != d {
			t.Fatalf("ParseDuration(%q) = %+v, which reads as %+v, %v", text, d, again, err)
		}
		now := time.Date(2024, 1, 31, 8, 0, 0, 0, time.UTC)
		if then := d.AddTo(now); then.Before(now) {
			t.Fatalf("%v after %v is %v", d, now, then)
		}
	})
}
