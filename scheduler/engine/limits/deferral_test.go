package limits

import (
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

var bill = scheduler.Key{Collection: "shop", Job: "bill"}

// TestRetryAt tries again a run that a circuit holds back, which is open for another ten seconds.
func TestRetryAt(t *testing.T) {
	until := now.Add(10 * time.Second)
	for name, test := range map[string]struct {
		openFor, most time.Duration
		since         time.Duration // before now
		from, to      time.Time
	}{
		"held back just now": {
			openFor: time.Minute, most: time.Hour, from: until, to: until.Add(5 * time.Second),
		},
		"open for a short time": {
			openFor: 4 * time.Second, most: time.Hour, from: until, to: until.Add(time.Second),
		},
		"may wait four seconds more": {
			openFor: time.Minute, most: time.Hour, since: time.Hour - 4*time.Second,
			from: now.Add(4 * time.Second), to: now.Add(4 * time.Second),
		},
		"has waited for as long as it may": {
			openFor: time.Minute, most: time.Hour, since: time.Hour, from: now, to: now,
		},
		"has waited for longer": {
			openFor: time.Minute, most: time.Hour, since: 2 * time.Hour, from: now, to: now,
		},
	} {
		d := Deferral{until, DelayCircuit, &scheduler.TargetRule{
			Breaker: &scheduler.BreakerRule{Failures: 1, OpenFor: test.openFor, Most: test.most},
		}}
		if at := d.retryAt(bill, now.Add(-test.since), now); at.Before(test.from) || at.After(test.to) {
			t.Errorf("%s: tried again at %s, want %s to %s", name, at, test.from, test.to)
		}
	}
}

// TestRetriesAreSpread shows that jobs do not try again all at once, nor in the same order every time.
func TestRetriesAreSpread(t *testing.T) {
	d := Deferral{now.Add(time.Minute), DelayCircuit, &scheduler.TargetRule{Breaker: circuit}}
	one, other := scheduler.Key{Collection: "c", Job: "job1"}, scheduler.Key{Collection: "c", Job: "job2"}
	first := 0
	for i := range 100 {
		now := now.Add(time.Duration(i) * 100 * time.Millisecond)
		a, b := d.retryAt(one, now, now), d.retryAt(other, now, now)
		if a.Equal(b) {
			t.Error("two jobs try again at one instant")
		}
		if a.Before(b) {
			first++
		}
	}
	if first == 0 || first == 100 {
		t.Errorf("one of two jobs is the first to try again %d times in 100", first)
	}
}

func TestMessage(t *testing.T) {
	at := now.In(time.FixedZone("", 3600))
	for want, d := range map[string]Deferral{
		"the circuit breaker of x.example is open after consecutive failures; this one is retried at 2026-03-01T12:00:00Z": {
			Why: DelayCircuit, Rule: &scheduler.TargetRule{Rate: 1, Per: time.Second, Breaker: circuit},
		},
		"collection shop limits attempts to x.example to 5 in PT1M; this one is retried at about 2026-03-01T12:00:00Z": {
			Why: DelayPace, Rule: &scheduler.TargetRule{Rate: 5, Per: time.Minute, Concurrency: 2},
		},
		"collection shop limits concurrent attempts to x.example to 2; this one is retried at 2026-03-01T12:00:00Z": {
			Why: DelayPace, Rule: &scheduler.TargetRule{Concurrency: 2},
		},
	} {
		if got := d.message(bill, "x.example", at); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestDeferralFor shows what becomes of a run for each reason to defer it.
func TestDeferralFor(t *testing.T) {
	now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	until := now.Add(30 * time.Second)
	rule := &scheduler.TargetRule{
		Rate: 2, Per: time.Minute, Breaker: &scheduler.BreakerRule{Failures: 2, OpenFor: 20 * time.Second, Most: time.Minute},
	}
	for name, test := range map[string]struct {
		why      Delay
		since    time.Time
		earliest time.Time
		latest   time.Time
		want     scheduler.Deferral // but for its time
	}{
		"slow: nothing is recorded":             {DelaySlow, time.Time{}, until, until, scheduler.Deferral{}},
		"a rate: held before its turn":          {DelayPace, time.Time{}, until, until, scheduler.Deferral{Ahead: true, Message: "limits"}},
		"a circuit: at a moment of its own":     {DelayCircuit, time.Time{}, until, until.Add(5 * time.Second), scheduler.Deferral{Circuit: true, Message: "circuit"}},
		"a circuit, for long: no later than so": {DelayCircuit, now.Add(-40 * time.Second), now.Add(20 * time.Second), now.Add(20 * time.Second), scheduler.Deferral{Circuit: true, Message: "circuit"}},
	} {
		c := &Call{Key: scheduler.Key{Collection: "c", Job: "j"}, Target: "h", DeferredSince: test.since}
		got := Deferral{Until: until, Why: test.why, Rule: rule}.For(c, now)
		if got.At.Before(test.earliest) || got.At.After(test.latest) {
			t.Errorf("%s: at %s, want %s to %s", name, got.At, test.earliest, test.latest)
		}
		if got.Circuit != test.want.Circuit || got.Ahead != test.want.Ahead ||
			!strings.Contains(got.Message, test.want.Message) || (got.Message == "") != (test.want.Message == "") {
			t.Errorf("%s: got %+v, want %+v", name, got, test.want)
		}
	}
}
