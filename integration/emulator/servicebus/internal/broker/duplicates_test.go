package broker

import (
	"strconv"
	"testing"
)

// TestDuplicatesForget shows that what is outside the window takes no room.
func TestDuplicatesForget(t *testing.T) {
	id := func(n int64) string { return strconv.FormatInt(n, 10) }
	d := duplicates{window: 10_000_000} // 10 ms
	for now := range int64(1000) {
		d.remember(id(now), now)
		if !d.known(id(max(now-9, 0)), now) || d.known(id(now-10), now) {
			t.Fatalf("at %d: %v", now, d.at)
		}
	}
	if len(d.at) > 11 || len(d.order) > 11 {
		t.Errorf("%d ids are kept", len(d.at))
	}
	if due := d.due(); due == 0 {
		t.Error("never forgotten")
	}
	d.forget(1 << 40)
	if len(d.at) != 0 || d.due() != 0 {
		t.Error("something is left")
	}
}
