package failover

import (
	"testing"
	"time"
)

func TestStall(t *testing.T) {
	var s stall
	now := time.Unix(1e9, 0)
	for _, step := range []struct {
		name   string
		passed time.Duration
		old    bool
	}{
		{"the first message", time.Hour, false},
		{"busy", stallLeast, false},
		{"suspended", stallLeast + time.Second, true},
		{"behind that", stallTail / 2, true},
		{"all is read", stallTail, false},
	} {
		now = now.Add(step.passed)
		if old := s.Old(now); old != step.old {
			t.Errorf("%s: old %t, want %t", step.name, old, step.old)
		}
	}
}
