package worker

import (
	"sync"
	"time"
)

const (
	// paceEvery is how long a run that has ended waits at most for others. At 500
	// a second ten settle together, for 40 % of what the server has to do for ten
	// by themselves; half as long would save half as much.
	paceEvery = 20 * time.Millisecond

	// paceMost is how many may wait. More are together anyway, and a crash has so
	// many more ended attempts that the history does not have.
	paceMost = 16
)

// pace lets runs that end shortly after another settle together: what they store
// comes to the server in few packets then, and so do its answers, each of which
// wakes a goroutine or two on either side. At some hundred runs a second that is
// most of what a run costs. One that ends by itself waits for nobody, and neither
// does a herd. The zero value is ready.
type pace struct {
	mu     sync.Mutex
	opened time.Time     // when the first went for whom the others wait
	joined int           // since then
	gone   chan struct{} // closed when those go that wait; nil: nobody does
}

// join returns when it is time for a run to settle.
func (p *pace) join() {
	if gone := p.company(time.Now()); gone != nil {
		<-gone
	}
}

// company is what a run has to wait for; nil: it may go.
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

// next lets those go that wait for gone, if they have not. What comes now waits for
// the next.
func (p *pace) next(gone chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone == gone {
		p.release()
		p.opened, p.joined = time.Now(), 1
	}
}

// release lets those go that wait. The lock is held.
func (p *pace) release() {
	if p.gone != nil {
		close(p.gone)
		p.gone = nil
	}
}
