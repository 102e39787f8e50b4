package worker

import (
	"errors"
	"sync/atomic"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/limits"
)

// Stats is how busy a worker is, and what it could not deal with since its start.
type Stats struct {
	limits.Stats // of its attempts

	Held       int // batons in memory that wait for their instant
	HoldMemory int // bytes that all its batons count for, also those that run
	HoldLimit  int // of these: [Config] HoldMemory
	Troubles   map[Trouble]uint64
}

// Trouble is why a baton could not be dealt with when it came. One that waits for better times is counted each time it comes.
type Trouble string

// The troubles.
const (
	DamagedBaton     Trouble = "damaged_baton"     // it cannot be read, and was removed
	DamagedJob       Trouble = "damaged_job"       // its job cannot be read
	LostDefinition   Trouble = "lost_definition"   // its job has none, and was not deleted
	StoreUnavailable Trouble = "store_unavailable" // the store did not answer
	OtherTrouble     Trouble = "other"             // the log says what
)

// Stats returns how busy w is.
func (w *Worker) Stats() Stats {
	return Stats{
		Stats: w.limiter.Stats(w.cfg.Store.Now()), Held: w.timers.len(), HoldMemory: w.room.Size(), HoldLimit: w.cfg.HoldMemory,
		Troubles: w.trouble.snapshot(),
	}
}

// troubles counts them. The zero value is ready.
type troubles struct {
	damagedBaton, damagedJob, lostDefinition, unavailable, other atomic.Uint64
}

// count counts what keeps a baton from being dealt with.
func (t *troubles) count(err error) {
	_, damaged := errors.AsType[*scheduler.DamagedError](err)
	switch {
	case errors.Is(err, errThere): // none any more
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
