package control

import (
	"context"
	"slices"
	"sync"

	"github.com/carillon-sched/carillon/scheduler"
)

// feed shares one consumer of the history between the live tails of all jobs that begin near its end. Without them, it has none.
// It is safe for concurrent use.
type feed struct {
	store scheduler.Store

	mu  sync.Mutex
	now *consumed // nil: none
}

// consumed holds the latest records of a consumer.
type consumed struct {
	done chan struct{} // closed when the consumer has ended
	end  context.CancelFunc

	users int // guarded by the feed

	mu      sync.Mutex
	records []*scheduler.Record // oldest first
	after   uint64              // records has all records after this sequence
	more    chan struct{}       // closed when the next record comes
}

// feedKept is how far a tail may be behind, in records. Beyond that, it gets a separate consumer.
const feedKept = 1024

// follow is [scheduler.Store.Follow] for the records of all jobs. Tails share the records: f must not change them.
func (s *feed) follow(ctx context.Context, after uint64, f func(*scheduler.Record)) error {
	of := s.enter(ctx, after)
	after = of.read(ctx, after, f)
	s.leave(of)
	if ctx.Err() == nil {
		return s.store.Follow(ctx, scheduler.Key{}, after, f)
	}
	return nil
}

// enter returns the shared consumer, and starts it for the first tail, with the values of that tail's context.
func (s *feed) enter(ctx context.Context, after uint64) *consumed {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == nil {
		ctx, end := context.WithCancel(context.WithoutCancel(ctx))
		s.now = &consumed{done: make(chan struct{}), end: end, after: after, more: make(chan struct{})}
		go s.run(ctx, s.now)
	}
	s.now.users++
	return s.now
}

// run runs a consumer. When it is lost, its tails get their own ones, and the next tail starts another.
func (s *feed) run(ctx context.Context, of *consumed) {
	defer close(of.done)
	_ = s.store.Follow(ctx, scheduler.Key{}, of.after, of.add) // a tail with its own consumer gets the error
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == of {
		s.now = nil
	}
}

// leave ends the consumer after its last tail.
func (s *feed) leave(of *consumed) {
	s.mu.Lock()
	of.users--
	last := of.users == 0
	if last && s.now == of {
		s.now = nil
	}
	s.mu.Unlock()
	if last {
		of.end()
		<-of.done
	}
}

func (of *consumed) add(r *scheduler.Record) {
	of.mu.Lock()
	defer of.mu.Unlock()
	if len(of.records) == 2*feedKept {
		of.after = of.records[feedKept-1].Sequence
		of.records = slices.Clone(of.records[feedKept:]) // tails read the others
	}
	of.records = append(of.records, r)
	close(of.more)
	of.more = make(chan struct{})
}

// read calls f for the records after a sequence until ctx is done, the consumer ends, or records are missing. It returns the
// sequence to continue from.
func (of *consumed) read(ctx context.Context, after uint64, f func(*scheduler.Record)) uint64 {
	for {
		of.mu.Lock()
		missing, more := after < of.after, of.more
		i, _ := slices.BinarySearchFunc(of.records, after+1, func(r *scheduler.Record, n uint64) int {
			if r.Sequence < n {
				return -1
			}
			return 1
		})
		fresh := of.records[i:]
		of.mu.Unlock()
		if missing {
			return after
		}
		for _, r := range fresh {
			if ctx.Err() != nil {
				return after
			}
			f(r)
			after = r.Sequence
		}
		if len(fresh) > 0 {
			continue
		}
		select {
		case <-more:
		case <-of.done:
			return after
		case <-ctx.Done():
			return after
		}
	}
}
