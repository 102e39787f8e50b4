package failover

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// TestPeers checks which peers are asked and which have vanished, given their signs of life.
func TestPeers(t *testing.T) {
	start := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	// Events at milliseconds; "?" is a beat, with the expected questions and vanished peers.
	type event struct {
		at   int
		what string
		want string
	}
	tests := []struct {
		name   string
		events []event
	}{
		{"it says again and again that it holds something", []event{
			{0, "sign", ""}, {500, "sign", ""}, {1400, "?", ""}, {1500, "?", "ask a"},
		}},
		{"it is asked once while the answer is out", []event{
			{0, "sign", ""}, {1000, "?", "ask a"}, {1250, "?", ""}, {9000, "?", ""},
		}},
		{"it answers: it is only slow", []event{
			{0, "sign", ""}, {1000, "?", "ask a"}, {1400, "answered", ""}, {2300, "?", ""}, {2400, "?", "ask a"},
		}},
		{"it is connected and does not answer: never vanished", []event{
			{0, "sign", ""}, {1000, "?", "ask a"}, {1500, "waits", ""}, {1501, "?", "ask a"}, {2001, "waits", ""}, {60000, "?", "ask a"},
		}},
		{"it is not connected", []event{
			{0, "sign", ""},
			{1000, "?", "ask a"},
			{1001, "missed", ""},
			{1250, "?", "ask a"},
			{1499, "missed", ""},
			{1499, "?", "ask a"},
			{1500, "missed", ""},
			{1500, "?", "ask a gone a"},
			{1600, "?", ""},
		}},
		{"it connects again in time", []event{
			{0, "sign", ""}, {1000, "?", "ask a"}, {1001, "missed", ""}, {1200, "sign", ""}, {1600, "?", ""}, {2200, "?", "ask a"},
		}},
		{"it was away, and is asked again first", []event{
			{0, "sign", ""}, {1000, "?", "ask a"}, {1001, "missed", ""}, {5000, "?", "ask a"}, {5001, "answered", ""}, {5500, "?", ""},
		}},
		{"we were away ourselves: it has time to connect", []event{
			{0, "sign", ""},
			{5000, "reconnected", ""},
			{7499, "?", ""},
			{7500, "?", "ask a"},
			{7501, "missed", ""},
			{7999, "?", "ask a"},
			{8000, "missed", ""},
			{8000, "?", "ask a gone a"},
		}},
		{"it rests: an answer that comes late does not count", []event{
			{0, "sign", ""},
			{1000, "?", "ask a"},
			{1100, "rests", ""},
			{1200, "answered", ""},
			{1200, "missed", ""},
			{1200, "waits", ""},
			{9000, "?", ""},
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := peers{}
			for _, e := range test.events {
				now := start.Add(time.Duration(e.at) * time.Millisecond)
				switch e.what {
				case "sign":
					p.sign("a", now)
				case "answered":
					p.answered("a", now)
				case "missed":
					p.missed("a", now)
				case "waits":
					p.waits("a")
				case "rests":
					delete(p, "a")
				case "reconnected":
					p.reconnected(now)
				case "?":
					var got []string
					if ask := p.questions(now); len(ask) > 0 {
						got = append(got, "ask "+strings.Join(ask, " "))
					}
					if gone := p.vanished(); len(gone) > 0 {
						got = append(got, "gone "+strings.Join(gone, " "))
					}
					if text := strings.Join(got, " "); text != e.want {
						t.Errorf("after %d ms: %q, want %q", e.at, text, e.want)
					}
				}
			}
		})
	}
}

// TestOverstayed checks which claims take too long.
func TestOverstayed(t *testing.T) {
	start := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	phases := map[string]*phase{"a": {asked: start}, "b": {asked: start.Add(-time.Second)}}
	for after, want := range map[time.Duration][]string{
		0: nil, endureAfter - time.Second: {"b"}, endureAfter - time.Millisecond: {"b"}, endureAfter: {"a", "b"}, time.Hour: {"a", "b"},
	} {
		if got := overstayed(phases, start.Add(after)); !slices.Equal(got, want) {
			t.Errorf("after %s: %v, want %v", after, got, want)
		}
	}
}

// TestPatiences checks the relations between the times of a claim: leases of a responsive process are safe during the
// phase, whatever stalls, and leases of a vanished one end in it.
func TestPatiences(t *testing.T) {
	youngest := patience - pulseEvery // youngest lease of a vanished process at the claim
	switch {
	case phaseEnds >= shortWait:
		t.Error("a lease that is renewed when that is asked for may run out in the phase")
	case youngest+phaseEnds-answerWait < shortWait:
		t.Error("the youngest lease of a vanished process does not run out in the phase")
	case endureAfter+watchEvery+pulseEvery/2 > shortWait+pulseEvery:
		t.Error("leases are not renewed in time when a phase does not end")
	case renewLast+renewEvery+patience+answerWait > AckWait:
		t.Error("the server gives out what is just being claimed")
	}
}
