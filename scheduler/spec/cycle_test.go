package spec

import (
	"testing"

	"pgregory.net/rapid"
)

// TestCycle compares a cycle with its definition, number by number.
func TestCycle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set := rapid.SliceOfN(rapid.Bool(), 1, 200).Draw(t, "phases")
		c := newCycle(rapid.Int64Range(-500, 500).Draw(t, "anchor"), rapid.Int64Range(1, 9).Draw(t, "stride"), int64(len(set)),
			func(phase int64) bool { return set[phase] })
		has := func(x int64) bool {
			k, rest := divide(x-c.anchor, c.stride)
			_, phase := divide(k, c.length)
			return rest == 0 && set[phase]
		}
		if c.size == 0 {
			if x, ok := c.next(0); ok {
				t.Fatalf("next of nothing is %d", x)
			}
			return
		}
		from := rapid.Int64Range(-3000, 3000).Draw(t, "from")
		x, count := from, int64(0)
		for !has(x) {
			x++
		}
		if next, ok := c.next(from); !ok || next != x {
			t.Fatalf("next(%d) = %d, %v; want %d", from, next, ok, x)
		}
		for x = from; !has(x); {
			x--
		}
		if last := c.last(from); last != x {
			t.Fatalf("last(%d) = %d, want %d", from, last, x)
		}
		to := from + rapid.Int64Range(-5, 3000).Draw(t, "length")
		for x = from; x <= to; x++ {
			if has(x) {
				count++
			}
		}
		if n := c.count(from, to); n != count {
			t.Fatalf("count(%d, %d) = %d, want %d", from, to, n, count)
		}
	})
}

// TestClock compares clocks with their definition, second by second.
func TestClock(t *testing.T) {
	clocks := []clock{
		sharp, {1 << 23, 1 << 59}, {1 << 5, 1<<15 | 1<<45}, {1<<24 - 1, 1}, {1<<24 - 1, 1<<60 - 1}, {1<<9 | 1<<17, 1<<30 | 1<<59}, {1, 1<<0 | 1<<30},
	}
	for _, c := range clocks {
		has := func(s int64) bool { return s%60 == 0 && c.hours>>(s/3600)&1 == 1 && c.minutes>>(s/60%60)&1 == 1 }
		last, before := int64(-1), int64(0)
		for s := range int64(86_400) {
			if n := c.before(s); n != before {
				t.Fatalf("%+v.before(%d) = %d, want %d", c, s, n, before)
			}
			if has(s) {
				// From the run before to this one, every second leads here.
				for from := max(last+1, s-200); from <= s; from++ {
					if next, ok := c.next(from); !ok || next != s {
						t.Fatalf("%+v.next(%d) = %d, %v; want %d", c, from, next, ok, s)
					}
				}
				last, before = s, before+1
			}
			if l, ok := c.last(s); ok != (last >= 0) || ok && l != last {
				t.Fatalf("%+v.last(%d) = %d, %v; want %d", c, s, l, ok, last)
			}
		}
		if next, ok := c.next(last + 1); ok {
			t.Fatalf("%+v.next(%d) = %d, want none", c, last+1, next)
		}
		if n := c.before(86_400); n != c.size() || n != before {
			t.Fatalf("%+v has %d times, size %d, want %d", c, n, c.size(), before)
		}
	}
}
