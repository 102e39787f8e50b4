package index

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/carillon-sched/carillon/scheduler"
)

// TestSortedKeepsOrder inserts and removes jobs at random, and compares the list with a map and a sort.
func TestSortedKeepsOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	s, want := &sorted{}, map[string]uint64{}
	check := func() {
		t.Helper()
		for _, chunk := range s.chunks {
			if len(chunk) == 0 || len(chunk) > chunkMost {
				t.Fatalf("a chunk of %d", len(chunk))
			}
		}
		var got []string
		for rec := range s.all() {
			if got = append(got, rec.name); rec.told != want[rec.name] {
				t.Fatalf("%s: %+v, want %d", rec.name, rec, want[rec.name])
			}
		}
		if names := slices.Sorted(maps.Keys(want)); !slices.Equal(got, names) || s.count != len(want) {
			t.Fatalf("%d names, %d are counted, want %d: %v", len(got), s.count, len(names), got)
		}
	}
	for i := range 40_000 {
		k := keyOf(scheduler.Key{Collection: "c", Job: fmt.Sprintf("name-%d", r.IntN(3000))})
		shrinking := i/10_000%2 == 1 // it grows and shrinks in turns
		if put := r.IntN(4) > 0; put != shrinking {
			rec := s.get(k)
			if rec == nil {
				rec = s.insert(k)
			}
			rec.told, want[k.name] = uint64(i), uint64(i)
		} else {
			s.remove(k)
			delete(want, k.name)
		}
		if i%1999 == 0 {
			check()
		}
	}
	for name := range want {
		s.remove(keyOf(scheduler.Key{Collection: "c", Job: name}))
		delete(want, name)
	}
	check()
}
