package service

import (
	"context"
	"sync"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/historyindex"
)

// DefaultHistoryMemory is the default of [Config] HistoryMemory.
const DefaultHistoryMemory = 256 << 20

// historyKeeper keeps an index of the history while somebody looks for records.
type historyKeeper struct {
	store scheduler.Store
	most  int64         // bytes of the index; negative: there is none
	wake  chan struct{} // somebody has asked
	turn  chan struct{} // has a place for who reads on

	mu    sync.Mutex
	asked time.Time
	index *historyindex.Index

	// caughtUp says that the index had all records a moment ago: who asks may as well read on.
	caughtUp bool
}

func newHistoryKeeper(store scheduler.Store, most int64) *historyKeeper {
	return &historyKeeper{store: store, most: most, wake: make(chan struct{}, 1), turn: make(chan struct{}, 1)}
}

// The pace of the index.
const (
	indexIdle  = 10 * time.Minute // after which nobody looks for records any more
	indexPause = time.Second      // between two times to read on
	indexStep  = 2048             // records that are read on at once, also by who asks
)

// run builds the index when somebody asks for the first time, and keeps it until
// nobody does any more. Of errors in a row, it tells lost the first.
func (h *historyKeeper) run(ctx context.Context, lost func(error)) {
	failing := false
	for {
		select {
		case <-h.wake:
		case <-ctx.Done():
			return
		}
		for ctx.Err() == nil && h.wanted() {
			err := h.refresh(ctx)
			if err != nil && !failing && ctx.Err() == nil {
				lost(err)
			}
			failing = err != nil
			select {
			case <-time.After(indexPause):
			case <-ctx.Done():
			}
		}
	}
}

// wanted reports whether somebody has asked lately, and drops the index if not.
func (h *historyKeeper) wanted() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if time.Since(h.asked) < indexIdle {
		return true
	}
	h.index, h.caughtUp = nil, false
	return false
}

// refresh drops what the store has dropped, and reads all that is new.
func (h *historyKeeper) refresh(ctx context.Context) error {
	span, err := h.store.HistorySpan(ctx)
	if err != nil {
		return err
	}
	h.mu.Lock()
	x := h.index
	if x == nil || !x.Fits(span) {
		x = historyindex.New(span.First, h.most, span.PerJob)
		h.index, h.caughtUp = x, false
	}
	h.mu.Unlock()
	x.Drop(span.First)
	for {
		began := time.Now()
		whole, err := h.readInTurn(ctx, x)
		h.mu.Lock()
		h.caughtUp = whole
		h.mu.Unlock()
		if err != nil || whole || ctx.Err() != nil {
			return err
		}
		select { // jobs that are due come first
		case <-time.After(time.Since(began)):
		case <-ctx.Done():
		}
	}
}

// readInTurn reads on, when nobody else does.
func (h *historyKeeper) readInTurn(ctx context.Context, x *historyindex.Index) (whole bool, err error) {
	select {
	case h.turn <- struct{}{}:
		defer func() { <-h.turn }()
		return h.readOn(ctx, x, indexStep)
	case <-ctx.Done():
		return false, nil
	}
}

// readOn tells the index of at most so many records that it has not. whole says that there were no others.
func (h *historyKeeper) readOn(ctx context.Context, x *historyindex.Index, most int) (whole bool, err error) {
	_, to := x.Span()
	n, whole := 0, true
	read := h.store.RecordsFrom(ctx, scheduler.Key{}, to, func(r *scheduler.Record) bool {
		if err = x.Append(r); err != nil {
			return false
		}
		n++
		whole = n != most && ctx.Err() == nil
		return whole
	})
	if err == nil {
		err = read
	}
	return whole && err == nil, err
}

// ask returns the index for a look before a sequence, 0: from the newest record on. It is nil when there is
// none yet. current says that the index has all that was recorded until now.
func (h *historyKeeper) ask(ctx context.Context, before uint64) (x *historyindex.Index, current bool) {
	if h.most < 0 {
		return nil, false
	}
	h.mu.Lock()
	h.asked = time.Now()
	x = h.index
	behindByLittle := h.caughtUp
	h.mu.Unlock()
	select {
	case h.wake <- struct{}{}:
	default: // it is awake
	}
	if x == nil {
		return nil, false
	}
	_, to := x.Span()
	switch {
	case before > 0 && before <= to:
		return x, true
	case !behindByLittle:
		return x, false
	}
	whole, err := h.readInTurn(ctx, x)
	return x, whole && err == nil
}
