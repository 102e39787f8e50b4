package index

import (
	"fmt"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// indexOf returns an index that was told of so many jobs: of 100 teams, and with 10,000 orders.
func indexOf(jobs int) *Index {
	x := New(Config{})
	for i := range jobs {
		x.take(scheduler.Stored{Key: scheduler.Key{Collection: "default", Job: fmt.Sprintf("job-%07d", i)}, Revision: uint64(i + 1)}, &scheduler.Summary{
			State: scheduler.Disabled, Action: "http", Updated: time.Now().Add(-time.Hour),
			Labels: []scheduler.Label{{Name: "team", Value: fmt.Sprintf("t%d", i%100)}, {Name: "order", Value: fmt.Sprintf("o%d", i%10_000)}},
		})
	}
	return x
}

// TestLabelsMadeAnew has labels get other numbers amid a search: it finds by those, and not by what it knew of the earlier ones.
func TestLabelsMadeAnew(t *testing.T) {
	x := indexOf(10_000)
	wanted, err := scheduler.ParseSelector("team=t7")
	if err != nil {
		t.Fatal(err)
	}
	s := x.search(&scheduler.JobQuery{Labels: wanted})
	count := func() (n int) {
		s.prepare()
		for _, b := range x.shelves["default"].blocks {
			for i := range b.recs {
				if s.judge(x.shelves["default"], b, i) == may {
					n++
				}
			}
		}
		return n
	}
	if n := count(); n != 100 {
		t.Fatalf("%d of 100 are found", n)
	}
	for i := range 9000 {
		x.remove(x.shelves["default"], fmt.Sprintf("job-%07d", i))
	}
	before := x.labels
	x.tidy()
	if x.labels == before {
		t.Fatal("the labels were not made anew")
	}
	if n := count(); n != 10 {
		t.Errorf("%d of the 10 that are left are found", n)
	}
}

// BenchmarkFind looks for the jobs of a page among a million.
func BenchmarkFind(b *testing.B) {
	x := indexOf(1_000_000)
	for _, test := range []struct{ name, labels string }{
		{"1 in 100", "team=t7"}, {"1 in 10,000", "order=o77"}, {"none", "team=nobody"},
	} {
		labels, err := scheduler.ParseSelector(test.labels)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(test.name, func(b *testing.B) {
			for b.Loop() {
				x.Find(&scheduler.JobQuery{Labels: labels}, scheduler.Key{}, 0, 101)
			}
		})
	}
}
