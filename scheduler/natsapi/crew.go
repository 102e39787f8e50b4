package natsapi

import "sync/atomic"

// crew does tasks side by side, each in a goroutine. One that is done with its
// task waits for the next: its stack has grown to what a request needs, which
// for a put takes a tenth of the time.
type crew struct {
	tasks chan func()   // given to who waits
	over  chan struct{} // closed when nobody is to wait any more
	idle  atomic.Int64  // who waits, or is about to
}

// crewIdle is how many goroutines wait for tasks at most, with some 16 KB of
// stack each: as many callers are answered without a new one.
const crewIdle = 64

func newCrew() *crew { return &crew{tasks: make(chan func()), over: make(chan struct{})} }

// do has a task done, at once.
func (c *crew) do(task func()) {
	select {
	case c.tasks <- task:
	default: // nobody waits
		go c.work(task)
	}
}

func (c *crew) work(task func()) {
	for {
		task()
		if c.idle.Add(1) > crewIdle {
			c.idle.Add(-1)
			return
		}
		select {
		case task = <-c.tasks:
			c.idle.Add(-1)
		case <-c.over:
			return
		}
	}
}

// dismiss ends the goroutines that wait, and those that work when they are done.
func (c *crew) dismiss() { close(c.over) }
