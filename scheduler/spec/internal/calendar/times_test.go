package calendar

import "testing"

// TestTimes compares times of day with their definition, second by second.
func TestTimes(t *testing.T) {
	for _, c := range []Times{
		{1, 1, 1},
		{1 << 23, 1 << 59, 1},
		{1 << 5, 1<<15 | 1<<45, 1},
		{1<<24 - 1, 1, 1},
		{1<<24 - 1, 1<<60 - 1, 1},
		{1<<9 | 1<<17, 1<<30 | 1<<59, 1},
		{1, 1<<0 | 1<<30, 1},
	} {
		has := func(s int64) bool { return s%60 == 0 && c.Hours>>(s/3600)&1 == 1 && c.Minutes>>(s/60%60)&1 == 1 }
		last, before := int64(-1), int64(0)
		for s := range int64(86_400) {
			if n := c.Before(s); n != before {
				t.Fatalf("%+v.Before(%d) = %d, want %d", c, s, n, before)
			}
			if has(s) {
				// From the run before to this one, every second leads here.
				for from := max(last+1, s-200); from <= s; from++ {
					if next, ok := c.Next(from); !ok || next != s {
						t.Fatalf("%+v.next(%d) = %d, %v; want %d", c, from, next, ok, s)
					}
				}
				last, before = s, before+1
			}
			if l, ok := c.Last(s); ok != (last >= 0) || ok && l != last {
				t.Fatalf("%+v.last(%d) = %d, %v; want %d", c, s, l, ok, last)
			}
		}
		if next, ok := c.Next(last + 1); ok {
			t.Fatalf("%+v.next(%d) = %d, want none", c, last+1, next)
		}
		if n := c.Before(86_400); n != c.Size() || n != before {
			t.Fatalf("%+v has %d times, size %d, want %d", c, n, c.Size(), before)
		}
	}
}
