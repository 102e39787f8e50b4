package engine

import "sync"

// workerPool is a pool of goroutines for runs outside the queues. It reuses goroutines because their stacks have grown to the
// size of a call: growing a new stack for each attempt takes longer than all other work of the worker for it.
type workerPool struct {
	most int // maximum number of idle goroutines
	live func(stage)

	mu    sync.Mutex
	idle  []chan stage
	ended bool
	under int        // running goroutines
	calm  *sync.Cond // signals that none is running
}

// newWorkerPool returns an empty pool.
func newWorkerPool(most int, live func(stage)) *workerPool {
	c := &workerPool{most: most, live: live}
	c.calm = sync.NewCond(&c.mu)
	return c
}

// take runs a stage in a goroutine. It does not block.
func (c *workerPool) take(s stage) {
	c.mu.Lock()
	c.under++
	last := len(c.idle) - 1
	if last < 0 {
		c.mu.Unlock()
		go c.work(s)
		return
	}
	next := c.idle[last] // its stack is most likely cached
	c.idle = c.idle[:last]
	c.mu.Unlock()
	next <- s
}

// work runs stages until the goroutine is no longer needed.
func (c *workerPool) work(s stage) {
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

// rest returns a goroutine, which reads from next, to the pool. It returns false if the pool is full.
func (c *workerPool) rest(next chan stage) bool {
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

// wait waits until no run is in progress.
func (c *workerPool) wait() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.under > 0 {
		c.calm.Wait()
	}
}

// end stops the idle goroutines. The pool still completes stages that it receives afterwards.
func (c *workerPool) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	for _, next := range c.idle {
		close(next)
	}
	c.idle = nil
}
