package worker

import (
	"sync"
	"time"
)

const (
	// paceEvery limits how long an ended run waits for others. At 500 runs per second, ten settle together, for 40 % of
	// the server's work for ten single ones. Half the wait would save half as much.
	paceEvery = 20 * time.Millisecond

	// paceMost limits the waiting runs. A larger batch gains little, and after a crash the history lacks all waiting
	// attempts.
	paceMost = 16
)

// pace lets runs that end shortly after each other settle together. Their writes, and the responses, then share
// packets; each packet wakes a goroutine or two on either side, which is most of a run's cost at some hundred runs per
// second. A single run, or a herd, does not wait. The zero value is ready for use.
type pace struct {
	mu     sync.Mutex
	opened time.Time // start of the current batch
	joined int // runs since then
	gone   chan struct{} // closed when the waiting runs may continue; nil: none waits
}

// join returns when a run may settle.
func (p *pace) join() {
	if gone := p.company(time.Now()); gone != nil {
		<-gone
	}
}

// company returns the channel that a run must wait for; nil: it may continue.
func (p *pace) company(now time.Time) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone == nil && now.Sub(p.opened) >= paceEvery {
		p.opened, p.joined = now, 0
	}
	p.joined++
	switch {
	case p.joined == 1, p.joined > paceMost:
		return nil
	case p.joined == paceMost:
		p.release()
		return nil
	case p.gone == nil:
		gone := make(chan struct{})
		p.gone = gone
		time.AfterFunc(p.opened.Add(paceEvery).Sub(now), func() { p.next(gone) })
	}
	return p.gone
}

// next releases the batch of gone, unless it is released. Later runs join the next batch.
func (p *pace) next(gone chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone == gone {
		p.release()
		p.opened, p.joined = time.Now(), 1
	}
}

// release releases the waiting runs. The caller holds the lock.
func (p *pace) release() {
	if p.gone != nil {
		close(p.gone)
		p.gone = nil
	}
}
