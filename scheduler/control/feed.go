package control

import (
	"context"
	"slices"
	"sync"

	"github.com/carillon-sched/carillon/scheduler"
)

// feed shares one consumer of the history between the live tails of all jobs that begin near its end. It is safe for
// concurrent use.
type feed struct {
	common[*consumed]

	store scheduler.Store
}

// consumed holds the latest records of a consumer.
type consumed struct {
	mu      sync.Mutex
	records []*scheduler.Record // oldest first
	after   uint64              // records has all records after this sequence
	more    chan struct{}       // closed when the next record comes
}

// feedKept is how far a tail may be behind, in records. Beyond that, it gets a separate consumer.
const feedKept = 1024

// follow is [scheduler.Store.Follow] for the records of all jobs. Tails share the records: f must not change them. When the
// consumer is lost, its tails get their own ones.
func (s *feed) follow(ctx context.Context, after uint64, f func(*scheduler.Record)) error {
	t := s.enter(ctx, func() *consumed { return &consumed{after: after, more: make(chan struct{})} }, func(t *task[*consumed]) {
		_ = s.store.Follow(t.ctx, scheduler.Key{}, t.state.after, t.state.add) // a tail with its own consumer gets the error
	})
	after = t.state.read(ctx, t.ended, after, f)
	s.leave(t)
	if ctx.Err() == nil {
		return s.store.Follow(ctx, scheduler.Key{}, after, f)
	}
	return nil
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

// read calls f for the records after a sequence until ctx is done, the consumer has ended, or records are missing. It
// returns the sequence to continue from.
func (of *consumed) read(ctx context.Context, ended <-chan struct{}, after uint64, f func(*scheduler.Record)) uint64 {
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
		case <-ended:
			return after
		case <-ctx.Done():
			return after
		}
	}
}
