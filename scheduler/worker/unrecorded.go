package worker

import (
	"context"
	"sync"
	"time"
)

// recordPatience is how long an ended attempt may wait for its record before this worker stops starting attempts.
const recordPatience = time.Second

// unrecorded limits the attempts that a crash of this process would repeat: running ones, and ended ones without a
// record. They never exceed the number of slots. No attempt starts while a record has waited longer than
// recordPatience.
type unrecorded struct {
	most int

	mu    sync.Mutex
	freed sync.Cond
	begun int
	waits map[*run]time.Time // since when the record waits
}

func newUnrecorded(most int) *unrecorded {
	u := &unrecorded{most: most, waits: map[*run]time.Time{}}
	u.freed.L = &u.mu
	return u
}

// begin waits until an attempt may start. It returns false if ctx ends first.
func (u *unrecorded) begin(ctx context.Context) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.full() {
		stop := context.AfterFunc(ctx, func() {
			u.mu.Lock()
			defer u.mu.Unlock()
			u.freed.Broadcast()
		})
		defer stop()
	}
	for u.full() && ctx.Err() == nil {
		u.freed.Wait()
	}
	if ctx.Err() != nil {
		return false
	}
	u.begun++
	return true
}

func (u *unrecorded) full() bool {
	if u.begun >= u.most {
		return true
	}
	for _, since := range u.waits {
		if time.Since(since) > recordPatience {
			return true
		}
	}
	return false
}

// wait notes that the attempt of r has ended and waits for its record.
func (u *unrecorded) wait(r *run) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.waits[r] = time.Now()
}

// end notes that the attempt of r is recorded, or leaves this process without a record.
func (u *unrecorded) end(r *run) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.begun--
	delete(u.waits, r)
	u.freed.Broadcast()
}
