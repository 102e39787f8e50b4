package limits

import (
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

var (
	now     = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	circuit = &scheduler.BreakerRule{Failures: 3, OpenFor: time.Minute, Most: time.Hour}

	well      = scheduler.Result{Status: 200}
	failed    = scheduler.Result{Failed: true, Status: 503}
	refused   = scheduler.Result{Failed: true, Status: 404}
	blameless = scheduler.Result{Failed: true, SkipCircuit: true}
)

// circuits are the states of a circuit, at now.
var circuits = map[string]breaker{
	"closed":                       {},
	"closed, one failure":          {failures: 1, last: now},
	"closed, one short of opening": {failures: 2, last: now},
	"open":                         {failures: 3, until: now.Add(time.Minute), last: now},
	"half open":                    {failures: 3, until: now, last: now.Add(-time.Minute)},
	"probing":                      {failures: 3, until: now, last: now.Add(-time.Minute), probing: true},
	"open again":                   {failures: 4, until: now.Add(time.Minute), last: now},
}

func TestCircuitStates(t *testing.T) {
	for state, want := range map[string]struct{ admits, open, probe, quiet bool }{
		"closed":                       {admits: true, quiet: true},
		"closed, one short of opening": {admits: true},
		"open":                         {open: true},
		"half open":                    {admits: true, probe: true},
		"probing":                      {},
	} {
		b := circuits[state]
		if got := b.admits(now); got != want.admits {
			t.Errorf("%s: admits %t, want %t", state, got, want.admits)
		}
		if got := b.open(now); got != want.open {
			t.Errorf("%s: open %t, want %t", state, got, want.open)
		}
		if got := b.quiet(now); got != want.quiet {
			t.Errorf("%s: quiet %t, want %t", state, got, want.quiet)
		}
		if got := b.begin(now); got != want.probe {
			t.Errorf("%s: an attempt that begins is the probe: %t, want %t", state, got, want.probe)
		}
	}
}

func TestCircuitFollowsResults(t *testing.T) {
	for _, test := range []struct {
		state string
		res   scheduler.Result
		probe bool
		then  string
		opens bool
	}{
		{state: "closed", res: well, then: "closed"},
		{state: "closed", res: failed, then: "closed, one failure"},
		{state: "closed, one failure", res: failed, then: "closed, one short of opening"},
		{state: "closed, one short of opening", res: failed, then: "open", opens: true},
		{state: "closed, one short of opening", res: well, then: "closed"},
		{state: "closed, one short of opening", res: refused, then: "closed"},
		{state: "closed, one short of opening", res: blameless, then: "closed, one short of opening"},
		{state: "open", res: well, then: "closed"}, // of an attempt that began before
		{state: "open", res: blameless, then: "open"},
		{state: "probing", res: well, probe: true, then: "closed"},
		{state: "probing", res: refused, probe: true, then: "closed"},
		{state: "probing", res: failed, probe: true, then: "open again", opens: true},
		{state: "probing", res: blameless, probe: true, then: "half open"},
		{state: "probing", res: blameless, then: "probing"},
	} {
		b := circuits[test.state]
		if opened := b.end(circuit, test.res, now, test.probe); opened != test.opens || b != circuits[test.then] {
			t.Errorf("%s, %+v, probe %t: then %+v, opened %t; want %s, %t",
				test.state, test.res, test.probe, b, opened, test.then, test.opens)
		}
	}
}

// TestLateFailure has an attempt end that began before the circuit opened: it is counted, and opens nothing.
func TestLateFailure(t *testing.T) {
	for _, state := range []string{"open", "half open", "probing"} {
		b := circuits[state]
		want := b
		want.failures, want.last = 4, now
		if opened := b.end(circuit, failed, now, false); opened || b != want {
			t.Errorf("%s: then %+v, opened %t; want %+v", state, b, opened, want)
		}
	}
}

func TestCircuitWithoutRule(t *testing.T) {
	b := circuits["open"]
	if b.end(nil, failed, now, false) || b != circuits["closed"] {
		t.Errorf("then %+v, want it closed: the rule was taken back", b)
	}
}

func TestProbeForgone(t *testing.T) {
	b := circuits["probing"]
	b.forgo(false)
	if b != circuits["probing"] {
		t.Errorf("another attempt was forgone: then %+v", b)
	}
	b.forgo(true)
	if b != circuits["half open"] {
		t.Errorf("the probe was forgone: then %+v", b)
	}
}

func TestCircuitIsForgotten(t *testing.T) {
	for after, want := range map[time.Duration]bool{
		forgetAfter:                   false,
		forgetAfter + time.Minute:     false, // since it opened for a minute
		forgetAfter + time.Minute + 1: true,
	} {
		if b := circuits["open"]; b.quiet(now.Add(after)) != want {
			t.Errorf("quiet %s after the last failure: %t, want %t", after, !want, want)
		}
	}
}

func TestTrouble(t *testing.T) {
	for status, want := range map[int]bool{
		0: true, 408: true, 429: true, 500: true, 502: true, 503: true, 504: true,
		200: false, 301: false, 400: false, 401: false, 404: false, 501: false, 505: false,
	} {
		if got := trouble(scheduler.Result{Failed: true, Status: status}); got != want {
			t.Errorf("failed with status %d: trouble %t, want %t", status, got, want)
		}
		if trouble(scheduler.Result{Status: status}) {
			t.Errorf("completed with status %d: trouble", status)
		}
	}
}
