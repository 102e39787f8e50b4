package index

import (
	"fmt"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// put defines a job, as a read of its definition does.
func (x *Index) put(k scheduler.Key, revision uint64, summary *scheduler.Summary) *record {
	r := x.get(k)
	if r == nil {
		r = x.add(k)
	}
	x.define(r, revision, summary)
	return r
}

// indexOf returns an index that was told of so many jobs: of 100 teams, and with 10,000 orders.
func indexOf(jobs int) *Index {
	x := New(Config{})
	for i := range jobs {
		x.put(scheduler.Key{Collection: "default", Job: fmt.Sprintf("job-%07d", i)}, uint64(i+1), &scheduler.Summary{
			State: scheduler.Disabled, Action: "http", Updated: time.Now().Add(-time.Hour),
			Labels: []scheduler.Label{{Name: "team", Value: fmt.Sprintf("t%d", i%100)}, {Name: "order", Value: fmt.Sprintf("o%d", i%10_000)}},
		})
	}
	return x
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
