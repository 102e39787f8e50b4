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
// The process has one processor for as long as a bubble lasts. The goroutines of a bubble hand small pieces of work to each
// other. With two processors they wake each other's threads for that, which costs a fifth of the processor time.
//
// The race detector does not survive two processors. All timers of a bubble share one thread of the detector, and Go lets two
// processors run them at the same time: one advances the bubble's clock while another receives from the channel of a due
// timer, or both receive. That damages the detector's memory, and the process ends with a SIGSEGV or "ThreadSanitizer: CHECK
// failed" a little later (https://go.dev/issue/78156, in Go 1.26.8). The detector finds races by what happens before what, so
// it needs no second processor.
//
// The garbage collector also runs less often, which saves another fifth: a test lives too briefly for its memory to matter.
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
