package worker

import "sync"

// crew is the goroutines that runs live in outside the queues. One that is done waits
// for the next run, as its stack has grown to what a call takes: to grow one for each
// attempt takes longer than all else that is done here for it.
type crew struct {
	most int // that wait
	live func(stage)

	mu    sync.Mutex
	idle  []chan stage
	ended bool
	under int        // way
	calm  *sync.Cond // none is
}

// newCrew returns a crew without a member.
func newCrew(most int, live func(stage)) *crew {
	c := &crew{most: most, live: live}
	c.calm = sync.NewCond(&c.mu)
	return c
}

// take has a run live on from a stage. It does not block.
func (c *crew) take(s stage) {
	c.mu.Lock()
	c.under++
	last := len(c.idle) - 1
	if last < 0 {
		c.mu.Unlock()
		go c.work(s)
		return
	}
	next := c.idle[last] // whose stack is the warmest
	c.idle = c.idle[:last]
	c.mu.Unlock()
	next <- s
}

// work has runs live, one after the other, until it is not needed any more.
func (c *crew) work(s stage) {
	next := make(chan stage, 1)
	for {
		c.live(s)
		if !c.rest(next) {
			return
		}
		var more bool
		if s, more = <-next; !more {
			return
		}
	}
}

// rest notes that a run is done, and adds the goroutine that reads next to the idle
// ones. It returns false when enough are idle.
func (c *crew) rest(next chan stage) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.under--
	if c.under == 0 {
		c.calm.Broadcast()
	}
	if c.ended || len(c.idle) >= c.most {
		return false
	}
	c.idle = append(c.idle, next)
	return true
}

// wait returns when no run is under way.
func (c *crew) wait() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.under > 0 {
		c.calm.Wait()
	}
}

// end lets those go that wait. What is taken after it is seen through all the same.
func (c *crew) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	for _, next := range c.idle {
		close(next)
	}
	c.idle = nil
}
