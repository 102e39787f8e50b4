package service

import (
	"cmp"
	"context"
	"errors"
	"sort"
	"sync"

	"github.com/carillon-sched/carillon/scheduler"
)

// stream reads what is recorded of all jobs once for all who follow it. It does while somebody does. It is safe for concurrent
// use.
//
// What was read last is kept, streamKept records, until all have taken it. Who is further behind, or is slower, reads by themselves
// from there on, so that nobody waits for them, and they miss nothing.
type stream struct {
	refcounted[*reading]

	store scheduler.Store
}

// streamKept is how many records are kept: these are 2 KB to 4 KB at most.
const streamKept = 2048

// reading is what one reading of the records has brought last.
type reading struct {
	mu    sync.Mutex
	floor uint64              // all that was recorded after this sequence is kept, or is to come
	kept  []*scheduler.Record // in their order
	came  chan struct{}       // closed when something has
}

var errUnread = errors.Join(scheduler.ErrUnavailable, errors.New("the reading of the history ended"))

// enter begins to read, or joins a reading. last is that of the records that there are. release is to be called for what it
// returns.
func (s *stream) enter(ctx context.Context, after, last uint64) *ref[*reading] {
	return s.acquire(ctx, func() (*reading, func(context.Context) error) {
		r := &reading{floor: last, came: make(chan struct{})}
		if after+streamKept/2 >= last {
			r.floor = after
		}
		begin := r.floor
		return r, func(ctx context.Context) error {
			return cmp.Or(s.store.Follow(ctx, scheduler.Key{}, begin, r.add), errUnread)
		}
	})
}

// add keeps a record, and forgets the oldest half when there is no room.
func (r *reading) add(rec *scheduler.Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.kept) >= streamKept {
		half := len(r.kept) / 2
		r.floor = r.kept[half-1].Sequence
		r.kept = append(make([]*scheduler.Record, 0, streamKept), r.kept[half:]...) // others may be reading the old ones
	}
	r.kept = append(r.kept, rec)
	close(r.came)
	r.came = make(chan struct{})
}

// since returns the records after a sequence that are kept, and what is closed when there are others. kept is false when some
// are not kept any more, or were not read.
func (r *reading) since(after uint64) (records []*scheduler.Record, came <-chan struct{}, kept bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := sort.Search(len(r.kept), func(i int) bool { return r.kept[i].Sequence > after })
	return r.kept[i:len(r.kept):len(r.kept)], r.came, after >= r.floor
}

// follow calls f for what is recorded after a sequence, until ctx is done. last is that of the records that there are.
func (s *stream) follow(ctx context.Context, after, last uint64, f func(*scheduler.Record)) error {
	after, err := s.join(ctx, after, last, f)
	if err != nil || ctx.Err() != nil {
		return err
	}
	return s.store.Follow(ctx, scheduler.Key{}, after, f)
}

// join takes what is read for all, until it does not have what follows, and returns the last sequence.
func (s *stream) join(ctx context.Context, after, last uint64, f func(*scheduler.Record)) (uint64, error) {
	r := s.enter(ctx, after, last)
	defer s.release(r)
	for {
		records, came, kept := r.of.since(after)
		if !kept {
			return after, nil
		}
		for _, rec := range records {
			if ctx.Err() != nil {
				return after, nil
			}
			f(rec)
			after = rec.Sequence
		}
		if len(records) > 0 {
			continue
		}
		select {
		case <-came:
		case <-r.ended:
			return after, r.err
		case <-ctx.Done():
			return after, nil
		}
	}
}
