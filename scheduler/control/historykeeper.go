package control

import (
	"context"
	"sync"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/flow"
	"github.com/carillon-sched/carillon/scheduler/historyindex"
)

// DefaultHistoryMemory is the default of [Config] HistoryMemory.
const DefaultHistoryMemory = 256 << 20

// historyKeeper keeps an index of the history while clients search for records.
type historyKeeper struct {
	store scheduler.Store
	most  int64         // memory limit of the index in bytes; negative: no index
	wake  chan struct{} // signals a search
	turn  sync.Mutex    // held while records are added to the index

	mu    sync.Mutex
	asked time.Time
	index *historyindex.Index
}

func newHistoryKeeper(store scheduler.Store, most int64) *historyKeeper {
	return &historyKeeper{store: store, most: most, wake: make(chan struct{}, 1)}
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
			flow.Pause(ctx, indexPause)
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
	h.index = nil
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
		x = historyindex.New(span.First, h.most)
		h.index = x
	}
	h.mu.Unlock()
	x.Drop(span.First)
	for {
		began := time.Now()
		whole, err := h.readOn(ctx, x)
		if err != nil || whole || ctx.Err() != nil {
			return err
		}
		flow.Pause(ctx, time.Since(began)) // due runs have priority
	}
}

// readOn adds up to indexStep new records to the index. whole reports that it has reached the end.
func (h *historyKeeper) readOn(ctx context.Context, x *historyindex.Index) (whole bool, err error) {
	h.turn.Lock()
	defer h.turn.Unlock()
	_, to := x.Span()
	n := 0
	err = h.store.RecordsFrom(ctx, scheduler.Key{}, to, func(r *scheduler.Record) bool {
		x.Append(r)
		n++
		return n < indexStep && ctx.Err() == nil
	})
	return n < indexStep && err == nil && ctx.Err() == nil, err
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
	h.mu.Unlock()
	flow.Signal(h.wake)
	if x == nil {
		return nil, false
	}
	if _, to := x.Span(); before > 0 && before <= to {
		return x, true
	}
	whole, err := h.readOn(ctx, x)
	return x, whole && err == nil
}
