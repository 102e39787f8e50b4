package flow

import "sync"

// WorkerPool runs tasks concurrently, each in a goroutine. It reuses goroutines because their stacks have grown to the size
// of a task: growing a new stack for each attempt of a job takes longer than all other work of the worker for it.
type WorkerPool[T any] struct {
	most int // maximum number of idle goroutines
	work func(T)

	mu    sync.Mutex
	idle  []chan T
	ended bool
	under int        // running goroutines
	calm  *sync.Cond // signals that none is running
}

// NewWorkerPool returns a pool without goroutines, which keeps up to most idle ones.
func NewWorkerPool[T any](most int, work func(T)) *WorkerPool[T] {
	c := &WorkerPool[T]{most: most, work: work}
	c.calm = sync.NewCond(&c.mu)
	return c
}

// Run runs a task in a goroutine. It does not block.
func (c *WorkerPool[T]) Run(task T) {
	c.mu.Lock()
	c.under++
	last := len(c.idle) - 1
	if last < 0 {
		c.mu.Unlock()
		go c.loop(task)
		return
	}
	next := c.idle[last] // its stack is most likely cached
	c.idle = c.idle[:last]
	c.mu.Unlock()
	next <- task
}

// loop runs tasks until the goroutine is no longer needed.
func (c *WorkerPool[T]) loop(task T) {
	next := make(chan T, 1)
	for {
		c.work(task)
		if !c.rest(next) {
			return
		}
		var more bool
		if task, more = <-next; !more {
			return
		}
	}
}

// rest returns a goroutine, which reads from next, to the pool. It returns false if the pool is full.
func (c *WorkerPool[T]) rest(next chan T) bool {
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

// Wait waits until no task is in progress.
func (c *WorkerPool[T]) Wait() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.under > 0 {
		c.calm.Wait()
	}
}

// End stops the idle goroutines. The pool still runs tasks that it receives afterwards.
func (c *WorkerPool[T]) End() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	for _, next := range c.idle {
		close(next)
	}
	c.idle = nil
}
