package index

import (
	"strconv"
	"testing"
)

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
