package jobs

import "testing"

// TestBusy counts what is under way of one person: not what waits to be confirmed, what has ended, and what is of others.
func TestBusy(t *testing.T) {
	s := newOperations()
	add := func(owner string, begins bool) *operation {
		o := &operation{owner: owner, Do: disable}
		s.add(o)
		if begins && !o.begin(func() {}) {
			t.Error("it does not begin")
		}
		return o
	}
	add("me", false)
	add("others", true)
	var last *operation
	for n := range runningMost {
		if s.busy("me") {
			t.Errorf("%d are too many", n)
		}
		last = add("me", true)
	}
	if !s.busy("me") || s.busy("others") {
		t.Errorf("busy: %t, others: %t", s.busy("me"), s.busy("others"))
	}
	last.end("")
	if s.busy("me") {
		t.Error("one that has ended is under way")
	}
}
