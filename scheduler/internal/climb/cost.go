package climb

import (
	"fmt"
	"runtime"
	"runtime/metrics"
	"time"
)

// Cost is what a call took.
type Cost struct {
	Processor time.Duration // of the thread it ran on, without the garbage collector's own threads
	Allocated uint64        // bytes, in all: more than was ever held at once
}

// Measure returns what a call of f costs.
func Measure(f func()) Cost {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	allocated, began := allocations(), processor()
	f()
	took := processor() - began
	return Cost{took, allocations() - allocated}
}

// allocations returns the bytes that this process has allocated since it began.
func allocations() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// excerpt shows an input, shortened in the middle when it is long.
func excerpt(input any) string {
	const most, end = 4000, 500
	text := fmt.Sprintf("%q", input)
	if len(text) <= most {
		return text
	}
	return fmt.Sprintf("%s … %s (%d bytes)", text[:most-end], text[len(text)-end:], len(text))
}
