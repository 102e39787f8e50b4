// Package bubble runs tests in bubbles of [synctest], which the race detector survives.
package bubble

import (
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
)

// Test calls f in a bubble, as [synctest.Test] does.
//
// Under the race detector, there is one processor for as long as a bubble lasts. All timers of a bubble share one thread of
// the race detector, and Go lets two processors run them at the same time: one advances the bubble's clock while another
// receives from the channel of a timer that is due, or two do the latter. That damages the detector's memory, and the
// process ends with a SIGSEGV or "ThreadSanitizer: CHECK failed" a little later (https://go.dev/issue/78156, in Go 1.26.8).
// The detector finds races by what happens before what, so it needs no second processor.
func Test(t *testing.T, f func(*testing.T)) {
	t.Helper()
	if RaceDetector {
		single.begin()
		defer single.end()
	}
	synctest.Test(t, f)
}

var single processor

// processor is the only one while something needs it to be.
type processor struct {
	mu     sync.Mutex
	users  int
	before int // processors
}

func (p *processor) begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.users == 0 {
		p.before = runtime.GOMAXPROCS(1)
	}
	p.users++
}

func (p *processor) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.users--
	if p.users == 0 {
		runtime.GOMAXPROCS(p.before)
	}
}
