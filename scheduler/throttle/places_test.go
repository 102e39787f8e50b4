package throttle_test

import (
	"errors"
	"testing"

	"github.com/carillon-sched/carillon/scheduler/throttle"
)

// TestPlaces takes places for several callers, until there are none.
func TestPlaces(t *testing.T) {
	p := throttle.NewPlaces(8) // two for each caller
	take := func(caller string) (leave func(), full throttle.Full) {
		leave, err := p.Take(caller)
		if f, ok := errors.AsType[*throttle.Full](err); ok {
			return nil, *f
		}
		return leave, full
	}
	own, all, none := throttle.Full{Own: true, Most: 2}, throttle.Full{Most: 8}, throttle.Full{}
	var leaves []func()
	for i, test := range []struct {
		caller string
		want   throttle.Full
	}{
		{"a", none},
		{"a", none},
		{"a", own},
		{"b", none},
		{"b", none},
		{"b", own},
		{"c", none},
		{"c", none},
		{"d", none},
		{"d", none},
		{"e", all},
		{"a", own},
	} {
		leave, full := take(test.caller)
		if full != test.want {
			t.Errorf("%d, %s: %v, want %v", i, test.caller, full, test.want)
		}
		if leave != nil {
			leaves = append(leaves, leave)
		}
	}
	leaves[0]()
	leaves[0]() // once is enough
	if _, full := take("a"); full != none {
		t.Errorf("after one has left: %v", full)
	}
	for _, leave := range leaves[1:] {
		leave()
	}
	if all, callers := p.Taken(); all != 1 || callers != 1 {
		t.Errorf("one is left, and %d are counted, of %d", all, callers)
	}
}
