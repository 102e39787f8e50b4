package control

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/bubble"
	"github.com/carillon-sched/carillon/scheduler"
)

// away is a store that cannot be reached until it is back.
type away struct {
	scheduler.Store

	back atomic.Bool
}

func (a *away) HistorySpan(context.Context) (scheduler.HistorySpan, error) {
	if a.back.Load() {
		return scheduler.HistorySpan{}, nil
	}
	return scheduler.HistorySpan{}, scheduler.ErrUnavailable
}

func (*away) RecordsFrom(context.Context, scheduler.Key, uint64, func(*scheduler.Record) bool) error {
	return nil
}

// TestLostHistoryIsToldOnce: a minute without the store is one line of the log, and another minute another one.
func TestLostHistoryIsToldOnce(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		store := &away{}
		h := newHistoryKeeper(store, 1)
		h.asked = time.Now()
		h.wake <- struct{}{}
		told := 0
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			h.run(ctx, func(error) { told++ })
		}()
		for minute := range 3 {
			store.back.Store(minute == 1)
			time.Sleep(time.Minute)
			synctest.Wait()
		}
		cancel()
		<-done
		if told != 2 {
			t.Errorf("told %d times, want 2", told)
		}
	})
}
