package engine

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/flow"
)

// matcher starts the runs that events trigger. The store delivers each event to one process, whose matcher finds the
// jobs that listen to it, and stores the effect on each as one conditional message. It acknowledges the event afterwards:
// after a crash, another process repeats the effects, which recognize the event by its sequence.
type matcher struct {
	worker    *Worker
	listeners listeners
	events    delivery           // of published events
	records   delivery           // of the records that end attempts
	slots     chan struct{}      // limits the jobs that events are applied to concurrently
	keys      [256]chan struct{} // full while an event is applied to a slot: others of the key would conflict
	seed      maphash.Seed
	tasks     sync.WaitGroup

	matched, refused atomic.Uint64                         // events
	effects          [scheduler.Canceled + 1]atomic.Uint64 // by effect
}

// effectCounts returns the numbers of effects of events on jobs, by their names.
func (m *matcher) effectCounts() map[string]uint64 {
	return map[string]uint64{
		"starts": m.effects[scheduler.Start].Load(), "waits": m.effects[scheduler.Arm].Load(),
		"limited": m.effects[scheduler.Limit].Load(), "refused": m.refused.Load(),
		"canceled": m.effects[scheduler.Withdraw].Load() + m.effects[scheduler.Canceled].Load(),
	}
}

// The limits of a matcher.
const (
	eventsHeld  = 1024 // events in memory
	eventsBatch = 64   // least number of events to request
	eventsDone  = 64   // events that are matched at the same time

	// contested is the pause after a slot has changed while an event was matched, or while the server may be firing it.
	contested     = 5 * time.Millisecond
	contestedMost = 5 * time.Second // then the event is delivered again later
)

func newMatcher(w *Worker) *matcher {
	store := w.cfg.Store
	m := &matcher{worker: w, slots: make(chan struct{}, eventsDone), seed: maphash.MakeSeed()}
	m.events = newDelivery("events", store.DeliverEvents)
	m.records = newDelivery("records", func(
		ctx context.Context, wake <-chan struct{}, room func() int, take func(scheduler.DeliveredEvent),
	) error {
		return store.DeliverRecords(ctx, store.Now().Add(-time.Minute), wake, room, take)
	})
	for i := range m.keys {
		m.keys[i] = make(chan struct{}, 1)
	}
	return m
}

// run matches events until ctx is done. It watches what jobs listen to.
func (m *matcher) run(ctx context.Context) {
	defer m.tasks.Wait()
	late := func(k scheduler.Key, events []recentEvent, edited bool) {
		m.tasks.Go(func() { m.matchLate(ctx, k, events, edited) })
	}
	m.listeners.records = func(on bool) { m.turn(ctx, &m.records, on) }
	for ctx.Err() == nil {
		m.listeners.begin(late)
		err := m.worker.cfg.Store.Listeners().Watch(ctx, func() {
			m.listeners.ready()
			m.turn(ctx, &m.events, true)
			m.tasks.Go(func() { m.closeRecords(ctx) })
		}, func(name string, _ uint64, data []byte) { m.listeners.set(name, data) })
		m.listeners.lose()
		m.turn(ctx, &m.events, false)
		if ctx.Err() == nil {
			m.worker.log.Warn("the watch of the triggers ended; events wait until it is restored", "err", err)
			flow.Pause(ctx, retryPause)
		}
	}
}

// source delivers events until ctx is done.
type source func(ctx context.Context, wake <-chan struct{}, room func() int, take func(scheduler.DeliveredEvent)) error

// delivery delivers the events of a source to this process while it is on.
type delivery struct {
	what   string
	from   source
	buffer *flow.Buffer[uint64] // events in this process
	stop   context.CancelFunc   // nil: it is off
	ended  chan struct{}        // closed when it is off, and the source has ended
}

func newDelivery(what string, from source) delivery {
	d := delivery{what: what, from: from, buffer: flow.NewBuffer[uint64](eventsHeld, eventsBatch, 1), ended: make(chan struct{})}
	close(d.ended)
	return d
}

// turn begins or ends a delivery. Calls for a delivery must not overlap.
func (m *matcher) turn(ctx context.Context, d *delivery, on bool) {
	switch {
	case on && d.stop == nil:
		known, stop := context.WithCancel(ctx)
		before, ended := d.ended, make(chan struct{})
		d.stop, d.ended = stop, ended
		m.tasks.Go(func() {
			defer close(ended)
			<-before
			m.deliver(known, d)
			m.closeRecords(ctx)
		})
	case !on && d.stop != nil:
		d.stop()
		d.stop = nil
	}
}

// deliver takes events until ctx is done.
func (m *matcher) deliver(ctx context.Context, d *delivery) {
	for ctx.Err() == nil {
		err := d.from(ctx, d.buffer.Wake(0), d.buffer.Ask, func(e scheduler.DeliveredEvent) { m.take(ctx, d.buffer, e) })
		if ctx.Err() == nil {
			m.worker.log.Warn("the delivery of events ended; retrying", "of", d.what, "err", err)
			flow.Pause(ctx, retryPause)
		}
	}
}

// closeRecords ends the delivery of records if no job follows another one: they would pile up until one does.
func (m *matcher) closeRecords(ctx context.Context) {
	if ctx.Err() != nil || !m.listeners.unchained() {
		return
	}
	if err := m.worker.cfg.Store.CloseRecords(ctx); err != nil {
		m.worker.log.Warn("the delivery of records is not closed", "err", err)
	}
}

// take receives an event. It must not block.
func (m *matcher) take(ctx context.Context, buffer *flow.Buffer[uint64], d scheduler.DeliveredEvent) {
	if !buffer.Keep(d.Event.Sequence) {
		d.Lease.Yield()
		return
	}
	m.tasks.Go(func() {
		defer buffer.Release(d.Event.Sequence)
		m.match(ctx, d)
	})
}

// match applies an event to the jobs that listen to it, and acknowledges it.
func (m *matcher) match(ctx context.Context, d scheduler.DeliveredEvent) {
	w, e := m.worker, d.Event
	keys, known := m.listeners.of(e)
	if !known {
		_ = d.Lease.Nak(retryPause)
		return
	}
	if d.Err != nil {
		w.log.Warn("an event cannot be read and starts no job", "sequence", e.Sequence, "err", d.Err)
		keys = nil
	}
	doubtful := d.Deliveries > 1 || e.Time.UnixNano() < w.suspect.Load()
	var failed error
	for _, k := range keys {
		if !d.Lease.Stands() {
			d.Lease.Drop()
			return
		}
		if ctx.Err() != nil {
			_ = d.Lease.Nak(0)
			return
		}
		if err := m.persist(ctx, k, e, doubtful || m.listeners.rematched(k, e)); err != nil {
			failed = err
		}
	}
	if failed != nil {
		_ = d.Lease.Nak(scheduler.DamagedPause(d.Deliveries))
		return
	}
	m.matched.Add(1)
	if err := d.Lease.Ack(); err != nil {
		w.log.Warn("event not acknowledged", "sequence", e.Sequence, "err", err)
	}
}

// persist applies an event to a job, and repeats that while the store is unavailable, until ctx is done. It logs an
// error.
func (m *matcher) persist(ctx context.Context, k scheduler.Key, e *scheduler.Event, doubtful bool) error {
	w := m.worker
	err := w.writes.Persist(w.settles, ctx, k.String(), func(ctx context.Context) error {
		m.slots <- struct{}{} // for each try: the store may be unavailable for some jobs, which others must not wait for
		defer func() { <-m.slots }()
		again := doubtful
		doubtful = true // the response may be lost
		return m.apply(ctx, k, e, again)
	})
	damaged, is := errors.AsType[*scheduler.DamagedError](err)
	if err != nil && (!is || w.damageLogged.first(k, damaged.Revision)) {
		w.log.Warn("an event waits for a job", "job", k.String(), "sequence", e.Sequence, "err", err)
	}
	return err
}

// matchLate applies the events that this process has matched since a job was edited, before it knew the edit.
func (m *matcher) matchLate(ctx context.Context, k scheduler.Key, events []recentEvent, edited bool) {
	j, err := m.worker.jobs.Load(ctx, k)
	if err != nil {
		return // deleted, damaged, or this process ends
	}
	for _, r := range events {
		age := r.time.Sub(j.Updated)
		if age < 0 || edited && age > recentAge { // the definition may have changed otherwise, without an edit
			continue
		}
		e, err := m.worker.steps.EventAt(ctx, r.sequence, r.upstream != (scheduler.Key{}))
		switch {
		case err == nil:
			_ = m.persist(ctx, k, e, true)
		case ctx.Err() == nil:
			m.worker.log.Warn("a new trigger has missed an event", "job", k.String(), "sequence", r.sequence, "err", err)
		}
	}
}

// apply applies an event to a job. doubtful: an earlier process may have done so.
func (m *matcher) apply(ctx context.Context, k scheduler.Key, e *scheduler.Event, doubtful bool) error {
	w := m.worker
	j, err := w.jobs.Current(ctx, k, 0)
	switch {
	case errors.Is(err, scheduler.ErrNotFound):
		return nil
	case err != nil:
		return err
	case !doubtful && j.UsedUp(): // otherwise, e may be one of those that were counted
		return nil
	}
	if err := w.wake(ctx, j, e); err != nil {
		return err
	}
	if e, err = m.recall(ctx, j, e); err != nil {
		return err
	}
	match := j.Match(e)
	switch match.Verdict {
	case scheduler.Ignores:
		return nil
	case scheduler.Refuses:
		m.refused.Add(1)
		return w.steps.Record(ctx, j, []scheduler.Record{j.RefusedRecord(e, match, w.cfg.Store.Now())}, doubtful)
	case scheduler.Matches, scheduler.Cancels:
	}
	if !j.Keyed() {
		return m.start(ctx, j, e, match, doubtful)
	}
	turn := m.keys[maphash.String(m.seed, k.String()+" "+j.Slot(match))%uint64(len(m.keys))]
	select {
	case turn <- struct{}{}:
		defer func() { <-turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	began := w.cfg.Store.Now()
	for ; w.cfg.Store.Now().Sub(began) < contestedMost; doubtful = true { // another process may have the event, too
		done, err := m.react(ctx, j, e, match, doubtful)
		if done || err != nil && !errors.Is(err, scheduler.ErrConflict) {
			return err
		}
		if !flow.Pause(ctx, contested) {
			return context.Cause(ctx)
		}
	}
	return fmt.Errorf("key %q: %w: its run is being started", match.Key, scheduler.ErrConflict)
}

// recall returns e, the end of an occurrence of another job, with a note that this job has recovered, if a listener of j
// depends on it: the occurrence that ended before faulted, and is still in the history.
func (m *matcher) recall(ctx context.Context, j *scheduler.Job, e *scheduler.Event) (*scheduler.Event, error) {
	if !j.Recalls(e) {
		return e, nil
	}
	uid, noted := "", e
	ends := []scheduler.Outcome{scheduler.OutcomeCompleted, scheduler.OutcomeFaulted}
	err := m.worker.cfg.Store.Newest(ctx, e.Upstream.Job, ends, func(r *scheduler.Record) bool {
		if r.Sequence == e.Sequence {
			uid = r.UID
		}
		ended := r.Succeeded() || r.Outcome == scheduler.OutcomeFaulted
		if r.Sequence >= e.Sequence || !ended || r.Occurrence == e.Upstream.Occurrence {
			return true
		}
		if r.Outcome == scheduler.OutcomeFaulted && r.UID == uid {
			noted = e.Recovered()
		}
		return false
	})
	return noted, err
}

// start stores the run of a single event. Its slot, which the event's time names, holds no other run.
func (m *matcher) start(ctx context.Context, j *scheduler.Job, e *scheduler.Event, match scheduler.Match, doubtful bool) error {
	b, err := j.Single(e, match)
	if err != nil {
		return err
	}
	r := scheduler.Reaction{Effect: scheduler.Arm, Baton: b}
	slot := scheduler.BatonKey{Key: j.Key, Detached: scheduler.DetachedName(r.Baton.Nominal)}
	if doubtful && e.Time.Add(-recentAge).Before(j.Updated) { // the event may wait in the slot of a key, as before the edit
		if fired, err := m.fired(ctx, j, e); fired || err != nil {
			return err
		}
	}
	if doubtful {
		if now, err := m.worker.occupancyOf(slot, j.Incarnation()); now != (occupancy{}) || err != nil {
			return err
		}
		r.Baton.Suspect = true // the run may have ended
	}
	if id := e.EndID(); id != "" {
		err = m.worker.cfg.Store.PublishOnce(ctx, slot, r.Baton.Encode(), m.worker.steps.ArmAt(j, &r.Baton), j.Incarnation()+" "+id)
	} else {
		err = m.store(ctx, j, slot, r, 0)
	}
	if errors.Is(err, scheduler.ErrConflict) {
		return nil // it is stored
	}
	if err == nil {
		m.effects[scheduler.Start].Add(1)
	}
	return err
}

// react applies an event to the slot of its key. It returns false if the slot has changed meanwhile, or may have.
func (m *matcher) react(
	ctx context.Context, j *scheduler.Job, e *scheduler.Event, match scheduler.Match, doubtful bool,
) (done bool, err error) {
	store, slot := m.worker.cfg.Store, scheduler.BatonKey{Key: j.Key, Detached: j.Slot(match)}
	st, waiting, err := m.worker.steps.Waiting(ctx, slot)
	switch {
	case err != nil:
		return false, err
	case st.MayFire(store.Now()):
		return false, nil
	case waiting != nil && !waiting.BelongsTo(j):
		waiting = nil
	}
	if doubtful && (waiting == nil || !waiting.Cause.Holds(e)) {
		if fired, err := m.fired(ctx, j, e); fired || err != nil {
			return fired, err
		}
	}
	r, err := j.React(e, match, waiting, store.Now())
	if err != nil {
		return false, err
	}
	done, err = m.carryOut(ctx, effect{j, e, match, doubtful, slot, st}, r)
	if noted := r.Effect == scheduler.Arm && r.Baton.Spent; done && err == nil && !noted {
		m.effects[r.Effect].Add(1)
	}
	if done && err == nil && (j.UsesUp(&r.Baton) || j.UsesUp(waiting)) {
		err = m.complete(ctx, j)
	}
	return done, err
}

// complete fires the job's own baton, which waits for the end of the trigger: events have started all of its runs.
func (m *matcher) complete(ctx context.Context, j *scheduler.Job) error {
	slot := scheduler.BatonKey{Key: j.Key}
	for {
		st, err := m.worker.cfg.Store.Waiting(ctx, slot)
		if errors.Is(err, scheduler.ErrNotFound) {
			return nil
		}
		if err == nil {
			var b scheduler.Baton
			if b, err = scheduler.DecodeBaton(st.Data); err == nil {
				b, ends := j.EndTrigger(b, m.worker.cfg.Store.Now())
				if !ends {
					return nil
				}
				err = m.worker.cfg.Store.Fire(ctx, slot, b.Encode(), st.Revision)
			}
		}
		if !errors.Is(err, scheduler.ErrConflict) || !flow.Pause(ctx, contested) {
			return err
		}
	}
}

// effect is an event that is applied to the slot of its key, in which stored waits.
type effect struct {
	job      *scheduler.Job
	event    *scheduler.Event
	match    scheduler.Match
	doubtful bool // an earlier process may have applied it
	slot     scheduler.BatonKey
	stored   scheduler.Stored
}

// carryOut executes the reaction of a job. It returns false if the event is to be matched again.
func (m *matcher) carryOut(ctx context.Context, f effect, r scheduler.Reaction) (done bool, err error) {
	store := m.worker.cfg.Store
	record := func(r scheduler.Record) error {
		return m.worker.steps.Record(ctx, f.job, []scheduler.Record{r}, f.doubtful)
	}
	switch r.Effect {
	case scheduler.NoEffect:
		return true, nil
	case scheduler.Limit:
		return true, record(f.job.LimitRecord(f.event, f.match, store.Now()))
	case scheduler.Canceled:
		return true, record(f.job.CanceledRecord(&r.Baton, store.Now()))
	case scheduler.Flush:
		return false, store.Fire(ctx, f.slot, r.Baton.Encode(), f.stored.Revision)
	case scheduler.Start, scheduler.Arm, scheduler.Allow, scheduler.Withdraw:
	}
	if !r.Stored {
		if err := m.store(ctx, f.job, f.slot, r, f.stored.Revision); err != nil {
			return false, err
		}
	}
	switch {
	case r.Effect == scheduler.Allow:
		f.match.Due = r.Due
		return true, m.start(ctx, f.job, f.event, f.match, f.doubtful || r.Stored)
	case r.Effect != scheduler.Start && f.stored.MayFire(store.Now()):
		return false, nil // the run may have fired, or the server may remove the new baton when it fires the earlier one
	case r.Effect == scheduler.Withdraw:
		return true, record(f.job.CanceledRecord(&r.Baton, store.Now()))
	}
	return true, nil
}

// store stores the baton of a reaction in a slot, in place of the waiting one.
func (m *matcher) store(
	ctx context.Context, j *scheduler.Job, slot scheduler.BatonKey, r scheduler.Reaction, waiting uint64,
) error {
	w, at := m.worker, r.At
	if r.Effect == scheduler.Arm && at.IsZero() {
		at = w.steps.ArmAt(j, &r.Baton)
	}
	if r.Effect == scheduler.Start || at.IsZero() {
		return w.cfg.Store.Fire(ctx, slot, r.Baton.Encode(), waiting)
	}
	return w.cfg.Store.ScheduleAt(ctx, slot, r.Baton.Encode(), at, waiting)
}

// fired reports whether the run of an event that was delivered before has fired: its baton is with a worker, or its
// history has a record.
func (m *matcher) fired(ctx context.Context, j *scheduler.Job, e *scheduler.Event) (fired bool, err error) {
	store := m.worker.cfg.Store
	err = store.SomeDetached(ctx, j.Key, func(_ scheduler.BatonKey, st scheduler.Stored, _ bool) {
		b, err := scheduler.DecodeBaton(st.Data)
		fired = fired || err == nil && b.BelongsTo(j) && !b.Spent && b.Cause.Holds(e)
	})
	if err != nil || fired {
		return fired, err
	}
	return fired, store.Newest(ctx, j.Key, nil, func(r *scheduler.Record) bool {
		fired = r.IsOf(j.Incarnation()) && r.Cause.Holds(e)
		return !fired && r.Stored.After(e.Time)
	})
}

// unkey moves a baton that waited for its key to the slot of its run, so that the key is free for later events.
func (w *Worker) unkey(r *run) stage {
	b := r.baton
	b.Keyed = false
	if err := w.separate(r, b); err != nil {
		return w.nak(r)
	}
	return w.ack(r)
}
