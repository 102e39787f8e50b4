package limits

import (
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// TestAhead sheds what a rate does not let begin within three seconds.
func TestAhead(t *testing.T) {
	second := &scheduler.TargetRule{Rate: 1, Per: time.Second}
	for name, test := range map[string]struct {
		rule  *scheduler.TargetRule
		ready time.Duration // from now
		sheds bool
		keep  int
		turn  time.Duration // of the run at index 10
	}{
		"no rule": {},
		"no rate": {rule: &scheduler.TargetRule{Concurrency: 1}},
		"idle": {
			rule: second, ready: -time.Hour, sheds: true, keep: 4, turn: 10 * time.Second,
		},
		"its turn in a second": {
			rule: second, ready: time.Second, sheds: true, keep: 3, turn: 11 * time.Second,
		},
		"its turn in three seconds": {
			rule: second, ready: paceAhead, sheds: true, keep: 1, turn: 13 * time.Second,
		},
		"its turn later": {
			rule: second, ready: paceAhead + 1, sheds: true, keep: 0, turn: 13*time.Second + 1,
		},
		"its turn in a day": {
			rule: second, ready: 24 * time.Hour, sheds: true, keep: 0, turn: maxPaceDelay,
		},
		"one a minute, the first at once": {
			rule: &scheduler.TargetRule{Rate: 1, Per: time.Minute}, sheds: true, keep: 1, turn: maxPaceDelay,
		},
		"quick": {
			rule:  &scheduler.TargetRule{Rate: 1000, Per: time.Second},
			sheds: true, keep: 3001, turn: 10 * time.Millisecond,
		},
		"the slowest rate": {
			rule: &scheduler.TargetRule{Rate: 1, Per: 24 * time.Hour}, sheds: true, keep: 1, turn: maxPaceDelay,
		},
	} {
		g := target{rule: test.rule, pacer: pacer{next: now.Add(test.ready)}}
		s, sheds := g.ahead(now)
		if sheds != test.sheds {
			t.Errorf("%s: sheds %t, want %t", name, sheds, test.sheds)
			continue
		}
		if sheds && (s.keep != test.keep || s.turn(10) != test.turn || s.why != DelayPace) {
			t.Errorf("%s: %+v, turn after %s; want %d kept, %s", name, s, s.turn(10), test.keep, test.turn)
		}
	}
}

// TestSurplus sheds all but the first two runs for a target with four slots.
func TestSurplus(t *testing.T) {
	for name, test := range map[string]struct {
		rule    *scheduler.TargetRule
		latency time.Duration
		sheds   bool
		why     Delay
		turns   [3]time.Duration // of the runs at index 2, 10 and 1000
	}{
		"quick, no rule": {latency: 100 * time.Millisecond},
		"quick, a rate":  {latency: 100 * time.Millisecond, rule: &scheduler.TargetRule{Rate: 1, Per: time.Second}},
		"slow": {
			latency: 2 * time.Second,
			sheds:   true, why: DelaySlow, turns: [3]time.Duration{minDelay, 5 * time.Second, maxDelay},
		},
		"slow, one at once": {
			latency: 2 * time.Second, rule: &scheduler.TargetRule{Concurrency: 1},
			sheds: true, why: DelayPace, turns: [3]time.Duration{4 * time.Second, 20 * time.Second, maxDelay},
		},
		"quick, one at once": {
			latency: 200 * time.Millisecond, rule: &scheduler.TargetRule{Concurrency: 1},
			sheds: true, why: DelayPace, turns: [3]time.Duration{minDelay, 2 * time.Second, maxDelay},
		},
		"quick, more at once than it has slots": {
			latency: 800 * time.Millisecond, rule: &scheduler.TargetRule{Concurrency: 100},
			sheds: true, why: DelayPace, turns: [3]time.Duration{minDelay, 2 * time.Second, maxDelay},
		},
		"slow, a circuit": {
			latency: 2 * time.Second, rule: &scheduler.TargetRule{Breaker: circuit},
			sheds: true, why: DelaySlow, turns: [3]time.Duration{minDelay, 5 * time.Second, maxDelay},
		},
	} {
		g := target{rule: test.rule, slots: slots{allowed: 4, latency: test.latency, slow: test.latency >= slowAfter}}
		s, sheds := g.surplus(2)
		if sheds != test.sheds {
			t.Errorf("%s: sheds %t, want %t", name, sheds, test.sheds)
			continue
		}
		turns := [3]time.Duration{s.turn(2), s.turn(10), s.turn(1000)}
		if sheds && (s.keep != 2 || s.why != test.why || turns != test.turns) {
			t.Errorf("%s: %+v, turns after %s; want %s", name, s, turns, test.turns)
		}
	}
}
