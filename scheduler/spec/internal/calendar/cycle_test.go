package calendar

import (
	"testing"

	"pgregory.net/rapid"
)

// TestCycle compares a cycle with its definition, number by number.
func TestCycle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set := rapid.SliceOfN(rapid.Bool(), 1, 200).Draw(t, "phases")
		c := NewCycle(rapid.Int64Range(-500, 500).Draw(t, "anchor"), rapid.Int64Range(1, 9).Draw(t, "step"), int64(len(set)),
			func(phase int64) bool { return set[phase] })
		has := func(x int64) bool {
			k, rest := Divide(x-c.Anchor, c.Step)
			_, phase := Divide(k, c.Length)
			return rest == 0 && set[phase]
		}
		if c.size == 0 {
			if x, ok := c.Next(0); ok {
				t.Fatalf("next of nothing is %d", x)
			}
			return
		}
		from := rapid.Int64Range(-3000, 3000).Draw(t, "from")
		x, count := from, int64(0)
		for !has(x) {
			x++
		}
		if next, ok := c.Next(from); !ok || next != x {
			t.Fatalf("next(%d) = %d, %v; want %d", from, next, ok, x)
		}
		for x = from; !has(x); {
			x--
		}
		if last := c.Last(from); last != x {
			t.Fatalf("last(%d) = %d, want %d", from, last, x)
		}
		to := from + rapid.Int64Range(-5, 3000).Draw(t, "length")
		for x = from; x <= to; x++ {
			if has(x) {
				count++
			}
		}
		if n := c.Count(from, to); n != count {
			t.Fatalf("count(%d, %d) = %d, want %d", from, to, n, count)
		}
	})
}
