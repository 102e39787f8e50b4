package natsmsg

import "testing"

// TestOverlap compares patterns of subjects.
func TestOverlap(t *testing.T) {
	for _, test := range []struct {
		a, b             string
		overlap, matches bool
	}{
		{"a.b", "a.b", true, true},
		{"a.b", "a.c", false, false},
		{"a.b", "a", false, false},
		{"a.*", "a.b", true, true},
		{"a.b", "a.*", true, false},
		{"a.*", "a.>", true, false},
		{"a.>", "a.*", true, true},
		{"a.>", "a", false, false},
		{">", "a.b.c", true, true},
		{"*.b", "a.*", true, false},
		{"a.*.c", "a.b.d", false, false},
	} {
		if got := overlap(test.a, test.b); got != test.overlap || got != overlap(test.b, test.a) {
			t.Errorf("overlap of %s and %s: %t", test.a, test.b, got)
		}
		if got := matches(test.a, test.b); got != test.matches {
			t.Errorf("%s matches %s: %t", test.a, test.b, got)
		}
	}
}
