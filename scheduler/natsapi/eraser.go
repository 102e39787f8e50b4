package natsapi

import (
	"errors"
	"sync"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// eraser says when a spec that may hold secrets is overwritten. To do that, the
// server writes the megabytes that lie around it once more, and nothing else is
// done in the stream meanwhile. So one is overwritten at a time, and in the long
// run that takes no more than a part of the time. What comes faster is only
// acknowledged: the server removes it with all that lay around it, when that is
// done with too.
type eraser struct {
	turn chan struct{} // holds a value while one is overwritten

	mu     sync.Mutex
	most   time.Duration // that credit grows to
	credit time.Duration // of time for overwriting, as of then
	then   time.Time
}

// The pace of overwriting.
const (
	erasePart   = 10                     // of the time: one in so much
	eraseCredit = 250 * time.Millisecond // at most, after some leisure
)

func newEraser() *eraser {
	return &eraser{turn: make(chan struct{}, 1), most: eraseCredit, credit: eraseCredit, then: time.Now()}
}

// has reports whether there is time for overwriting.
func (e *eraser) has(now time.Time) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.credit = min(e.credit+now.Sub(e.then)/erasePart, e.most)
	e.then = now
	return e.credit > 0
}

// spend takes time that overwriting took.
func (e *eraser) spend(took time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.credit -= took
}

// eraseTries bounds the tries to overwrite a spec: a NATS user that may not
// delete messages gets no answer at all.
const eraseTries = 2

// erase overwrites a spec that may hold secrets, if there is time for
// that. The acknowledgement that follows removes one that was not overwritten.
func (n *Ingest) erase(it *item) {
	if !n.eraser.has(time.Now()) {
		return
	}
	n.eraser.turn <- struct{}{}
	defer func() { <-n.eraser.turn }()
	began := time.Now()
	if !n.eraser.has(began) {
		return
	}
	err := n.cfg.Source.EraseSpec(n.work, it.Sequence)
	for try := 1; try < eraseTries && errors.Is(err, scheduler.ErrUnavailable); try++ {
		err = n.cfg.Source.EraseSpec(n.work, it.Sequence)
	}
	n.eraser.spend(time.Since(began))
	if err != nil {
		n.log.Warn("spec that may hold secrets removed, but not overwritten", "job", it.Name, "err", err)
	}
}
