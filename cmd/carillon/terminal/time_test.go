package terminal

import (
	"testing"
	"time"
)

// TestMoment: moments are read in all forms in which people have them, also as
// they are shown.
func TestMoment(t *testing.T) {
	utc := &Terminal{UTC: true}
	now := time.Date(2026, 3, 8, 9, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"2026-03-01":                     "2026-03-01 00:00:00.000 Z",
		"2026-03-01T10:00":               "2026-03-01 10:00:00.000 Z",
		"2026-03-01 10:00:30":            "2026-03-01 10:00:30.000 Z",
		"2026-03-01T10:00+01:00":         "2026-03-01 09:00:00.000 Z",
		"2026-03-01T10:00:00.25+01:00":   "2026-03-01 09:00:00.250 Z",
		"2026-03-01 10:00:00.250 +01:00": "2026-03-01 09:00:00.250 Z",
		"2026-03-01 10:00:00.250 Z":      "2026-03-01 10:00:00.250 Z",
		"2h":                             "2026-03-08 07:00:00.000 Z",
		"-2h":                            "2026-03-08 07:00:00.000 Z",
		"1h30m":                          "2026-03-08 07:30:00.000 Z",
		"7d":                             "2026-03-01 09:00:00.000 Z",
		"1w":                             "2026-03-01 09:00:00.000 Z",
		"08:30":                          "2026-03-08 08:30:00.000 Z",
		"12:00":                          "2026-03-07 12:00:00.000 Z",
	} {
		at, err := utc.Moment("since", text, now)
		if got := utc.Time(at, Dated); err != nil || got != want {
			t.Errorf("%s: got %s, %v, want %s", text, got, err, want)
		}
	}
	for _, wrong := range []string{"soon", "--2h", "2026-13-01", "2 h", "2026", "25:00"} {
		if at, err := utc.Moment("since", wrong, now); ExitCode(err) != ExitUsage {
			t.Errorf("%q is read as %s, %v", wrong, at, err)
		}
	}
	here, at := &Terminal{}, time.Date(2026, 3, 8, 9, 0, 0, 0, time.UTC)
	again, err := here.Moment("since", here.Time(at, Dated), now)
	if err != nil || !again.Equal(at) || here.Time(time.Time{}, Dated) != "-" {
		t.Errorf("what is shown is read as %s, %v", again, err)
	}
}
