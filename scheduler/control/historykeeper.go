package control

import (
	"context"
	"sync"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/historyindex"
)

// DefaultHistoryMemory is the default of [Config] HistoryMemory.
const DefaultHistoryMemory = 256 << 20

// historyKeeper keeps an index of the history while clients search for records.
type historyKeeper struct {
	store scheduler.Store
	most  int64         // memory limit of the index in bytes; negative: no index
	wake  chan struct{} // signals a search
	turn  chan struct{} // holds a value while no reader has the turn

	mu    sync.Mutex
	asked time.Time
	index *historyindex.Index

	// caughtUp reports that the index was recently up to date, so a search may read the newest records itself.
	caughtUp bool
}

func newHistoryKeeper(store scheduler.Store, most int64) *historyKeeper {
	return &historyKeeper{store: store, most: most, wake: make(chan struct{}, 1), turn: make(chan struct{}, 1)}
}

// The intervals and limits of the index.
const (
	indexIdle  = 10 * time.Minute // time without a search after which the index is dropped
	indexPause = time.Second      // between two updates
	indexStep  = 2048             // records per update, also one by a search
)

// run builds the index at the first search, and drops it after indexIdle without a search. It passes the first of
// consecutive errors to lost.
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

// wanted reports whether there was a recent search. If not, it drops the index.
func (h *historyKeeper) wanted() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if time.Since(h.asked) < indexIdle {
		return true
	}
	h.index, h.caughtUp = nil, false
	return false
}

// refresh drops the records that the store has dropped, and reads all new ones.
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
		select { // due runs have priority
		case <-time.After(time.Since(began)):
		case <-ctx.Done():
		}
	}
}

// readInTurn reads new records, unless another goroutine does.
func (h *historyKeeper) readInTurn(ctx context.Context, x *historyindex.Index) (whole bool, err error) {
	select {
	case h.turn <- struct{}{}:
		defer func() { <-h.turn }()
		return h.readOn(ctx, x, indexStep)
	case <-ctx.Done():
		return false, nil
	}
}

// readOn adds up to most new records to the index. whole reports that it has reached the end.
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

// ask returns the index for a search before a sequence, 0: from the newest record on. It returns nil without an index.
// current reports that the index is complete.
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
	default: // it is already awake
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
