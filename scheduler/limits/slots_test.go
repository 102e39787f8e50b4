package limits

import (
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// TestSlotsAreEarned shows what the answer to an attempt makes of a target that may have up to 10 slots.
func TestSlotsAreEarned(t *testing.T) {
	for name, test := range map[string]struct {
		target slots
		took   time.Duration
		failed bool
		want   slots
		moved  int
	}{
		"new, answers quickly": {
			target: slots{inFlight: 2, allowed: 8}, took: 400 * time.Millisecond,
			want: slots{inFlight: 2, allowed: 9, latency: 100 * time.Millisecond},
		},
		"new, fails quickly": {
			target: slots{inFlight: 2, allowed: 8}, took: 400 * time.Millisecond, failed: true,
			want: slots{inFlight: 2, allowed: 9, latency: 100 * time.Millisecond},
		},
		"has all it may": {
			target: slots{inFlight: 2, allowed: 10}, took: 400 * time.Millisecond,
			want: slots{inFlight: 2, allowed: 10, latency: 100 * time.Millisecond},
		},
		"becomes slow and succeeds": {
			target: slots{inFlight: 2, allowed: 8}, took: 4 * time.Second,
			want: slots{inFlight: 2, allowed: 9, latency: time.Second, slow: true}, moved: 2,
		},
		"becomes slow and fails": {
			target: slots{inFlight: 2, allowed: 8}, took: 4 * time.Second, failed: true,
			want: slots{inFlight: 2, allowed: 8, latency: time.Second, slow: true}, moved: 2,
		},
		"stays slow": {
			target: slots{inFlight: 2, allowed: 8, latency: 2 * time.Second, slow: true}, took: 2 * time.Second,
			want: slots{inFlight: 2, allowed: 9, latency: 2 * time.Second, slow: true},
		},
		"is slow no more": {
			target: slots{inFlight: 2, allowed: 8, latency: time.Second, slow: true},
			want:   slots{inFlight: 2, allowed: 9, latency: 750 * time.Millisecond}, moved: -2,
		},
	} {
		got := test.target
		moved := got.answered(scheduler.Result{Duration: test.took, Failed: test.failed}, 10, now)
		test.want.progress = now
		if got != test.want || moved != test.moved {
			t.Errorf("%s: then %+v, %d moved; want %+v, %d", name, got, moved, test.want, test.moved)
		}
	}
}

// TestSilenceIsSlow reviews a target with attempts that have not ended.
func TestSilenceIsSlow(t *testing.T) {
	for name, test := range map[string]struct {
		target  slots
		silent  time.Duration
		latency time.Duration
		slow    bool
		moved   int
	}{
		"nothing in flight":   {target: slots{}, silent: time.Hour},
		"silent for a second": {target: slots{inFlight: 3}, silent: slowAfter},
		"silent for longer": {
			target: slots{inFlight: 3}, silent: slowAfter + 1, latency: slowAfter + 1, slow: true, moved: 3,
		},
		"slow, as silent as ever": {
			target: slots{inFlight: 3, latency: 5 * time.Second, slow: true}, silent: 4 * time.Second,
			latency: 5 * time.Second, slow: true,
		},
		"slow, more silent than it": {
			target: slots{inFlight: 3, latency: 5 * time.Second, slow: true}, silent: time.Minute,
			latency: time.Minute, slow: true,
		},
	} {
		s := test.target
		s.progress = now.Add(-test.silent)
		if moved := s.review(now); moved != test.moved || s.latency != test.latency || s.slow != test.slow {
			t.Errorf("%s: latency %s, slow %t, %d moved; want %s, %t, %d",
				name, s.latency, s.slow, moved, test.latency, test.slow, test.moved)
		}
	}
}

func TestSlotsAdmit(t *testing.T) {
	for name, test := range map[string]struct {
		target   slots
		slowRoom bool
		want     bool
	}{
		"idle":                    {target: slots{allowed: 8}, want: true},
		"one slot left":           {target: slots{inFlight: 7, allowed: 8}, want: true},
		"has all":                 {target: slots{inFlight: 8, allowed: 8}, slowRoom: true},
		"slow":                    {target: slots{inFlight: 7, allowed: 8, slow: true}, slowRoom: true, want: true},
		"slow, as are many":       {target: slots{allowed: 8, slow: true}},
		"slow, has all":           {target: slots{inFlight: 8, allowed: 8, slow: true}, slowRoom: true},
		"quick, beside many slow": {target: slots{inFlight: 7, allowed: 8}, want: true},
	} {
		if got := test.target.admits(test.slowRoom); got != test.want {
			t.Errorf("%s: %t, want %t", name, got, test.want)
		}
	}
}

// TestProgress shows that a target's silence counts from the first attempt of several.
func TestProgress(t *testing.T) {
	var s slots
	s.begin(now)
	s.begin(now.Add(time.Second))
	if want := (slots{inFlight: 2, progress: now}); s != want {
		t.Errorf("%+v, want %+v", s, want)
	}
}
