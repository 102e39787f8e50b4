package index

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"unsafe"

	"github.com/carillon-sched/carillon/scheduler"
)

// TestShelfKeepsOrder puts names onto a shelf and takes them away at random, as a map and a sort would.
func TestShelfKeepsOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	s, want := &shelf{}, map[string]uint64{}
	check := func() {
		t.Helper()
		var got []string
		for _, b := range s.blocks {
			if len(b.recs) == 0 || len(b.recs) > blockMost {
				t.Fatalf("a block of %d", len(b.recs))
			}
			for i := range b.recs {
				got = append(got, string(b.name(i)))
			}
		}
		if names := slices.Sorted(maps.Keys(want)); !slices.Equal(got, names) {
			t.Fatalf("%d names, want %d: %v", len(got), len(names), got)
		}
		for name, told := range want {
			if rec := s.find(name); rec == nil || rec.told != told {
				t.Fatalf("%s: %+v, want %d", name, rec, told)
			}
		}
		if n := s.counts[enabled] + s.counts[unknown]; n != len(want) {
			t.Fatalf("%d are counted of %d", n, len(want))
		}
	}
	const names = 3000
	for i := range 40_000 {
		name := fmt.Sprintf("name-%d", r.IntN(names))
		shrinking := i/10_000%2 == 1 // it grows and shrinks in turns
		if put := r.IntN(4) > 0; put != shrinking {
			rec := s.find(name)
			if rec == nil {
				rec = s.insert(name)
			}
			rec.told = uint64(i)
			s.set(rec, enabled)
			want[name] = uint64(i)
		} else {
			_, was := s.remove(name)
			if _, is := want[name]; is != was {
				t.Fatalf("%s was there: %t, want %t", name, was, is)
			}
			delete(want, name)
		}
		if i%1999 == 0 {
			check()
		}
	}
	for name := range want {
		s.remove(name)
		delete(want, name)
	}
	check()
}

// TestMemoryOfJob bounds what the index needs for a job, whatever the order in which they come.
func TestMemoryOfJob(t *testing.T) {
	const jobs, most = 100_000, 88 // bytes each, with names of 11
	if size := unsafe.Sizeof(record{}); size != 40 {
		t.Errorf("a record takes %d bytes", size)
	}
	for name, order := range map[string][]int{"in order": nil, "in no order": rand.New(rand.NewPCG(3, 4)).Perm(jobs)} {
		s, used := &shelf{}, 0
		for i := range jobs {
			if order != nil {
				i = order[i]
			}
			s.insert(fmt.Sprintf("job-%07d", i))
		}
		for _, b := range s.blocks {
			used += int(unsafe.Sizeof(*b)) + cap(b.names) + cap(b.recs)*int(unsafe.Sizeof(record{}))
		}
		used += cap(s.blocks) * int(unsafe.Sizeof(s))
		t.Logf("%s: %d bytes each", name, used/jobs)
		if used > most*jobs {
			t.Errorf("%s: %d bytes each, more than %d", name, used/jobs, most)
		}
	}
}

// TestLabelsAreKeptOnce shares sets of labels among jobs, and forgets those that no job has.
func TestLabelsAreKeptOnce(t *testing.T) {
	x := New(Config{})
	put := func(i int, of ...scheduler.Label) {
		name := fmt.Sprintf("j%d", i)
		s, r := x.record(scheduler.Key{Collection: "c", Job: name})
		x.define(s, name, r, uint64(i), &scheduler.Summary{State: scheduler.Enabled, Labels: of})
		x.tidy()
	}
	red, prod := scheduler.Label{Name: "team", Value: "red"}, scheduler.Label{Name: "env", Value: "prod"}
	for i := range 100 {
		put(i, red, prod)
		put(i+100, prod, red)
		put(i + 200)
	}
	if n := len(x.labels.sets); n != 2 {
		t.Errorf("%d sets of labels", n)
	}
	for i := range 10_000 { // one job that has other labels all the time
		put(0, red, scheduler.Label{Name: "build", Value: strconv.Itoa(i)})
	}
	if n := len(x.labels.sets); n > 2*unusedMost+10 {
		t.Errorf("%d sets of labels, after all but three are out of use", n)
	}
	if got, _ := x.labels.get(x.shelves["c"].find("j0").labels, "build"); got != "9999" {
		t.Errorf("build is %q", got)
	}
	if got, _ := x.labels.get(x.shelves["c"].find("j1").labels, "env"); got != "prod" {
		t.Errorf("env is %q", got)
	}
}
