package conn

import (
	"testing"
	"time"
)

func TestAheadOf(t *testing.T) {
	ts := time.Unix(1e9, 0)
	tests := []struct {
		name            string
		asked, answered time.Duration // local time since ts
		was, want       time.Duration
	}{
		{"as far as can be told the same", -time.Millisecond, time.Millisecond, 0, 0},
		{"a slow answer", -time.Second, 0, 0, 0},
		{"ahead", 30 * time.Second, 30*time.Second + time.Millisecond, 0, 30*time.Second + time.Millisecond},
		{"behind", -30*time.Second - time.Millisecond, -30 * time.Second, 0, -30 * time.Second},
		{"ahead, and a slow answer that tells nothing", -time.Second, 1900 * time.Millisecond, time.Second, time.Second},
		{"ahead by a little, again and again", time.Millisecond, 5 * time.Millisecond, 4 * time.Millisecond, 4 * time.Millisecond},
		{"not ahead any more", -time.Millisecond, time.Millisecond, time.Second, 0},
	}
	for _, test := range tests {
		if got := aheadOf(ts.Add(test.asked), ts.Add(test.answered), ts, test.was); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

// TestReadingGoesOn checks a reading as time passes. Steps of the wall clock need a stepping clock; see
// integration/suite/chaos.
func TestReadingGoesOn(t *testing.T) {
	at := time.Now()
	for _, ahead := range []time.Duration{0, time.Minute, -time.Minute} {
		r := &reading{at: at, ahead: ahead}
		now, stepped := r.now(at.Add(time.Second))
		if want := at.Add(time.Second - ahead); !now.Equal(want) || stepped {
			t.Errorf("%s ahead: %s, a step %t; want %s and none", ahead, now, stepped, want)
		}
	}
}
