package natsapi

import (
	"errors"
	"sync"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// eraser decides which specs with possible secrets are overwritten. The server rewrites the surrounding megabytes for
// that and blocks the stream meanwhile. Therefore eraser overwrites one spec at a time, and only for a fraction of the
// time. Other specs are merely acknowledged: the server removes them together with their block.
type eraser struct {
	turn chan struct{} // holds a value during an overwrite

	mu     sync.Mutex
	most   time.Duration // maximum of credit
	credit time.Duration // time for overwriting, as of then
	then   time.Time
}

// The rate limit of overwriting.
const (
	erasePart   = 10                     // a tenth of the time
	eraseCredit = 250 * time.Millisecond // maximum, after idle time
)

func newEraser() *eraser {
	return &eraser{turn: make(chan struct{}, 1), most: eraseCredit, credit: eraseCredit, then: time.Now()}
}

// has reports whether time is left for overwriting.
func (e *eraser) has(now time.Time) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.credit = min(e.credit+now.Sub(e.then)/erasePart, e.most)
	e.then = now
	return e.credit > 0
}

// spend deducts the duration of an overwrite.
func (e *eraser) spend(took time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.credit -= took
}

// eraseTries limits the attempts to overwrite a spec: a NATS user without the permission to delete messages gets no
// answer.
const eraseTries = 2

// erase overwrites a spec that may contain secrets, if the rate limit allows it. The acknowledgment that follows
// removes a spec that was not overwritten.
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
