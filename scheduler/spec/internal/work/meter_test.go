package work

import "testing"

// TestMeter spends until nothing is left, and begins again.
func TestMeter(t *testing.T) {
	m := New(10)
	if !m.Spend(4) || !m.Spend(6) || m.Exhausted() || m.Left() != 0 {
		t.Errorf("all of it: %+v", m)
	}
	if m.Spend(1) || !m.Exhausted() || m.Spent() != 11 || m.Left() != 0 {
		t.Errorf("more: %+v", m)
	}
	m.Reset(5)
	if m.Exhausted() || m.Left() != 5 {
		t.Errorf("again: %+v", m)
	}
	var none *Meter
	if !none.Spend(1<<40) || none.Exhausted() || none.Spent() != 0 {
		t.Error("no meter counts")
	}
}
