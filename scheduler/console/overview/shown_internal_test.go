package overview

import "testing"

// TestHundredths writes parts of a hundred as people do: all of them, nearly all, hardly any.
func TestHundredths(t *testing.T) {
	for _, test := range []struct {
		some, all uint64
		want      string
	}{
		{0, 0, "0"},
		{0, 142, "0"},
		{142, 142, "100"},
		{999, 1000, "99"},
		{99_999, 100_000, "99"},
		{1, 2, "50"},
		{996, 10_000, "10"},
		{81, 1000, "8.1"},
		{1, 1000, "0.1"},
		{1, 1_000_000, "< 0.01"},
	} {
		if got := hundredths(test.some, test.all); got != test.want {
			t.Errorf("%d of %d: %q, want %q", test.some, test.all, got, test.want)
		}
	}
}
