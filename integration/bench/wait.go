package main

import (
	"context"
	"sync"
	"time"
)

// sleep waits until t, or until ctx is done.
func sleep(ctx context.Context, t time.Time) error {
	select {
	case <-time.After(time.Until(t)):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// await waits until done, and no longer than until.
func await(ctx context.Context, until time.Time, done func() bool) error {
	tick := time.Tick(5 * time.Millisecond)
	for !done() && time.Now().Before(until) {
		select {
		case <-tick:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// every calls f at an interval until the returned function is called, which waits for the last call.
func every(interval time.Duration, f func()) (stop func()) {
	quit := make(chan struct{})
	var ended sync.WaitGroup
	ended.Go(func() {
		tick := time.Tick(interval)
		for {
			select {
			case <-tick:
				f()
			case <-quit:
				return
			}
		}
	})
	return func() { close(quit); ended.Wait() }
}
