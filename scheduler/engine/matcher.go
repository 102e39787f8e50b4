package engine

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
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
	published *flow.Buffer[uint64] // events in this process
	records   *flow.Buffer[uint64]
	slots     chan struct{} // limits the concurrent events
}

// The limits of a matcher.
const (
	eventsHeld  = 1024 // events in memory
	eventsBatch = 64   // least number of events to request
	eventsDone  = 64   // events that are matched at the same time

	// contested is the pause after a slot has changed while an event was matched, or while the server may be firing it.
	contested = 20 * time.Millisecond
)

func newMatcher(w *Worker) *matcher {
	return &matcher{
		worker: w, published: flow.NewBuffer[uint64](eventsHeld, eventsBatch, 1),
		records: flow.NewBuffer[uint64](eventsHeld, eventsBatch, 1), slots: make(chan struct{}, eventsDone),
	}
}

// run matches events until ctx is done.
func (m *matcher) run(ctx context.Context) {
	var side sync.WaitGroup
	defer side.Wait()
	side.Go(func() { m.follow(ctx) })
	store := m.worker.cfg.Store
	side.Go(func() {
		m.deliver(ctx, "events", m.listeners.live, m.published, store.DeliverEvents)
	})
	side.Go(func() {
		m.deliver(ctx, "records", m.listeners.chained, m.records,
			func(ctx context.Context, wake <-chan struct{}, room func() int, take func(scheduler.DeliveredEvent)) error {
				return store.DeliverRecords(ctx, store.Now().Add(-time.Minute), wake, room, take)
			})
	})
}

// follow watches what jobs listen to.
func (m *matcher) follow(ctx context.Context) {
	for ctx.Err() == nil {
		m.listeners.reset()
		err := m.worker.cfg.Store.Listeners().Watch(ctx, m.listeners.ready, func(name string, _ uint64, data []byte) {
			if k, missed := m.listeners.set(name, data); len(missed) > 0 {
				go m.matchLate(ctx, k, missed)
			}
		})
		m.listeners.lose()
		if ctx.Err() == nil {
			m.worker.log.Warn("the watch of the triggers ended; events wait until it is restored", "err", err)
			flow.Pause(ctx, retryPause)
		}
	}
}

// deliver takes events from a source while the listeners are known.
func (m *matcher) deliver(
	ctx context.Context, what string, live func(context.Context) bool, buffer *flow.Buffer[uint64],
	source func(ctx context.Context, wake <-chan struct{}, room func() int, take func(scheduler.DeliveredEvent)) error,
) {
	for live(ctx) {
		err := source(ctx, buffer.Wake(0), buffer.Ask, func(d scheduler.DeliveredEvent) { m.take(ctx, buffer, d) })
		if ctx.Err() == nil {
			m.worker.log.Warn("the delivery of events ended; retrying", "of", what, "err", err)
			flow.Pause(ctx, retryPause)
		}
	}
}

// take receives an event. It must not block.
func (m *matcher) take(ctx context.Context, buffer *flow.Buffer[uint64], d scheduler.DeliveredEvent) {
	if !buffer.Keep(d.Event.Sequence) {
		d.Lease.Yield()
		return
	}
	go func() {
		defer buffer.Release(d.Event.Sequence)
		select {
		case m.slots <- struct{}{}:
			defer func() { <-m.slots }()
		case <-ctx.Done():
			_ = d.Lease.Nak(0)
			return
		}
		m.match(d)
	}()
}

// match applies an event to the jobs that listen to it, and acknowledges it.
func (m *matcher) match(d scheduler.DeliveredEvent) {
	ctx := m.worker.settles
	if d.Err != nil {
		m.worker.log.Warn("an event cannot be read and starts no job", "sequence", d.Event.Sequence, "err", d.Err)
	}
	for _, k := range m.listeners.of(d.Event) {
		if d.Err != nil {
			break
		}
		if !d.Lease.Stands() {
			d.Lease.Drop()
			return
		}
		doubtful := d.Deliveries > 1
		err := m.worker.persist(ctx, k, func(ctx context.Context) error {
			again := doubtful
			doubtful = true // the response may be lost
			return m.apply(ctx, k, d.Event, again)
		})
		if err != nil {
			m.worker.log.Warn("an event is matched again later", "job", k.String(), "sequence", d.Event.Sequence, "err", err)
			_ = d.Lease.Nak(retryPause)
			return
		}
	}
	if err := d.Lease.Ack(); err != nil {
		m.worker.log.Warn("event not acknowledged", "sequence", d.Event.Sequence, "err", err)
	}
}

// matchLate applies the events that this process has matched since a job was edited: what the job listens to may be
// known only after them.
func (m *matcher) matchLate(ctx context.Context, k scheduler.Key, missed []recentEvent) {
	store := m.worker.cfg.Store
	j, err := m.worker.jobs.Load(ctx, k)
	for _, r := range missed {
		if err != nil || r.time.Before(j.Updated) {
			continue
		}
		var e *scheduler.Event
		if r.upstream == (scheduler.Key{}) {
			e, err = store.EventAt(ctx, r.sequence)
		} else if records, failed := store.RecordsAt(ctx, []uint64{r.sequence}); failed != nil || len(records) == 0 {
			err = failed
		} else if of, ok := scheduler.EventOf(records[0]); ok {
			e = &of
		}
		if err == nil && e != nil {
			err = m.worker.persist(ctx, k, func(ctx context.Context) error { return m.apply(ctx, k, e, true) })
		}
	}
	if err != nil && !errors.Is(err, scheduler.ErrNotFound) && ctx.Err() == nil {
		m.worker.log.Warn("a new trigger may have missed an event", "job", k.String(), "err", err)
	}
}

// recentEvent is an event of the last moments.
type recentEvent struct {
	topic    scheduler.Topic
	upstream scheduler.Key
	sequence uint64
	time     time.Time
}

// Limits of the remembered events. The announcement of a listener takes a second at most, unless the watch is lost.
const (
	recentAge  = 5 * time.Second
	recentMost = 1 << 16
)

// apply applies an event to a job. doubtful: an earlier process may have done so.
func (m *matcher) apply(ctx context.Context, k scheduler.Key, e *scheduler.Event, doubtful bool) error {
	w := m.worker
	j, err := w.jobs.Current(ctx, k, 0)
	switch {
	case errors.Is(err, scheduler.ErrNotFound):
		return nil
	case err != nil:
		return err
	}
	match := j.Match(e)
	switch match.Verdict {
	case scheduler.Ignores:
		return nil
	case scheduler.Refuses:
		return w.steps.Record(ctx, j, []scheduler.Record{j.RefusedRecord(e, match, w.cfg.Store.Now())}, doubtful)
	case scheduler.Matches, scheduler.Cancels:
	}
	if !j.Keyed() {
		return m.start(ctx, j, e, match, doubtful)
	}
	for ctx.Err() == nil {
		done, err := m.react(ctx, j, e, match, doubtful)
		if done || err != nil && !errors.Is(err, scheduler.ErrConflict) {
			return err
		}
		flow.Pause(ctx, contested)
	}
	return context.Cause(ctx)
}

// start stores the run of a single event. Its slot, which the event's time names, holds no other run.
func (m *matcher) start(ctx context.Context, j *scheduler.Job, e *scheduler.Event, match scheduler.Match, doubtful bool) error {
	b, err := j.Single(e, match)
	if err != nil {
		return err
	}
	r := scheduler.Reaction{Effect: scheduler.Arm, Baton: b}
	slot := scheduler.BatonKey{Key: j.Key, Detached: scheduler.DetachedName(r.Baton.Nominal)}
	if doubtful {
		if there, err := m.occupied(ctx, slot); there || err != nil {
			return err
		}
		r.Baton.Suspect = true // the run may have ended
	}
	err = m.store(ctx, j, slot, r, 0)
	if errors.Is(err, scheduler.ErrConflict) {
		return nil // it is stored
	}
	return err
}

// occupied reports whether a slot has a baton. It asks for the waiting one first, which may be fired in between.
func (m *matcher) occupied(ctx context.Context, slot scheduler.BatonKey) (bool, error) {
	store := m.worker.cfg.Store
	_, err := store.Waiting(ctx, slot)
	if errors.Is(err, scheduler.ErrNotFound) {
		_, err = store.Running(ctx, slot)
	}
	if errors.Is(err, scheduler.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// react applies an event to the slot of its key. It returns false if the slot has changed meanwhile, or may have.
func (m *matcher) react(
	ctx context.Context, j *scheduler.Job, e *scheduler.Event, match scheduler.Match, doubtful bool,
) (done bool, err error) {
	store, slot := m.worker.cfg.Store, scheduler.BatonKey{Key: j.Key, Detached: scheduler.KeySlot(match.Key)}
	var waiting *scheduler.Baton
	st, err := store.Waiting(ctx, slot)
	switch {
	case errors.Is(err, scheduler.ErrNotFound):
	case err != nil:
		return false, err
	case st.MayFire(store.Now()):
		return false, nil
	default:
		if b, err := scheduler.DecodeBaton(st.Data); err == nil && b.BelongsTo(j) {
			waiting = &b
		}
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
	switch r.Effect {
	case scheduler.NoEffect:
		return true, nil
	case scheduler.Withdraw:
		if err := store.Cancel(ctx, slot, st.Revision); err != nil {
			return false, err
		}
		return true, m.worker.steps.Record(ctx, j, []scheduler.Record{j.WithdrawnRecord(&r.Baton, e, store.Now())}, false)
	case scheduler.Limit:
		return true, m.worker.steps.Record(ctx, j, []scheduler.Record{j.LimitRecord(e, match, store.Now())}, doubtful)
	case scheduler.Allow:
		if waiting == nil || !waiting.Cause.Holds(e) {
			if err := store.ScheduleAt(ctx, slot, r.Baton.Encode(), r.At, st.Revision); err != nil {
				return false, err
			}
		}
		return true, m.start(ctx, j, e, match, doubtful)
	case scheduler.Start, scheduler.Arm:
	}
	if err := m.store(ctx, j, slot, r, st.Revision); err != nil {
		return false, err
	}
	return !st.MayFire(store.Now()), nil // otherwise the server may have removed it with the baton that it fired
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
	err = store.FindDetached(ctx, []scheduler.Key{j.Key}, func(_ scheduler.BatonKey, st scheduler.Stored, _ bool) {
		b, err := scheduler.DecodeBaton(st.Data)
		fired = fired || err == nil && b.BelongsTo(j) && b.Cause.Holds(e)
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
	b := r.baton.Unkeyed(r.suspect)
	slot := scheduler.BatonKey{Key: r.key(), Detached: scheduler.DetachedName(b.Nominal)}
	err := w.persist(w.settles, r.key(), func(ctx context.Context) error {
		err := w.cfg.Store.Fire(ctx, slot, b.Encode(), 0)
		b.Suspect = true // the response may be lost, and the run may end before this is repeated
		return err
	})
	if err != nil && !errors.Is(err, scheduler.ErrConflict) {
		return w.nak(r)
	}
	return w.ack(r)
}

// listeners is what jobs listen to. The zero value is empty.
type listeners struct {
	mu     sync.Mutex
	known  chan struct{} // closed while all listeners are known
	chains chan struct{} // closed once a job follows another one
	by     map[string]heardBy
	topics map[scheduler.Topic][]scheduler.Key
	jobs   map[scheduler.Key][]scheduler.Key
	recent []recentEvent // events that were matched, oldest first
}

type heardBy struct {
	job   scheduler.Key
	heard scheduler.Heard
}

// reset forgets all listeners before a watch, which reports all of them.
func (l *listeners) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.init()
	l.by, l.topics, l.jobs = map[string]heardBy{}, map[scheduler.Topic][]scheduler.Key{}, map[scheduler.Key][]scheduler.Key{}
}

// init creates the channels. The caller holds the lock.
func (l *listeners) init() {
	if l.known == nil {
		l.known, l.chains = make(chan struct{}), make(chan struct{})
	}
}

// ready lets events be delivered.
func (l *listeners) ready() {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.known)
	if len(l.jobs) > 0 {
		l.chain()
	}
}

// chain lets records be delivered. The caller holds the lock.
func (l *listeners) chain() {
	select {
	case <-l.chains:
	default:
		close(l.chains)
	}
}

// lose stops deliveries until the next watch is ready.
func (l *listeners) lose() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.known, l.chains = nil, nil
	l.init()
}

// live waits until all listeners are known. It returns false if ctx is done first.
func (l *listeners) live(ctx context.Context) bool {
	return l.await(ctx, func() chan struct{} { return l.known })
}

// chained waits until a job follows another one.
func (l *listeners) chained(ctx context.Context) bool {
	return l.await(ctx, func() chan struct{} { return l.chains })
}

func (l *listeners) await(ctx context.Context, which func() chan struct{}) bool {
	l.mu.Lock()
	l.init()
	until := which()
	l.mu.Unlock()
	select {
	case <-until:
		return true
	case <-ctx.Done():
		return false
	}
}

// set replaces what a job listens to; nil data: nothing. It returns the job, and the events that were matched before it
// was known that the job listens to them.
func (l *listeners) set(name string, data []byte) (k scheduler.Key, missed []recentEvent) {
	l.mu.Lock()
	defer l.mu.Unlock()
	old := l.by[name]
	isOld := func(k scheduler.Key) bool { return k == old.job }
	for _, t := range old.heard.Topics {
		l.topics[t] = slices.DeleteFunc(slices.Clone(l.topics[t]), isOld)
	}
	for _, k := range old.heard.Jobs {
		l.jobs[k] = slices.DeleteFunc(slices.Clone(l.jobs[k]), isOld)
	}
	delete(l.by, name)
	one := heardBy{}
	if data == nil || json.Unmarshal(data, &one.heard) != nil || one.job.UnmarshalText([]byte(name)) != nil {
		return one.job, nil
	}
	l.by[name] = one
	for _, t := range one.heard.Topics {
		l.topics[t] = append(slices.Clip(l.topics[t]), one.job)
	}
	for _, k := range one.heard.Jobs {
		l.jobs[k] = append(slices.Clip(l.jobs[k]), one.job)
	}
	if len(one.heard.Jobs) > 0 {
		l.chain()
	}
	for _, e := range l.recent {
		if e.selectedBy(&one.heard) && !e.selectedBy(&old.heard) {
			missed = append(missed, e)
		}
	}
	return one.job, missed
}

func (e *recentEvent) selectedBy(h *scheduler.Heard) bool {
	return slices.Contains(h.Topics, e.topic) || slices.Contains(h.Jobs, e.upstream)
}

// of returns the jobs that may listen to an event, and remembers the event.
func (l *listeners) of(e *scheduler.Event) []scheduler.Key {
	l.mu.Lock()
	defer l.mu.Unlock()
	old := 0
	for old < len(l.recent) && (e.Time.Sub(l.recent[old].time) > recentAge || len(l.recent)-old >= recentMost) {
		old++
	}
	one := recentEvent{topic: e.Topic, sequence: e.Sequence, time: e.Time}
	if e.Upstream != nil {
		one.upstream = e.Upstream.Job
	}
	l.recent = append(l.recent[old:], one)
	if e.Upstream != nil {
		return l.jobs[e.Upstream.Job]
	}
	return l.topics[e.Topic]
}
