// Package bubble runs tests in bubbles of [synctest], cheaply and in a way that the race detector survives.
package bubble

import (
	"runtime"
	"runtime/debug"
	"sync"
	"testing"
	"testing/synctest"
)

// Test calls f in a bubble, as [synctest.Test] does.
//
// While a bubble lasts, the process has one processor. The goroutines of a bubble hand small pieces of work to
// each other; with two processors they wake each other's threads, which costs a fifth of the processor time.
//
// The race detector crashes with two processors. All timers of a bubble share one thread of the detector, and Go
// lets two processors run them concurrently: one advances the bubble's clock while another receives from the
// channel of a due timer, or both receive. That corrupts the detector's memory, and the process ends with a
// SIGSEGV or "ThreadSanitizer: CHECK failed" (https://go.dev/issue/78156, in Go 1.26.8). The detector works on
// happens-before relations, so it needs no second processor.
//
// The garbage collector also runs less often, which saves another fifth: tests are too short for their memory to
// matter.
func Test(t *testing.T, f func(*testing.T)) {
	t.Helper()
	frugal.begin()
	defer frugal.end()
	synctest.Test(t, f)
}

// garbage is how much of it may accumulate before a collection, in percent of the live heap.
const garbage = 400

var frugal frugality

// frugality is how the process runs while something needs it to.
type frugality struct {
	mu         sync.Mutex
	users      int
	processors int // before
	garbage    int // before
}

func (f *frugality) begin() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.users == 0 {
		f.processors, f.garbage = runtime.GOMAXPROCS(1), debug.SetGCPercent(garbage)
	}
	f.users++
}

func (f *frugality) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.users--
	if f.users == 0 {
		runtime.GOMAXPROCS(f.processors)
		debug.SetGCPercent(f.garbage)
	}
}
