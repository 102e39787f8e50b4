package scheduler

import (
	"sync/atomic"
	"time"
)

// run is a delivered baton on its way through this process: held until it is
// due, waiting for a slot, running, and being settled.
type run struct {
	delivery *Delivery
	baton    Baton
	job      *Job        // the definition it runs under
	spec     *ActionSpec // the main action or the errorAction
	target   string
	group    string      // runs of one group share limits: the target's, or those of one collection to it
	rule     *TargetRule // of the group; nil: none
	skips    []skip      // decided on arrival, recorded when the run is settled
	suspect  bool        // it may have been run before
	faulted  bool        // the history says already that its occurrence faulted
	queued   time.Time   // when it began to wait for a slot
	changes  uint32      // that the library had seen then, see [library.changes]
	probe    bool        // it finds out whether its target is back
	touched  atomic.Int64
}

func newRun(d *Delivery, b Baton) *run {
	r := &run{delivery: d, baton: b}
	r.touched.Store(time.Now().UnixNano())
	return r
}

// place names the message that a run came with.
type place struct {
	slot     Slot
	sequence uint64
}

func (r *run) place() place { return place{r.delivery.Slot, r.delivery.Sequence} }

func (r *run) key() Key { return r.delivery.Slot.Key }

// use sets the definition that r runs under.
func (r *run) use(j *Job) {
	r.job = j
	r.spec = j.Def.Action.in(r.baton.Phase)
	r.target = r.spec.Run.Target()
	r.group = r.target
}

// join sets the rule that r's collection has for its target.
func (r *run) join(rule *TargetRule) {
	if r.rule = rule; rule != nil {
		r.group = r.key().Collection + " " + r.target
	}
}

// forced reports whether r has been put off for so long that it runs although
// the circuit is open.
func (r *run) forced(rule *BreakerRule, now time.Time) bool {
	return !r.baton.Postponed.IsZero() && now.Sub(r.baton.Postponed) >= rule.Most
}
