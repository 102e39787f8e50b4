package limits

import (
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

func TestTargetAdmits(t *testing.T) {
	pair := &scheduler.TargetRule{Concurrency: 2}
	paced := &scheduler.TargetRule{Rate: 1, Per: time.Second}
	broken := &scheduler.TargetRule{Breaker: circuit}
	all := &scheduler.TargetRule{Concurrency: 2, Rate: 1, Per: time.Second, Breaker: circuit}
	some, next := slots{inFlight: 1, allowed: 8}, pacer{next: now.Add(time.Second)}
	long, brief := &Call{DeferredSince: now.Add(-time.Hour)}, &Call{DeferredSince: now.Add(-time.Minute)}
	for name, test := range map[string]struct {
		target target
		call   *Call // nil: never deferred
		ok     bool
		wakes  time.Duration // from now; 0: not by the clock
	}{
		"no rule":               {target: target{slots: some}, ok: true},
		"no rule, no slot":      {target: target{slots: slots{inFlight: 8, allowed: 8}}},
		"below its concurrency": {target: target{slots: some, rule: pair}, ok: true},
		"at its concurrency":    {target: target{slots: slots{inFlight: 2, allowed: 8}, rule: pair}},
		"at its rate's turn": {
			target: target{slots: some, rule: paced, pacer: pacer{next: now}}, ok: true,
		},
		"before its rate's turn": {
			target: target{slots: some, rule: paced, pacer: next}, wakes: time.Second,
		},
		"before its turn, rate taken back": {target: target{slots: some, rule: broken, pacer: next}, ok: true},
		"before its turn, and no slot": {
			target: target{slots: slots{inFlight: 8, allowed: 8}, rule: paced, pacer: next},
		},
		"before its turn, at its concurrency": {
			target: target{slots: slots{inFlight: 2, allowed: 8}, rule: all, pacer: next},
		},
		"before its turn, circuit open": {
			target: target{slots: some, rule: all, pacer: next, breaker: circuits["open"]},
		},
		"circuit closed": {target: target{slots: some, rule: broken}, ok: true},
		"circuit open":   {target: target{slots: some, rule: broken, breaker: circuits["open"]}},
		"circuit open, its rule taken back": {
			target: target{slots: some, rule: pair, breaker: circuits["open"]}, ok: true,
		},
		"circuit half open": {
			target: target{slots: some, rule: broken, breaker: circuits["half open"]}, ok: true,
		},
		"probing": {
			target: target{slots: some, rule: broken, breaker: circuits["probing"]},
		},
		"circuit open, deferred for long": {
			target: target{slots: some, rule: broken, breaker: circuits["open"]}, call: long, ok: true,
		},
		"circuit open, deferred before": {
			target: target{slots: some, rule: broken, breaker: circuits["open"]}, call: brief,
		},
		"probing, deferred for long": {
			target: target{slots: some, rule: broken, breaker: circuits["probing"]}, call: long, ok: true,
		},
		"before its turn, deferred for long": {
			target: target{slots: some, rule: all, pacer: next, breaker: circuits["open"]}, call: long,
			wakes: time.Second,
		},
	} {
		c := test.call
		if c == nil {
			c = &Call{}
		}
		var wakes time.Duration
		at, ok := test.target.admits(c, true, now)
		if !at.IsZero() {
			wakes = at.Sub(now)
		}
		if ok != test.ok || wakes != test.wakes {
			t.Errorf("%s: %t, woken after %s; want %t, %s", name, ok, wakes, test.ok, test.wakes)
		}
	}
}

func TestTargetDefers(t *testing.T) {
	broken := &scheduler.TargetRule{Breaker: circuit}
	long := Call{DeferredSince: now.Add(-time.Hour)}
	for name, test := range map[string]struct {
		rule      *scheduler.TargetRule
		circuit   string
		call      Call
		defers    bool
		overtakes bool
	}{
		"no rule":                {circuit: "open"},
		"no circuit in the rule": {rule: &scheduler.TargetRule{Concurrency: 1}, circuit: "open", call: long},
		"closed":                 {rule: broken, circuit: "closed"},
		"open":                   {rule: broken, circuit: "open", defers: true},
		"half open":              {rule: broken, circuit: "half open"},
		"probing":                {rule: broken, circuit: "probing"},
		"open, deferred before": {
			rule: broken, circuit: "open", call: Call{DeferredSince: now.Add(1 - time.Hour)}, defers: true,
		},
		"open, deferred for long":   {rule: broken, circuit: "open", call: long, overtakes: true},
		"closed, deferred for long": {rule: broken, circuit: "closed", call: long, overtakes: true},
	} {
		g := target{rule: test.rule, breaker: circuits[test.circuit]}
		d, defers := g.defers(&test.call, now)
		if defers != test.defers {
			t.Errorf("%s: deferred %t, want %t", name, defers, test.defers)
		}
		if got := g.overtakes(&test.call, now); got != test.overtakes {
			t.Errorf("%s: goes first %t, want %t", name, got, test.overtakes)
		}
		if want := (Deferral{now.Add(time.Minute), DelayCircuit, broken}); defers && d != want {
			t.Errorf("%s: %+v, want %+v", name, d, want)
		}
	}
}

// TestRunIsCounted begins a run, and takes that back or ends it.
func TestRunIsCounted(t *testing.T) {
	rule := &scheduler.TargetRule{Rate: 1, Per: time.Minute, Breaker: circuit}
	c := &Call{probe: true} // of an attempt before
	g := target{rule: rule, pacer: pacer{next: now}, breaker: circuits["half open"]}
	g.begin(c, now)
	want := target{
		rule: rule, slots: slots{inFlight: 1, progress: now}, pacer: pacer{next: now.Add(time.Minute)},
		breaker: circuits["probing"],
	}
	if !c.probe || g != want {
		t.Errorf("begun: %+v, %+v", c, g)
	}
	forgone := g
	forgone.forgo(c)
	if forgone.breaker != circuits["half open"] || !forgone.pacer.next.Equal(now) {
		t.Errorf("forgone: %+v", forgone)
	}
	if moved, opened := g.end(c, failed, 10, now); moved != 0 || !opened || g.breaker != circuits["open again"] {
		t.Errorf("ended: %d moved, opened %t, %+v", moved, opened, g)
	}
	free := target{breaker: circuits["half open"]}
	free.begin(c, now)
	if c.probe || free.breaker != circuits["half open"] || !free.pacer.next.IsZero() {
		t.Errorf("begun without a rule: %+v, %+v", c, free)
	}
}

func TestTargetIdle(t *testing.T) {
	for name, test := range map[string]struct {
		target target
		want   bool
	}{
		"new":                    {target: target{}, want: true},
		"with an attempt":        {target: target{slots: slots{inFlight: 1}}},
		"after a failure":        {target: target{breaker: circuits["closed, one failure"]}},
		"before its rate's turn": {target: target{pacer: pacer{next: now.Add(1)}}},
		"at its rate's turn":     {target: target{pacer: pacer{next: now}}, want: true},
	} {
		if got := test.target.idle(now); got != test.want {
			t.Errorf("%s: idle %t, want %t", name, got, test.want)
		}
	}
}

func TestTargetQuick(t *testing.T) {
	pair := &scheduler.TargetRule{Concurrency: 2}
	for name, test := range map[string]struct {
		target target
		want   bool
	}{
		"quick":                      {target: target{}, want: true},
		"slow":                       {target: target{slots: slots{inFlight: 1, slow: true}}},
		"with attempts under a rule": {target: target{slots: slots{inFlight: 1}, rule: pair}, want: true},
		"waiting for its circuit":    {target: target{rule: pair}},
		"with attempts at a rate": {
			target: target{slots: slots{inFlight: 1}, rule: &scheduler.TargetRule{Rate: 1, Per: time.Second}},
		},
	} {
		if got := test.target.quick(); got != test.want {
			t.Errorf("%s: quick %t, want %t", name, got, test.want)
		}
	}
}

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
		if sheds && (s.keep != test.keep || s.delayOf(10) != test.turn || s.why != DelayPace) {
			t.Errorf("%s: %+v, turn after %s; want %d kept, %s", name, s, s.delayOf(10), test.keep, test.turn)
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
		turns := [3]time.Duration{s.delayOf(2), s.delayOf(10), s.delayOf(1000)}
		if sheds && (s.keep != 2 || s.why != test.why || turns != test.turns) {
			t.Errorf("%s: %+v, turns after %s; want %s", name, s, turns, test.turns)
		}
	}
}
