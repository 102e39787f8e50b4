package control

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
)

// EventKeeper publishes events, and reads the stored ones.
type EventKeeper struct{ shared *shared }

// messageID is the header by which JetStream recognizes duplicates.
const messageID = "Nats-Msg-Id"

// PublishEvent stores an event, which starts the jobs that listen to it. It checks the event as the schedulers read it:
// its size, and the attributes that a CloudEvent requires. The ID in the header Nats-Msg-Id becomes one of the topic: the
// stream would recognize an ID of another collection as a duplicate.
func (k EventKeeper) PublishEvent(
	ctx context.Context, t scheduler.Topic, header map[string][]string, body []byte,
) (*v1.PublishedEvent, error) {
	if err := t.Validate(); err != nil {
		return nil, err
	}
	header = maps.Clone(header)
	if id := header[messageID]; len(id) > 0 && id[0] != "" {
		header[messageID] = []string{t.MessageID(id[0])}
	}
	if _, err := scheduler.NewEvent(t, header, body); err != nil {
		return nil, err
	}
	if err := k.shared.exists(ctx, t.Collection); err != nil {
		return nil, err
	}
	sequence, duplicate, err := k.shared.Store.PublishEvent(ctx, t, header, body)
	if err != nil {
		return nil, fmt.Errorf("event %s: %w", t, err)
	}
	return &v1.PublishedEvent{Collection: t.Collection, Name: t.Name, Sequence: sequence, Duplicate: duplicate}, nil
}

// Event returns the event with a sequence. An event of a collection that the caller may not see counts as missing.
func (k EventKeeper) Event(ctx context.Context, sequence uint64, sees func(collection string) bool) (*scheduler.Event, error) {
	var e *scheduler.Event
	err := scheduler.ErrNotFound // the first sequence is 1
	if sequence > 0 {
		e, err = k.shared.Store.EventAt(ctx, sequence)
	}
	switch {
	case errors.Is(err, scheduler.ErrInvalid):
		return nil, fmt.Errorf("event %d: it starts no job: %w", sequence, err)
	case err == nil && !sees(e.Topic.Collection):
		err = scheduler.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("event %d: %w", sequence, err)
	}
	return e, nil
}

// EventQuery selects events.
type EventQuery struct {
	Topic scheduler.Topic              // an empty name: any
	Since time.Time                    // inclusive
	Text  string                       // in the ID, the attributes or the body
	Sees  func(collection string) bool // visible collections
}

// check checks the names, and that the collection exists.
func (k EventKeeper) check(ctx context.Context, q *EventQuery) error {
	var name error
	if q.Topic.Name != "" {
		name = scheduler.ValidateName("name", q.Topic.Name)
	}
	err := errors.Join(checkScope(scheduler.Key{Collection: q.Topic.Collection}), name)
	if err != nil || q.Topic.Collection == "" {
		return err
	}
	return k.shared.exists(ctx, q.Topic.Collection)
}

// has reports whether an event has the text of the query.
func (q *EventQuery) has(e *scheduler.Event) bool {
	return strings.Contains(fmt.Sprintln(e.ID, e.Attributes)+string(e.Data), q.Text)
}

// Events returns a page of events, newest first. next is the sequence before which the next page starts, 0 if there is
// none. A page ends early, and may be empty, after many events that do not match.
func (k EventKeeper) Events(ctx context.Context, q EventQuery, p v1.Page) (events []*scheduler.Event, next uint64, err error) {
	if err := errors.Join(k.check(ctx, &q), p.Validate()); err != nil {
		return nil, 0, err
	}
	release, err := takeTurn(ctx, k.shared.searching)
	if err != nil {
		return nil, 0, err
	}
	defer release()
	seen, skip := 0, p.Skip
	err = k.shared.Store.RecentEvents(ctx, q.Topic, p.Before, func(e *scheduler.Event) bool {
		seen++
		switch {
		case e.Time.Before(q.Since):
			return false
		case seen > historyReach:
			next = e.Sequence + 1
			return false
		case !q.Sees(e.Topic.Collection), !q.has(e):
		case skip > 0:
			skip--
		case len(events) == p.Size():
			next = events[len(events)-1].Sequence
			return false
		default:
			events = append(events, e)
		}
		return true
	})
	return events, next, err
}

// AffectedJob is a job that listens to an event.
type AffectedJob struct {
	Key    scheduler.Key
	Record *scheduler.Record // of the run with the event, or of the skipped run; nil: none is known
	Test   *v1.TestedEvent   // the effect that the event would have now; nil with a record
}

// affectedMost limits the affected jobs.
const affectedMost = 20

// Affected returns the visible jobs that listen to a stored event. It examines as many records of a job as
// [Reader.Why] does. more reports that further jobs listen to it.
func (k EventKeeper) Affected(
	ctx context.Context, e *scheduler.Event, sees func(collection string) bool,
) (all []AffectedJob, more bool, err error) {
	release, err := takeTurn(ctx, k.shared.searching)
	if err != nil {
		return nil, false, err
	}
	defer release()
	var keys []scheduler.Key
	err = k.shared.eachHeard(ctx, func(key scheduler.Key, heard scheduler.Heard) {
		if sees(key.Collection) && slices.Contains(heard.Topics(), e.Topic) {
			keys = append(keys, key)
		}
	})
	slices.SortFunc(keys, func(a, b scheduler.Key) int { return cmp.Compare(a.String(), b.String()) })
	keys = slices.Compact(keys)
	for _, key := range keys[:min(len(keys), affectedMost)] {
		one, err := k.affected(ctx, e, key)
		_, damaged := errors.AsType[*scheduler.DamagedError](err)
		switch {
		case err == nil:
			all = append(all, one)
		case !damaged && !errors.Is(err, scheduler.ErrNotFound) && !errors.Is(err, scheduler.ErrConflict):
			return nil, false, err
		}
	}
	return all, len(keys) > affectedMost, err
}

func (k EventKeeper) affected(ctx context.Context, e *scheduler.Event, key scheduler.Key) (one AffectedJob, err error) {
	one.Key = key
	seen := 0
	err = k.shared.Store.RecordsSince(ctx, key, e.Time.Add(-clockSkew), func(rec *scheduler.Record) bool {
		seen++
		if !rec.Cause.Holds(e) {
			return seen < whyReach
		}
		one.Record = rec
		return seen < whyReach && (rec.Outcome == scheduler.OutcomeFailed || rec.Outcome == scheduler.OutcomePostponed)
	})
	if one.Record == nil && err == nil {
		one.Test, err = k.TestEvent(ctx, key, fmt.Appendf(nil, `{"sequence": %d}`, e.Sequence))
	}
	return one, err
}
