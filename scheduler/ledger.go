package scheduler

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// Ledger lists the runs of a key, by their nominal times in ascending order. A run that is due enters it, and leaves it
// when it has ended:
//
//	overlap      fewer runs than concurrency  as many runs as concurrency are in progress
//	             are in progress
//	queue        starts                       waits in its own slot; is skipped if maxQueued runs wait
//	skip         starts                       is skipped
//	cancelOther  starts                       starts, and the earliest run is canceled; is skipped if it is the earliest
//
// After that, the earliest runs that wait start, up to concurrency. A run that has just entered settles first: the run of
// an earlier event may follow. A run that enters again finds itself in the ledger.
// A spent baton, which never fires, holds the ledger in a slot of the key ([LedgerSlot]).
type Ledger struct {
	Running []time.Time `json:"running,omitempty"` // in progress, until their counters are merged
	Queued  []time.Time `json:"queued,omitempty"`
	Fresh   []FreshRun  `json:"fresh,omitempty"` // queued runs that settle
	Checked time.Time   `json:"checked"`         // when the store was last asked for the batons of the runs in progress
}

// FreshRun is a run that has just entered a ledger.
type FreshRun struct {
	Run   time.Time `json:"run"`
	Until time.Time `json:"until"` // it does not start before
}

const (
	// maxQueued is the maximum number of runs of a key that wait.
	maxQueued = 1000

	// ledgerCheck is the interval between the checks of a ledger whose runs do not end: it finds runs that are lost.
	// maxLedgerCheck limits the time after which a waiting run checks it: a worker may have failed to start the run.
	ledgerCheck    = time.Minute
	maxLedgerCheck = 10 * time.Minute

	// Runs of simultaneous events usually overtake each other by less than settleLeast or, in a backlog, settleMost.
	settleLeast = 20 * time.Millisecond
	settleMost  = 250 * time.Millisecond

	// ledgerKept exceeds the time that a run may take.
	ledgerKept = 366 * 24 * time.Hour
)

// LedgerSlot returns the last subject token of the ledger of a key.
func LedgerSlot(key string) string { return ledgerSlotPrefix + keyHash(key) }

// ledgerSlotPrefix distinguishes the slot of a ledger from slots of keys and runs.
const ledgerSlotPrefix = "runs-"

// Orders reports whether the run of b must enter the ledger of its key. j is the definition of the run.
func (j *Job) Orders(b *Baton) bool {
	return b.Kind == Triggered && j.Def.Trigger != nil && j.Def.Trigger.Concurrency > 0
}

// PriorityOf returns the priority of the run of b for a slot of its target.
func (j *Job) PriorityOf(b *Baton) int8 {
	if b.Kind != Triggered || j.Def.Trigger == nil {
		return 0
	}
	return j.Def.Trigger.Priority
}

// OpenLedger returns the ledger in a stored baton, and a new one if the baton is missing, unreadable or of an earlier job.
func (j *Job) OpenLedger(data []byte, now time.Time) Ledger {
	if b, err := DecodeBaton(data); err == nil && b.Ledger != nil && b.BelongsTo(j) {
		return *b.Ledger
	}
	return Ledger{Checked: now.UTC()}
}

// LedgerBaton returns the baton that holds the ledger of a key.
func (j *Job) LedgerBaton(key string, l Ledger, now time.Time) Baton {
	return Baton{
		Kind: Triggered, UID: j.Incarnation(), Revision: j.Revision, Schedule: j.ScheduleGen, Nominal: now.UTC(),
		Due: now.Add(ledgerKept).UTC(), Keyed: true, Spent: true, Cause: &Cause{Key: key}, Ledger: &l,
	}
}

// IsEmpty reports whether no run is in progress or waits.
func (l *Ledger) IsEmpty() bool { return len(l.Running)+len(l.Queued) == 0 }

// Equal reports whether both ledgers are equal.
func (l *Ledger) Equal(other Ledger) bool {
	same := func(a, b []time.Time) bool { return slices.EqualFunc(a, b, time.Time.Equal) }
	return same(l.Running, other.Running) && same(l.Queued, other.Queued) && l.Checked.Equal(other.Checked)
}

// Has reports whether a run is in progress or waits.
func (l *Ledger) Has(run time.Time) bool {
	return l.Runs(run) || slices.ContainsFunc(l.Queued, run.Equal)
}

// Runs reports whether a run is in progress.
func (l *Ledger) Runs(run time.Time) bool { return slices.ContainsFunc(l.Running, run.Equal) }

// Waits reports whether a run waits, and how long before it checks the ledger. settles: it may start after that.
func (l *Ledger) Waits(run, now time.Time) (pause time.Duration, settles, waits bool) {
	if fresh := l.fresh(run); fresh >= 0 {
		return l.Fresh[fresh].Until.Sub(now), true, true
	}
	at := slices.IndexFunc(l.Queued, run.Equal)
	return min(maxLedgerCheck, time.Duration(at+1)*ledgerCheck), false, at >= 0
}

// fresh returns the index of a run that settles, -1 for others.
func (l *Ledger) fresh(run time.Time) int {
	return slices.IndexFunc(l.Fresh, func(f FreshRun) bool { return f.Run.Equal(run) })
}

// Check begins a check, if it is time for it, and returns the runs that leave the ledger if the store lacks their
// batons. A replica of the store may lack recent batons for a moment.
func (l *Ledger) Check(now time.Time) (runs []time.Time) {
	if now.Sub(l.Checked) < ledgerCheck {
		return nil
	}
	l.Checked = now.UTC()
	return slices.DeleteFunc(slices.Clone(l.Running), now.Add(-ledgerCheck).Before)
}

// Apply lets runs enter, so late, and leave the ledger. t is the current trigger of the job. It returns the runs that start
// after they have waited, and those to cancel.
func (l *Ledger) Apply(
	t *Trigger, enter, leave []time.Time, now time.Time, late time.Duration,
) (next Ledger, started, canceled []time.Time) {
	next = *l
	for _, run := range leave {
		next.Running, next.Queued = withoutTime(next.Running, run), withoutTime(next.Queued, run)
	}
	next.Fresh = slices.DeleteFunc(slices.Clone(next.Fresh), func(f FreshRun) bool { return !f.Until.After(now) || !next.Has(f.Run) })
	overlap, most := OverlapQueue, math.MaxInt // an edit has ended the limit
	if t != nil && t.Concurrency > 0 {
		overlap, most = t.Overlap, t.Concurrency
	}
	for _, run := range slices.SortedFunc(slices.Values(enter), time.Time.Compare) {
		switch {
		case next.Has(run):
		case overlap == OverlapCancel, overlap == OverlapSkip && len(next.Running) < most:
			next.Running = withTime(next.Running, run)
		case overlap == OverlapQueue && len(next.Queued) < maxQueued:
			next.Queued = withTime(next.Queued, run)
			next.Fresh = append(next.Fresh, FreshRun{run, now.Add(max(settleLeast, min(settleMost, late))).UTC()})
		}
	}
	if over := len(next.Running) - most; over > 0 && overlap == OverlapCancel && len(enter) > 0 {
		canceled, next.Running = next.Running[:over], next.Running[over:]
	}
	for len(next.Running) < most && len(next.Queued) > 0 && next.fresh(next.Queued[0]) < 0 {
		started, next.Running, next.Queued = append(started, next.Queued[0]), withTime(next.Running, next.Queued[0]), next.Queued[1:]
	}
	return next, started, canceled
}

func withTime(list []time.Time, t time.Time) []time.Time {
	at, _ := slices.BinarySearchFunc(list, t, time.Time.Compare)
	return slices.Insert(slices.Clone(list), at, t)
}

func withoutTime(list []time.Time, t time.Time) []time.Time {
	return slices.DeleteFunc(slices.Clone(list), t.Equal)
}

// UnadmittedRecord returns the record of the run of b, which the ledger l does not let start.
func (j *Job) UnadmittedRecord(l *Ledger, b *Baton, now time.Time) Record {
	switch j.Def.Trigger.Overlap {
	case OverlapCancel:
		return j.unstarted(b, ReasonCanceled, "canceled by "+laterEvent, now)
	case OverlapSkip:
		text := fmt.Sprintf("trigger.overlap: the run %s is in progress", OccurrenceID(j.Key, l.Running[0]))
		return j.unstarted(b, ReasonOverlap, text, now)
	case OverlapQueue, OverlapAllow:
	}
	text := fmt.Sprintf("trigger.overlap: %d runs of the key wait already: raise trigger.concurrency, or use batch", maxQueued)
	return j.unstarted(b, ReasonOverlap, text, now)
}

// laterEvent names what cancels a run by its overlap.
const laterEvent = "a later event (trigger.overlap)"

// CancelsOverlap returns j with the runs of batons canceled by a later event. It returns nil if all are canceled already.
func (j *Job) CancelsOverlap(batons []Baton, now time.Time) *Job {
	batons = slices.DeleteFunc(slices.Clone(batons), func(b Baton) bool { return !b.BelongsTo(j) || j.Canceling(&b) != nil })
	if len(batons) == 0 {
		return nil
	}
	return j.Cancels(batons, Cancellation{At: now.UTC(), By: laterEvent})
}

// Describe describes the ledger of a key for people: "key 42: 1 run in progress, 3 queued".
func (l *Ledger) Describe(key string) string {
	text := fmt.Sprintf("%d in progress, %d queued", len(l.Running), len(l.Queued))
	if key != "" {
		return "runs of the key " + key + ": " + text
	}
	return "runs: " + text
}
