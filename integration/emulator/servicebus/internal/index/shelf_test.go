package index

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestShelf compares a shelf with a map.
func TestShelf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s Shelf[*message]
		want := map[int64]*message{}
		seq := func(t *rapid.T) int64 {
			return rapid.OneOf(rapid.Int64Range(1, 300), rapid.Int64Range(1<<40, 1<<40+200)).Draw(t, "seq")
		}
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) {
				if s.Len() != len(want) {
					t.Fatalf("count %d, want %d", s.Len(), len(want))
				}
			},
			"put": func(t *rapid.T) {
				if n := seq(t); want[n] == nil {
					want[n] = &message{seq: n}
					s.Put(want[n])
				}
			},
			"remove": func(t *rapid.T) {
				n := seq(t)
				if s.Get(n) != want[n] {
					t.Fatalf("got another message for %d", n)
				}
				if m := want[n]; m != nil {
					s.Remove(m)
					delete(want, n)
				}
			},
			"ascend": func(t *rapid.T) {
				from := seq(t)
				var expected, got []int64
				for n := range want {
					if n >= from {
						expected = append(expected, n)
					}
				}
				slices.Sort(expected)
				s.Ascend(from, func(m *message) bool {
					got = append(got, m.seq)
					return true
				})
				if !slices.Equal(got, expected) {
					t.Fatalf("from %d: got %v, want %v", from, got, expected)
				}
			},
			"descend": func(t *rapid.T) {
				from := seq(t)
				var expected, got []int64
				for n := range want {
					if n <= from {
						expected = append(expected, n)
					}
				}
				slices.Sort(expected)
				slices.Reverse(expected)
				s.Descend(from, func(m *message) bool {
					got = append(got, m.seq)
					return true
				})
				if !slices.Equal(got, expected) {
					t.Fatalf("down from %d: got %v, want %v", from, got, expected)
				}
			},
		})
	})
}
