package queues

import (
	"testing"
	"time"
)

// TestSpans writes lengths of time as forms have them, and reads the same.
func TestSpans(t *testing.T) {
	const day = 24 * time.Hour
	for text, want := range map[string]time.Duration{
		"": 0, "30s": 30 * time.Second, "1m": time.Minute, "1m30s": 90 * time.Second, "12h": 12 * time.Hour, "14d": 14 * day,
		"1d12h": 36 * time.Hour, "10675d": 10675 * day, "1d0.5s": day + time.Second/2, "1h1s": time.Hour + time.Second,
	} {
		got, err := parseSpan(text)
		if err != nil || got != want {
			t.Errorf("%q is read as %v, %v", text, got, err)
		}
		if again, err := parseSpan(spanText(want)); err != nil || again != want {
			t.Errorf("%v is written as %q, and read as %v, %v", want, spanText(want), again, err)
		}
	}
	for want, d := range map[string]time.Duration{"1m": time.Minute, "1h": time.Hour, "1d12h": 36 * time.Hour, "20m": 20 * time.Minute, "10s": 10 * time.Second} {
		if got := spanText(d); got != want {
			t.Errorf("%v is written as %q, want %q", d, got, want)
		}
	}
	for _, text := range []string{"d", "1", "-1s", "1d-1s", "soon", "1d 2h", "99999999d", "200000d", "106751d24h", "1.5d"} {
		if got, err := parseSpan(text); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}
