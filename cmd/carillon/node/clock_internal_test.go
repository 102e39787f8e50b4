package node

import (
	"testing"
	"time"
)

func TestClockStep(t *testing.T) {
	before := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		name         string
		clock        time.Duration // by how much it went on
		passed, want time.Duration
	}{
		{"nothing happened", 5 * time.Second, 5 * time.Second, 0},
		{"a busy machine", time.Minute, time.Minute, 0},
		{"corrected little by little", 5*time.Second + 900*time.Millisecond, 5 * time.Second, 0},
		{"set forward by an hour", time.Hour + 5*time.Second, 5 * time.Second, time.Hour},
		{"set back by an hour", 5*time.Second - time.Hour, 5 * time.Second, -time.Hour},
		{"slept for a night", 8*time.Hour + time.Second, time.Second, 8 * time.Hour},
		{"a leap second", 4 * time.Second, 5 * time.Second, 0},
	} {
		if got := clockStep(before, before.Add(test.clock), test.passed); got != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
	}
}
