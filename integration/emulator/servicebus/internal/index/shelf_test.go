package index

import (
	"slices"
	"strconv"
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

// TestHeap compares a heap with a list that is looked through.
func TestHeap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h Heap[*message]
		messages := make([]*message, 20)
		for i := range messages {
			messages[i] = &message{seq: int64(i)}
		}
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) {
				earliest := int64(0)
				for _, m := range messages {
					if m.due != 0 && (earliest == 0 || m.due < earliest) {
						earliest = m.due
					}
					if (m.due != 0) != (m.index != 0) || m.index != 0 && h.items[m.index-1] != m {
						t.Fatalf("message %d is due at %d and at index %d", m.seq, m.due, m.index)
					}
				}
				if h.Next() != earliest {
					t.Fatalf("next at %d, want %d", h.Next(), earliest)
				}
			},
			"set": func(t *rapid.T) {
				m := rapid.SampledFrom(messages).Draw(t, "message")
				m.due = rapid.Int64Range(0, 50).Draw(t, "due")
				h.Fix(m)
			},
			"first": func(t *rapid.T) {
				now := rapid.Int64Range(0, 50).Draw(t, "now")
				m, ok := h.First(now)
				if ok != (h.Next() != 0 && h.Next() <= now) || ok && m.due != h.Next() {
					t.Fatalf("first at %d: %v", now, ok)
				}
				if ok {
					m.due = 0
					h.Fix(m)
				}
			},
		})
	})
}

// TestDuplicatesForget shows that what is outside the window takes no room.
func TestDuplicatesForget(t *testing.T) {
	id := func(n int64) string { return strconv.FormatInt(n, 10) }
	d := Duplicates{Window: 10_000_000} // 10 ms
	for now := range int64(1000) {
		d.Remember(id(now), now)
		if !d.Known(id(max(now-9, 0)), now) || d.Known(id(now-10), now) {
			t.Fatalf("at %d: %v", now, d.at)
		}
	}
	if len(d.at) > 11 || len(d.order) > 11 {
		t.Errorf("%d ids are kept", len(d.at))
	}
	if due := d.Due(); due == 0 {
		t.Error("never forgotten")
	}
	d.Forget(1 << 40)
	if len(d.at) != 0 || d.Due() != 0 {
		t.Error("something is left")
	}
}
