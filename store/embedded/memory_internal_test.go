package embedded

import (
	"runtime/debug"
	"testing"
	"time"
)

// TestReturnsMemory shows that a process returns the memory of its garbage to the system after a quiet minute.
func TestReturnsMemory(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	const size = 64 << 20
	garbage := make([]byte, size)
	for i := 0; i < size; i += 4096 {
		garbage[i] = 1 // so that the system has to back it with memory
	}
	before := released()
	last := tuner{
		garbage: func(uint64) uint64 { return 4 * size }, collected: time.Now().Add(-2 * quiet), allocated: read("/gc/heap/allocs:bytes"),
	}
	last.tune()
	for tick, end := time.NewTicker(10*time.Millisecond), time.After(20*time.Second); released() < before+size/2; {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("%d of %d MB returned", (released()-before)>>20, size>>20)
		}
	}
}

// released returns the bytes of the heap that the system has got back.
func released() uint64 { return read("/memory/classes/heap/released:bytes") }
