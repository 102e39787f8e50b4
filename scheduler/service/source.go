package service

import (
	"context"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/index"
)

// source tells of jobs that may be looked for, in the order of their names.
type source interface {
	// next returns some of those after a place, most at most, and where the next ones go on. more says whether there may
	// be others, also if it returns none. It leaves out what is to be skipped, as far as it can without looking at it,
	// and counts skip down.
	next(ctx context.Context, at scheduler.Key, skip *int, most int) (hits []index.Hit, to scheduler.Key, more bool, err error)
}

// scanned is all jobs.
type scanned struct{ keys []scheduler.Key }

func (s *scanned) next(
	_ context.Context, at scheduler.Key, _ *int, most int,
) (hits []index.Hit, to scheduler.Key, more bool, err error) {
	n := min(len(s.keys), most)
	for _, k := range s.keys[:n] {
		hits = append(hits, index.Hit{Key: k})
	}
	s.keys = s.keys[n:]
	if n > 0 {
		at = hits[n-1].Key
	}
	return hits, at, len(s.keys) > 0, nil
}

// staleReach is of how many jobs it is looked up for a page whether what the index knows of them still holds.
const staleReach = 2048

// indexed is those of which an index does not know that they are not looked for.
type indexed struct {
	index *index.Index
	query *scheduler.JobQuery
	stale int // jobs that were looked up
}

func (s *indexed) next(
	ctx context.Context, at scheduler.Key, skip *int, most int,
) (hits []index.Hit, to scheduler.Key, more bool, err error) {
	for {
		var skipped int
		hits, skipped, more = s.index.Find(s.query, at, *skip, most)
		*skip -= skipped
		if len(hits) == 0 {
			return nil, at, false, nil
		}
		at = hits[len(hits)-1].Key
		stale := 0
		for _, h := range hits {
			if h.Stale {
				stale++
			}
		}
		if stale == 0 {
			return hits, at, more, nil
		}
		s.stale += stale
		if err := s.index.Refresh(ctx, s.query, hits); err != nil {
			return nil, at, false, err
		}
		if hits = s.index.Judge(s.query, hits); len(hits) > 0 || !more || s.stale >= staleReach {
			return hits, at, more, nil
		}
	}
}
