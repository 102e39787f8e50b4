package worker

import (
	"errors"
	"sync/atomic"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/limits"
)

// Stats is the load of a worker, and the batons it failed to process since its start.
type Stats struct {
	limits.Stats // of its attempts

	Held       int // early batons in memory
	HoldMemory int // size in bytes of all its batons, including running ones
	HoldLimit  int // limit of HoldMemory in bytes: [Config] HoldMemory
	Troubles   map[Trouble]uint64
}

// Trouble is the reason why a delivered baton could not be processed. A redelivered baton counts each time.
type Trouble string

// The reasons.
const (
	DamagedBaton     Trouble = "damaged_baton" // the baton is unreadable and was removed
	DamagedJob       Trouble = "damaged_job" // the job is unreadable
	LostDefinition   Trouble = "lost_definition" // the job has no definition, and was not deleted
	StoreUnavailable Trouble = "store_unavailable" // the store did not respond
	OtherTrouble     Trouble = "other" // see the log
)

// Stats returns the current load of w.
func (w *Worker) Stats() Stats {
	return Stats{
		Stats: w.limiter.Stats(w.cfg.Store.Now()), Held: w.timers.len(), HoldMemory: w.room.Size(), HoldLimit: w.cfg.HoldMemory,
		Troubles: w.trouble.snapshot(),
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
