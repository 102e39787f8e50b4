package duration_test

import (
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/duration"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"PT1H": time.Hour, "P1D": 24 * time.Hour, "P1DT12H30M5S": 36*time.Hour + 30*time.Minute + 5*time.Second,
		"PT0.5S": 500 * time.Millisecond, "PT20S": 20 * time.Second, "P2W": 14 * 24 * time.Hour, "PT5M": 5 * time.Minute,
		duration.Forever: 0, "PT0S": 0, "PT90M": 90 * time.Minute,
	} {
		if got, err := duration.Parse(text); got != want || err != nil {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "P", "PT", "1H", "PT1", "P1H", "PT1D", "PT1S1H", "P1M", "PT-1S", "PT1.2.3S", "P1DT", "PTT1S"} {
		if got, err := duration.Parse(text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}

func TestFormat(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: duration.Forever, time.Minute: "PT1M", 24 * time.Hour: "P1D", 90 * time.Minute: "PT1H30M", 1500 * time.Millisecond: "PT1.5S",
		25*time.Hour + time.Second: "P1DT1H1S",
	} {
		if got := duration.Format(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("P1DT12H30M5.5S")
	f.Add(duration.Forever)
	f.Fuzz(func(t *testing.T, text string) {
		d, err := duration.Parse(text)
		if err != nil {
			return
		}
		if again, err := duration.Parse(duration.Format(d)); err != nil || (again-d).Abs() > 1+d/1_000_000_000 {
			t.Fatalf("%q is %v, which became %v, %v", text, d, again, err)
		}
	})
}
