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
	store scheduler.Store

	mu  sync.Mutex
	now *reading // nil: nobody follows
}

// streamKept is how many records are kept: these are 2 KB to 4 KB at most.
const streamKept = 2048

// reading is one that goes on.
type reading struct {
	users int // guarded by the stream
	end   context.CancelFunc
	ended chan struct{} // closed when it has; err says why
	err   error

	mu    sync.Mutex
	floor uint64              // all that was recorded after this sequence is kept, or is to come
	kept  []*scheduler.Record // in their order
	came  chan struct{}       // closed when something has
}

// enter begins to read, or joins a reading. last is that of the records that there are.
func (s *stream) enter(ctx context.Context, after, last uint64) *reading {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == nil {
		reads, end := context.WithCancel(context.WithoutCancel(ctx))
		s.now = &reading{end: end, ended: make(chan struct{}), floor: last, came: make(chan struct{})}
		if after+streamKept/2 >= last {
			s.now.floor = after
		}
		go s.read(reads, s.now, s.now.floor)
	}
	s.now.users++
	return s.now
}

var errUnread = errors.Join(scheduler.ErrUnavailable, errors.New("the reading of the history ended"))

func (s *stream) read(ctx context.Context, r *reading, after uint64) {
	err := s.store.Follow(ctx, scheduler.Key{}, after, r.add)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == r {
		s.now = nil
	}
	r.err = cmp.Or(err, errUnread)
	close(r.ended)
}

// leave ends the reading when nobody else needs it.
func (s *stream) leave(r *reading) {
	s.mu.Lock()
	r.users--
	last := r.users == 0
	if last && s.now == r {
		s.now = nil
	}
	s.mu.Unlock()
	if last {
		r.end()
		<-r.ended
	}
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
	defer s.leave(r)
	for {
		records, came, kept := r.since(after)
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
