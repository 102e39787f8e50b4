package flow

import (
	"testing"
	"time"
)

func TestPauseAfter(t *testing.T) {
	tests := []struct {
		name        string
		tried, want time.Duration
	}{
		{"refused at once", 0, 50 * time.Millisecond},
		{"a moment", 300 * time.Millisecond, 50 * time.Millisecond},
		{"a choice of a leader", 8 * time.Second, time.Second},
		{"an outage", time.Hour, 5 * time.Second},
	}
	for _, test := range tests {
		if got := pauseAfter(test.tried); got != test.want {
			t.Errorf("%s: %s after %s, want %s", test.name, got, test.tried, test.want)
		}
	}
}
