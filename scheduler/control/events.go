package control

import (
	"context"
	"errors"
	"fmt"
	"maps"
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

// Events returns a page of events, newest first. next is the sequence before which the next page starts, 0 if there is
// none. A page ends early, and may be empty, after many events that the caller may not see.
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
		case !q.Sees(e.Topic.Collection):
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
