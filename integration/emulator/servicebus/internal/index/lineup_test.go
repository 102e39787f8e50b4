package index

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestLineup compares a lineup with a sorted list.
func TestLineup(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l Lineup[*message]
		var want, taken []*message
		next := int64(0)
		insert := func(m *message) {
			m.ready = true
			l.Push(m)
			i, _ := slices.BinarySearchFunc(want, m.seq, func(m *message, seq int64) int { return int(m.seq - seq) })
			want = slices.Insert(want, i, m)
		}
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) {
				if l.Len() != len(want) {
					t.Fatalf("count %d, want %d", l.Len(), len(want))
				}
				if cap(l.items) > 4096+8*len(want) {
					t.Fatalf("room for %d where %d are", cap(l.items), len(want))
				}
			},
			"push": func(t *rapid.T) {
				for range rapid.IntRange(1, 100).Draw(t, "n") {
					next++
					insert(&message{seq: next})
				}
			},
			"pop": func(t *rapid.T) {
				for range rapid.IntRange(1, 50).Draw(t, "n") {
					m := l.Pop()
					if len(want) == 0 {
						if m != nil {
							t.Fatalf("got %d from an empty lineup", m.seq)
						}
						return
					}
					if m != want[0] {
						t.Fatalf("got %d, want %d", m.seq, want[0].seq)
					}
					m.ready = false
					want, taken = want[1:], append(taken, m)
				}
			},
			"comeBack": func(t *rapid.T) {
				for range min(len(taken), 10) {
					i := rapid.IntRange(0, len(taken)-1).Draw(t, "i")
					insert(taken[i])
					taken = slices.Delete(taken, i, i+1)
				}
			},
			"drop": func(t *rapid.T) {
				for range min(len(want), rapid.IntRange(1, 80).Draw(t, "n")) {
					i := rapid.IntRange(0, len(want)-1).Draw(t, "i")
					want[i].ready = false
					l.Drop()
					want = slices.Delete(want, i, i+1)
				}
			},
		})
	})
}
