package control

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// TestEvent returns the effect that an event would have on a job now, and stores nothing. The body is a
// [v1.TestEventRequest].
//
// Errors: ErrInvalid with every problem of the body; ErrNotFound without the job, or the stored event; ErrConflict if
// the job has no trigger.
func (k EventKeeper) TestEvent(ctx context.Context, key scheduler.Key, body []byte) (*v1.TestedEvent, error) {
	req, err := readRequest(ctx, body, readTestEvent)
	if err != nil {
		return nil, err
	}
	j, err := k.listening(ctx, key)
	if err != nil {
		return nil, err
	}
	e, err := k.tested(ctx, j, req)
	if err != nil {
		return nil, err
	}
	release, err := takeTurn(ctx, k.shared.computing)
	if err != nil {
		return nil, err
	}
	defer release()
	v := &v1.TestedEvent{Job: key.String(), Event: e.Topic.String(), Sequence: req.Sequence, Listeners: evaluations(j, e)}
	return v, k.test(ctx, j, e, v)
}

// readTestEvent reads what [readRequest] does not.
func readTestEvent(o *document.Object, req *v1.TestEventRequest) {
	req.Attributes, _ = o.StringMap("attributes")
	req.Data, _ = o.Value("data")
	if n, ok := o.Int("sequence", 1, math.MaxInt64); ok {
		req.Sequence = uint64(n)
		for _, name := range []string{"event", "id", "attributes", "data"} {
			o.Refuse(name, "does not go with sequence: the stored event has it")
		}
	}
}

func (k EventKeeper) listening(ctx context.Context, key scheduler.Key) (*scheduler.Job, error) {
	if err := key.Validate(); err != nil {
		return nil, err
	}
	j, err := k.shared.loadSettled(ctx, key)
	if err == nil && j.Def.Trigger == nil {
		err = fmt.Errorf("job %s: %w: it has no trigger, so no event starts it", key, scheduler.ErrConflict)
	}
	return j, err
}

func (k EventKeeper) tested(ctx context.Context, j *scheduler.Job, req *v1.TestEventRequest) (*scheduler.Event, error) {
	if req.Sequence > 0 {
		return k.storedFor(ctx, j, req.Sequence)
	}
	e := &scheduler.Event{
		Topic: j.Key.Topic(req.Event), ID: req.ID, Time: k.shared.Store.Now().UTC(), Attributes: req.Attributes,
	}
	if req.Event == "" {
		heard := j.Def.Hears(j.Key).Topics()
		if len(heard) == 0 {
			return nil, scheduler.Invalid("event", "is required: the job listens to other jobs only")
		}
		e.Topic = heard[0]
	}
	if req.Data.Kind() != document.KindNull {
		e.Data = req.Data.JSON()
	}
	if err := e.Topic.Validate(); err != nil {
		return nil, scheduler.Invalid("event", scheduler.ProblemsIn(err)[0].Message)
	}
	err := k.shared.Store.RecentEvents(ctx, scheduler.Topic{}, 0, func(last *scheduler.Event) bool {
		e.Sequence = last.Sequence
		return false
	})
	e.Sequence++
	return e, err
}

// storedFor returns a stored event that a job may see, of its collection or of a topic that it listens to, and whose
// collection the caller may read.
func (k EventKeeper) storedFor(ctx context.Context, j *scheduler.Job, sequence uint64) (*scheduler.Event, error) {
	heard := j.Def.Hears(j.Key).Topics()
	e, err := k.Event(ctx, sequence, func(collection string) bool { return may(ctx, auth.Read, collection) })
	if err == nil && e.Topic.Collection != j.Key.Collection && !slices.Contains(heard, e.Topic) {
		err = fmt.Errorf("event %d: %w among the events of collection %s and of the trigger",
			sequence, scheduler.ErrNotFound, j.Key.Plain().Collection)
	}
	return e, err
}

func evaluations(j *scheduler.Job, e *scheduler.Event) []v1.TestedListener {
	in, all := e.Input(j), []v1.TestedListener{}
	for i := range j.Def.Trigger.On {
		l, v := &j.Def.Trigger.On[i], j.Evaluate(i, e, in)
		one := v1.TestedListener{Listener: l.Describe(), Selects: v.Selects, Key: v.Key}
		one.Accepts = v.Selects && v.Filter && v.Err == nil
		if l.Filter != nil {
			one.Filter = l.Filter.String()
			if v.Selects {
				one.Fields = l.Filter.Explain(in)
			}
		}
		if v.Err != nil {
			one.Error = v.Err.Error()
		}
		all = append(all, one)
	}
	return all
}

// The words for verdicts and effects.
var (
	verdicts = map[scheduler.MatchVerdict]string{
		scheduler.Ignores: "ignores", scheduler.Matches: "matches", scheduler.Cancels: "cancels", scheduler.Refuses: "refuses",
	}
	effects = map[scheduler.Effect]string{
		scheduler.NoEffect: "none", scheduler.Start: "starts", scheduler.Arm: "waits", scheduler.Allow: "starts",
		scheduler.Limit: "skipped", scheduler.Withdraw: "cancels", scheduler.Flush: "starts", scheduler.Canceled: "skipped",
	}
)

// test adds the verdict of a job on an event, and its effect.
func (k EventKeeper) test(ctx context.Context, j *scheduler.Job, e *scheduler.Event, v *v1.TestedEvent) error {
	m := j.Match(e)
	v.Verdict, v.Key, v.Message, v.Effect = verdicts[m.Verdict], m.Key, m.Why, "none"
	switch m.Verdict {
	case scheduler.Ignores:
		return nil
	case scheduler.Refuses:
		v.Effect, v.Message = "skipped", "the run is skipped: "+m.Why
		return nil
	case scheduler.Matches, scheduler.Cancels:
	}
	waiting, err := k.waiting(ctx, j, m)
	if err != nil {
		return err
	}
	if waiting != nil {
		v.Waiting = &v1.WaitingEvents{Due: waiting.Due, Events: waiting.Cause.Count, Counts: waiting.Spent}
	}
	now := k.shared.Store.Now()
	r, err := j.React(e, m, waiting, now)
	if err != nil {
		return err
	}
	v.Effect, v.Message = effects[r.Effect], j.Describe(&r, e, m, waiting)
	switch {
	case r.Effect == scheduler.Arm && r.Baton.Spent: // it only notes the cancellation
		v.Effect = "none"
	case r.Effect == scheduler.Start, r.Effect == scheduler.Arm, r.Effect == scheduler.Flush:
		v.Due, v.Events = r.Baton.Due, r.Baton.Cause.Count
	case r.Effect == scheduler.Allow:
		v.Due, v.Events = r.Due, 1
	}
	switch closed := k.shared.closed(ctx, j.Key.Collection); {
	case v.Due.IsZero():
	case closed != "":
		v.Note = "the run is skipped: the collection " + closed
	case j.PausedAt(v.Due):
		v.Note = "the run is skipped: the job is paused until " + j.PausedUntil.UTC().Format(time.RFC3339)
	case j.Def.Trigger.Concurrency > 0:
		v.Note, err = k.overlap(ctx, j, m.Key, now)
	}
	return err
}

// overlap describes the other runs of a key, "" if it has none.
func (k EventKeeper) overlap(ctx context.Context, j *scheduler.Job, key string, now time.Time) (string, error) {
	st, err := k.shared.Store.Waiting(ctx, scheduler.BatonKey{Key: j.Key, Detached: scheduler.LedgerSlot(key)})
	if errors.Is(err, scheduler.ErrNotFound) {
		return "", nil
	}
	l := j.OpenLedger(st.Data, now)
	return "overlap " + string(j.Def.Trigger.Overlap) + " applies now: " + l.Describe(key), err
}

// waiting returns the baton that waits for the key of a match, nil for none.
func (k EventKeeper) waiting(ctx context.Context, j *scheduler.Job, m scheduler.Match) (*scheduler.Baton, error) {
	if !j.Keyed() {
		return nil, nil //nolint:nilnil // events of a key do not share a run
	}
	_, b, err := k.shared.steps.Waiting(ctx, scheduler.BatonKey{Key: j.Key, Detached: j.Slot(m)})
	if b != nil && b.BelongsTo(j) && b.Cause != nil {
		return b, nil
	}
	return nil, err // an event replaces the baton of a deleted job, and a damaged one
}
