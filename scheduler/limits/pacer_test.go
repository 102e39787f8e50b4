package limits

import (
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

func TestInterval(t *testing.T) {
	for _, test := range []struct {
		rate int
		per  time.Duration
		want time.Duration
	}{
		{1, time.Minute, time.Minute},
		{4, time.Second, 250 * time.Millisecond},
		{3, time.Second, 333333333},
		{1 << 20, time.Millisecond, 1}, // quicker than a clock counts
	} {
		if got := interval(&scheduler.TargetRule{Rate: test.rate, Per: test.per}); got != test.want {
			t.Errorf("%d in %s: one in %s, want %s", test.rate, test.per, got, test.want)
		}
	}
}

func TestPacer(t *testing.T) {
	for name, test := range map[string]struct {
		next  time.Duration // from now
		each  time.Duration
		ready time.Duration // from now, before an attempt begins
		then  time.Duration // from now, behind it
	}{
		"idle for long":   {next: -time.Hour, each: time.Second, ready: -time.Hour, then: time.Second},
		"at its turn":     {next: 0, each: time.Second, ready: 0, then: time.Second},
		"before its turn": {next: time.Second, each: time.Second, ready: time.Second, then: 2 * time.Second},
		"quick, at its turn": {
			next: 0, each: 5 * time.Millisecond, ready: -15 * time.Millisecond, then: 5 * time.Millisecond,
		},
		"quick, within slack": {
			next: 15 * time.Millisecond, each: 5 * time.Millisecond, ready: 0, then: 20 * time.Millisecond,
		},
		"quick, slack used up": {
			next: 20 * time.Millisecond, each: 5 * time.Millisecond,
			ready: 5 * time.Millisecond, then: 25 * time.Millisecond,
		},
		"just as quick as slack": {next: slack, each: slack, ready: slack, then: 2 * slack},
	} {
		p := pacer{next: now.Add(test.next)}
		if got := p.ready(test.each).Sub(now); got != test.ready {
			t.Errorf("%s: ready after %s, want %s", name, got, test.ready)
		}
		p.begin(test.each, now)
		if got := p.next.Sub(now); got != test.then {
			t.Errorf("%s: the next after %s, want %s", name, got, test.then)
		}
		if p.quiet(now) || !p.quiet(now.Add(test.then)) {
			t.Errorf("%s: not remembered until the next may begin", name)
		}
		p.forgo(test.each)
		if got, want := p.next.Sub(now), max(0, test.next); got != want {
			t.Errorf("%s: the next after %s when the attempt is forgone, want %s", name, got, want)
		}
	}
}
