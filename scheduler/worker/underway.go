package worker

import (
	"context"
	"sync"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/limits"
)

// Attempt is a running attempt.
type Attempt struct {
	Job     scheduler.Key
	Nominal time.Time // nominal time of the occurrence
	Try     int // from 1
	Started time.Time // by the store's clock
	Target  string
}

// Running returns the longest-running attempts, oldest first, at most most.
func (w *Worker) Running(most int) []Attempt { return w.underway.oldest(most) }

// Troubled returns the targets whose attempts w holds back.
func (w *Worker) Troubled() []limits.Target { return w.limiter.Troubled(w.cfg.Store.Now()) }

// underway lists the running attempts in the order of their start. The zero value is empty.
type underway struct {
	mu          sync.Mutex
	first, last *run
}

// begin adds a run. The fields that [Attempt] shows do not change until end.
func (u *underway) begin(r *run) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if r.before, r.after = u.last, nil; u.last == nil {
		u.first = r
	} else {
		u.last.after = r
	}
	u.last = r
}

// end removes a run.
func (u *underway) end(r *run) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if r.before == nil {
		u.first = r.after
	} else {
		r.before.after = r.after
	}
	if r.after == nil {
		u.last = r.before
	} else {
		r.after.before = r.before
	}
	r.before, r.after = nil, nil
}

func (u *underway) oldest(most int) (all []Attempt) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for r := u.first; r != nil && len(all) < most; r = r.after {
		all = append(all, Attempt{Job: r.key(), Nominal: r.baton.Nominal, Try: r.baton.Try + 1, Started: r.started, Target: r.Target})
	}
	return all
}

// edited holds the running attempts of a job that has been edited since they started.
type edited struct {
	key      scheduler.Key
	attempts []abortable
}

// abortable holds the data of an attempt at its start.
type abortable struct {
	baton scheduler.Baton
	halt  context.CancelCauseFunc
}

// of returns the attempts of a job.
func (u *underway) of(k scheduler.Key) edited {
	u.mu.Lock()
	defer u.mu.Unlock()
	e := edited{key: k}
	for r := u.first; r != nil; r = r.after {
		if r.key() == k {
			e.attempts = append(e.attempts, abortable{r.baton, r.halt})
		}
	}
	return e
}

// abort cancels the attempts whose occurrences were canceled. If the job cannot be read, they continue, and it is read
// again when they end.
func (w *Worker) abort(e edited) {
	j, err := w.jobs.Current(w.settles, e.key, 0)
	for _, a := range e.attempts {
		if err == nil && a.baton.BelongsTo(j) && j.Canceling(&a.baton) != nil {
			a.halt(errCanceled)
		}
	}
}
