package index

import (
	"testing"

	"pgregory.net/rapid"
)

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
