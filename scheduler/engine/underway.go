package engine

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/engine/limits"
)

// Attempt is a running attempt.
type Attempt struct {
	Job     scheduler.Key
	Nominal time.Time // nominal time of the occurrence
	Try     int       // from 1
	Started time.Time // by the store's clock
	Target  string
}

// Running returns the longest-running attempts, oldest first, up to most.
func (w *Worker) Running(most int) []Attempt { return w.underway.oldest(most) }

// Troubled returns the targets whose attempts w holds back.
func (w *Worker) Troubled() []limits.Target { return w.limiter.Troubled(w.cfg.Store.Now()) }

// underway lists the running attempts in the order of their start. The zero value is empty.
type underway struct {
	mu   sync.Mutex
	runs []*run
}

// begin adds a run. The fields that [Attempt] shows do not change until end.
func (u *underway) begin(r *run) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.runs = append(u.runs, r)
}

// end removes a run.
func (u *underway) end(r *run) {
	u.mu.Lock()
	defer u.mu.Unlock()
	at := slices.Index(u.runs, r)
	u.runs = slices.Delete(u.runs, at, at+1)
}

func (u *underway) oldest(most int) (all []Attempt) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, r := range u.runs[:min(most, len(u.runs))] {
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
	halt  func()
}

// of returns the attempts of a job.
func (u *underway) of(k scheduler.Key) edited {
	u.mu.Lock()
	defer u.mu.Unlock()
	e := edited{key: k}
	for _, r := range u.runs {
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
			a.halt()
		}
	}
}

// Stats is the load of a worker, and the batons it failed to process since its start.
type Stats struct {
	limits.Stats // of its attempts

	Held       int // early batons in memory
	HoldMemory int // size in bytes of all its batons, including running ones
	HoldLimit  int // limit of HoldMemory in bytes: [Config] HoldMemory
	Troubles   map[Trouble]uint64

	Events       uint64 // that it has matched
	EventEffects map[string]uint64
}

// Trouble is the reason why a delivered baton could not be processed. A redelivered baton counts each time.
type Trouble string

// The reasons.
const (
	DamagedBaton     Trouble = "damaged_baton"     // the baton is unreadable and was removed
	DamagedJob       Trouble = "damaged_job"       // the job is unreadable
	LostDefinition   Trouble = "lost_definition"   // the job has no definition, and was not deleted
	StoreUnavailable Trouble = "store_unavailable" // the store did not respond
	OtherTrouble     Trouble = "other"             // see the log
)

// Stats returns the current load of w.
func (w *Worker) Stats() Stats {
	return Stats{
		Stats: w.limiter.Stats(w.cfg.Store.Now()), Held: w.timers.len(), HoldMemory: w.buffer.Size(), HoldLimit: w.cfg.HoldMemory,
		Troubles: w.trouble.snapshot(),
		Events:   w.matcher.matched.Load(), EventEffects: w.matcher.effectCounts(),
	}
}

// troubles counts troubles. The zero value is ready for use.
type troubles struct {
	damagedBaton, damagedJob, lostDefinition, unavailable, other atomic.Uint64
}

// count counts an error by its trouble.
func (t *troubles) count(err error) {
	_, damaged := errors.AsType[*scheduler.DamagedError](err)
	switch {
	case errors.Is(err, errThere): // resolved
	case damaged:
		t.damagedJob.Add(1)
	case errors.Is(err, scheduler.ErrUnavailable):
		t.unavailable.Add(1)
	default:
		t.other.Add(1)
	}
}

func (t *troubles) snapshot() map[Trouble]uint64 {
	return map[Trouble]uint64{
		DamagedBaton: t.damagedBaton.Load(), DamagedJob: t.damagedJob.Load(), LostDefinition: t.lostDefinition.Load(),
		StoreUnavailable: t.unavailable.Load(), OtherTrouble: t.other.Load(),
	}
}
