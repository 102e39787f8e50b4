package words_test

import (
	"testing"

	"github.com/carillon-sched/carillon/scheduler/console/words"
)

// TestCount says texts for one thing and for many, of any kind of number.
func TestCount(t *testing.T) {
	for _, test := range []struct {
		key  string
		n    any
		want string
	}{
		{"jobs.others", 1, "and one other"},
		{"jobs.others", 12345, "and 12\u202f345 others"},
		{"queues.more", 1, "One more is not shown: filter by name to find it."},
		{"queues.more", uint64(2), "2 more are not shown: filter by name to find them."},
	} {
		if got := words.Count(test.key, test.n); got != test.want {
			t.Errorf("%s of %v: %q, want %q", test.key, test.n, got, test.want)
		}
	}
}
