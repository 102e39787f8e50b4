package control

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// historyStore is a history of some records, whose consumers wait for more after these.
type historyStore struct {
	scheduler.Store

	records   uint64
	mu        sync.Mutex
	consumers int
	lost      chan struct{} // nil: never
}

func (s *historyStore) Follow(ctx context.Context, _ scheduler.Key, after uint64, f func(*scheduler.Record)) error {
	s.mu.Lock()
	s.consumers++
	s.mu.Unlock()
	for n := after + 1; n <= s.records && ctx.Err() == nil; n++ {
		if n%feedKept == 1 {
			time.Sleep(time.Millisecond) // tails have read the records before
		}
		f(&scheduler.Record{Sequence: n})
	}
	select {
	case <-ctx.Done():
		return nil
	case <-s.lost:
		return scheduler.ErrUnavailable
	}
}

// TestFeed has tails that begin at several places, one that is too slow, and one that begins before all others: each has every record
// after its place once, in order.
func TestFeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := &historyStore{records: 5 * feedKept, lost: make(chan struct{})}
		s := &feed{store: st}
		ctx, cancel := context.WithCancel(t.Context())
		slow := make(chan struct{})
		var all sync.WaitGroup
		tail := func(after uint64, each func()) *uint64 {
			last := new(after)
			all.Go(func() {
				err := s.follow(ctx, after, func(r *scheduler.Record) {
					if r.Sequence != *last+1 {
						t.Errorf("after %d: %d follows %d", after, r.Sequence, *last)
					}
					*last = r.Sequence
					each()
				})
				if err != nil {
					t.Errorf("after %d: %v", after, err)
				}
			})
			time.Sleep(time.Second)
			synctest.Wait()
			return last
		}
		tails := []*uint64{
			tail(100, func() { <-slow }), tail(5*feedKept-7, func() {}), tail(5*feedKept, func() {}), tail(0, func() {}),
		}
		if st.consumers != 2 { // the shared one, and that of the tail from 0 on
			t.Errorf("%d consumers", st.consumers)
		}
		close(slow)
		time.Sleep(time.Second)
		synctest.Wait()
		for i, last := range tails {
			if *last != 5*feedKept {
				t.Errorf("tail %d has the records up to %d", i, *last)
			}
		}
		if st.consumers != 3 {
			t.Errorf("%d consumers after a slow tail", st.consumers)
		}
		cancel()
		all.Wait()
		if s.now != nil {
			t.Error("the consumer remains")
		}
	})
}

// TestFeedLost loses the consumers: the tails end with the error, and the next tail starts another consumer.
func TestFeedLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := &historyStore{records: 3, lost: make(chan struct{})}
		s := &feed{store: st}
		ended := make(chan error, 2)
		for range 2 {
			go func() { ended <- s.follow(t.Context(), 0, func(*scheduler.Record) {}) }()
		}
		synctest.Wait()
		close(st.lost)
		for range 2 {
			if err := <-ended; err == nil {
				t.Error("no error")
			}
		}
		if st.consumers != 3 || s.now != nil { // the shared one, and one each
			t.Errorf("%d consumers", st.consumers)
		}
	})
}
