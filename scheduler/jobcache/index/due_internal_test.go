package index

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/integration/testkit/bubble"
	"github.com/carillon-sched/carillon/scheduler"
)

// dueOf returns an index of so many jobs in each of the collections a, b and c: the i-th of each runs in i seconds.
func dueOf(jobs ...int) *Index {
	x := New(Config{})
	x.ready = true
	now := time.Now()
	for at, n := range jobs {
		c := string(rune('a' + at))
		for i := range n {
			k := scheduler.Key{Collection: c, Job: fmt.Sprintf("job-%07d", i)}
			x.put(k, 1, &scheduler.Summary{State: scheduler.Enabled, Updated: now.Add(-time.Hour)}).next = now.Add(time.Duration(i+1)*time.Second + time.Second/2).UnixMilli()
		}
		k := scheduler.Key{Collection: c, Job: "off"}
		x.put(k, 1, &scheduler.Summary{State: scheduler.Disabled, Updated: now.Add(-time.Hour)})
	}
	return x
}

// TestDueCountsWhatMayBeSeen counts all jobs, those of two collections, and none.
func TestDueCountsWhatMayBeSeen(t *testing.T) {
	bubble.Test(t, testDueCountsWhatMayBeSeen) // no time passes
}

func testDueCountsWhatMayBeSeen(t *testing.T) {
	const many = atOnce + 17 // more than are looked at while the lock is held
	x := dueOf(many, 100, 5000)
	tests := []struct {
		name string
		sees func(string) bool
		want Due
	}{
		{"all", nil, Due{Jobs: many + 5103, Enabled: many + 5100, Within: []int{3 * 59, 2*3599 + 100, many + 5100}}},
		{"two", func(c string) bool { return c != "a" }, Due{Jobs: 5102, Enabled: 5100, Within: []int{2 * 59, 3599 + 100, 5100}}},
		{"none", func(string) bool { return false }, Due{Within: []int{0, 0, 0}}},
	}
	for _, test := range tests {
		got, known, err := x.Due(t.Context(), test.sees, time.Minute, time.Hour, 24*time.Hour*365)
		want := test.want
		if diff := cmp.Diff(want, got); diff != "" || !known || err != nil {
			t.Errorf("%s: %v %v (-want +got):\n%s", test.name, known, err, diff)
		}
	}
	x.ready = false
	if _, known, err := x.Due(t.Context(), nil, time.Minute); known || err != nil {
		t.Errorf("while it is built: %v %v", known, err)
	}
}

// TestTheSamplesAreFair draws from many jobs of which nothing is known, and from some that have run.
func TestTheSamplesAreFair(t *testing.T) {
	x := dueOf(8*sampleMost, 8*sampleMost, 8*sampleMost)
	now := time.Now()
	i := 0
	for r := range x.jobs.all() {
		r.next = 0
		if i%8 == 0 && r.collection.Value() != "c" {
			r.next = now.Add(-time.Second).UnixMilli()
		}
		i++
	}
	c := &census{now: now.UnixMilli()}
	x.walk(scheduler.Key{}, nil, "", c.count)
	const some = 2 * sampleMost // that have run, about
	for kind, want := range map[int]struct {
		least, most int // there are
		of          map[string]int
	}{
		hasRun:    {some, some + 2, map[string]int{"a": sampleMost / 2, "b": sampleMost / 2}},
		neverRead: {24*sampleMost - some - 2, 24*sampleMost - some, map[string]int{"a": sampleMost * 7 / 22, "b": sampleMost * 7 / 22, "c": sampleMost * 8 / 22}},
	} {
		s := c.samples[kind]
		seen, by := map[scheduler.Key]bool{}, map[string]int{}
		for _, h := range s.hits {
			seen[h.Key] = true
			by[h.Key.Collection]++
		}
		if s.of < want.least || s.of > want.most || len(seen) != sampleMost {
			t.Errorf("kind %d: %d of %d", kind, len(seen), s.of)
		}
		for name := range want.of { // sixty are seven standard deviations
			if n := by[name]; n < want.of[name]-60 || n > want.of[name]+60 {
				t.Errorf("kind %d: %d are of collection %s, want about %d", kind, n, name, want.of[name])
			}
		}
	}
}

// BenchmarkDue counts a million jobs.
func BenchmarkDue(b *testing.B) {
	x := dueOf(333_333, 333_333, 333_333)
	for r := range x.jobs.all() {
		r.next += time.Hour.Milliseconds()
	}
	for b.Loop() {
		if _, _, err := x.Due(context.Background(), nil, time.Minute, time.Hour); err != nil {
			b.Fatal(err)
		}
	}
}
