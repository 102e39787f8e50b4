package document_test

import (
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
		"P1001Y", "P12001M", "P106752D", "PT9999999999999999999S", "30", "30s", "1h",
		"00:30", "0:00:30", "24:00:00", "00:60:00", "00:00:60", "-00:00:30", "1.1.00:00:00", "00:00:30.", "00:00:30.1234567890",
		"1:00:00:30", "00:00:30Z", ".00:00:30", "106752.00:00:00", "P1DT", "PT1H30",
	} {
		if got, err := document.ParseDuration(text); err == nil {
			t.Errorf("ParseDuration(%q) = %v, want an error", text, got)
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
	for _, seed := range []string{"P1Y2M10DT2H30M5.5S", "P2W", "PT30S", "1.12:00:00.5", "00:01:00", "P", "PT1.5M"} {
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
