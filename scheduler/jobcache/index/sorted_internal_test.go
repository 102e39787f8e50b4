package index

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/scheduler"
)

func compareKeys(a, b scheduler.Key) int {
	return cmp.Or(strings.Compare(a.Collection, b.Collection), strings.Compare(a.Job, b.Job))
}

// TestSortedKeepsOrder inserts and removes jobs at random, and compares the list with a map and a sort.
func TestSortedKeepsOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	s, want := &sorted{}, map[scheduler.Key]uint64{}
	check := func() {
		t.Helper()
		for _, chunk := range s.chunks {
			if len(chunk) == 0 || len(chunk) > chunkMost {
				t.Fatalf("a chunk of %d", len(chunk))
			}
		}
		var got []scheduler.Key
		for rec := range s.all() {
			if got = append(got, rec.full()); rec.revision != want[rec.full()] {
				t.Fatalf("%s: %+v, want %d", rec.name, rec, want[rec.full()])
			}
		}
		if names := slices.SortedFunc(maps.Keys(want), compareKeys); !slices.Equal(got, names) || s.count != len(want) {
			t.Fatalf("%d names, %d are counted, want %d: %v", len(got), s.count, len(names), got)
		}
	}
	for i := range 40_000 {
		k := keyOf(scheduler.Key{Collection: []string{"c", "c-2"}[r.IntN(2)], Job: fmt.Sprintf("name-%d", r.IntN(1500))})
		shrinking := i/10_000%2 == 1 // it grows and shrinks in turns
		if put := r.IntN(4) > 0; put != shrinking {
			rec := s.get(k)
			if rec == nil {
				rec = s.insert(k)
			}
			rec.revision, want[k.full()] = uint64(i), uint64(i)
		} else {
			s.remove(k)
			delete(want, k.full())
		}
		if i%1999 == 0 {
			check()
		}
	}
	for k := range want {
		s.remove(keyOf(k))
		delete(want, k)
	}
	check()
}
