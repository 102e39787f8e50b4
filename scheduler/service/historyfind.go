package service

import (
	"context"
	"errors"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/historyindex"
)

// finder finds the records of a page: those of the index's range in the index, and the others in the store.
type finder struct {
	store   scheduler.Store
	search  *historySearch
	chunk   int // records whose jobs are looked up together
	index   *historyindex.Index // nil: no index
	current bool // the store has no newer records
}

// all finds the records, newest first.
func (f *finder) all(ctx context.Context) error {
	before := f.search.page.Before
	if f.index == nil {
		return f.scan(ctx, before, 0)
	}
	from, to := f.index.Span()
	if !f.current && (before == 0 || before > to) {
		if err := f.scan(ctx, before, to); err != nil || f.search.over() {
			return err
		}
	}
	if before == 0 || before > to {
		before = to
	}
	if before > from {
		if err := f.lookUp(ctx, before); err != nil || f.search.over() {
			return err
		}
		before = from
	}
	if before <= 1 { // nothing precedes the first record
		return nil
	}
	return f.scan(ctx, before, 0)
}

// scan reads the records of the store before a sequence and not before down.
func (f *finder) scan(ctx context.Context, before, down uint64) error {
	s := f.search
	var failed error
	err := f.store.Recent(ctx, s.query.Key, before, s.query.Outcomes, func(r *scheduler.Record) bool {
		if r.Sequence < down {
			return false
		}
		more := s.look(r)
		if len(s.pending) >= f.chunk {
			failed = s.settle(ctx)
		}
		return more && failed == nil && !s.full
	})
	if err = errors.Join(err, failed); err != nil {
		return err
	}
	return s.settle(ctx)
}

// lookUp adds the index's records before a sequence.
func (f *finder) lookUp(ctx context.Context, before uint64) error {
	s := f.search
	q := historyindex.Query{RecordFilter: s.query.RecordFilter, Key: s.query.Key, Sees: s.query.Sees}
	for {
		records, done, err := f.index.Search(&q, before, min(s.page.Size()-len(s.records)+s.skip+1, lookUpMost))
		if err != nil {
			return err
		}
		more := true
		for _, r := range records {
			before = r.Sequence
			if r.UID == "" { // without it, it may belong to an earlier job, whose records the store has dropped
				if there, err := f.isThere(ctx, r); err != nil || !there {
					if err != nil {
						return err
					}
					continue
				}
			}
			if more = s.look(r); !more {
				break
			}
		}
		if err := s.settle(ctx); err != nil || done || !more || s.full {
			return err
		}
	}
}

// lookUpMost limits the records that are unpacked together.
const lookUpMost = 256

// isThere reports whether the store has a record.
func (f *finder) isThere(ctx context.Context, r *scheduler.Record) (there bool, err error) {
	err = f.store.Recent(ctx, r.Job, r.Sequence+1, []scheduler.Outcome{r.Outcome}, func(last *scheduler.Record) bool {
		there = last.Sequence == r.Sequence
		return false
	})
	return there, err
}
