package terminal

import (
	"testing"
	"time"
)

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second:                   "0s",
		1500 * time.Microsecond:        "2ms",
		59*time.Second + 600*1000*1000: "1m0s",
		90 * time.Minute:               "1h30m",
		2 * time.Hour:                  "2h0m",
		26 * time.Hour:                 "1d2h",
		72 * time.Hour:                 "3d0h",
	} {
		if got := Span(d); got != want {
			t.Errorf("%s: got %s, want %s", d, got, want)
		}
	}
}
