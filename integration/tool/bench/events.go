package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/scheduler"
)

// eventPause is the length of a group of events that are published together.
const eventPause = 2 * time.Millisecond

// streamEvents is the stream of all events.
const streamEvents = "CARILLON_EVENTS"

// events is the scenario of jobs that events start.
func events(ctx context.Context, s *stage) (figures, error) {
	if _, err := s.startWorker(ctx); err != nil {
		return nil, err
	}
	_, err := s.putEach(ctx, max(s.n, s.listeners), func(ctx context.Context, i int) error {
		return s.putJob(ctx, eventJob(i), s.listener(i))
	})
	if err != nil {
		return nil, err
	}
	before, err := s.readUsage(ctx)
	if err != nil {
		return nil, err
	}
	published, err := s.publishEvents(ctx)
	if err != nil {
		return nil, err
	}
	runs := 0
	for n := range published {
		runs += len(s.matching(n))
	}
	_, err = poll(ctx, look, time.Now().Add(patience), func() (bool, error) {
		arrived, err := s.target.read()
		return arrived >= runs, err
	})
	if err != nil {
		return nil, err
	}
	used, err := s.usageSince(ctx, before, published, "event")
	if err != nil {
		return nil, err
	}
	due, err := s.dueRuns(ctx, published)
	if err != nil {
		return nil, err
	}
	made := s.target.account(maps.All(due), func(key string) (time.Time, bool) {
		at, ok := due[key]
		return at, ok
	})
	return merge(figures{"events": float64(published), "occurrences": float64(runs)}, made.figures(), used), nil
}

func eventJob(i int) string { return fmt.Sprint("job-", i) }

func (s *stage) listener(i int) []byte {
	on := `"source":"orders"`
	if s.apart && i >= s.n {
		on = fmt.Sprintf(`"source":"orders-%d"`, i)
	}
	if s.listeners > 0 {
		on += fmt.Sprintf(`,"filter":"event.data.job == %d"`, i)
	}
	name := eventJob(i)
	return fmt.Appendf(nil, `{"trigger":{"on":{%s}},"action":{"type":"http","request":{"uri":%q,"method":"POST","body":%q}}}`,
		on, s.target.url+name, jobBody(name))
}

// matching returns the jobs that the n-th event starts.
func (s *stage) matching(n int) (jobs []int) {
	switch {
	case s.listeners == 0:
		for i := range s.n {
			jobs = append(jobs, i)
		}
	case n%s.each == 0:
		jobs = []int{n / s.each % s.n}
	}
	return jobs
}

// benchEvent is the body of an event.
type benchEvent struct {
	N   int   `json:"n"`
	Job int   `json:"job"` // that it starts; -1: none
	At  int64 `json:"at"`  // when it was published, in nanoseconds
}

// publishEvents publishes -rate events a second for -seconds, and returns their number.
func (s *stage) publishEvents(ctx context.Context) (published int, err error) {
	began := time.Now()
	for most := int(s.seconds * float64(s.rate)); published < most; {
		due := min(most, int(time.Since(began).Seconds()*float64(s.rate)))
		for ; published < due; published++ {
			e := benchEvent{published, -1, time.Now().UnixNano()}
			if jobs := s.matching(published); s.listeners > 0 && len(jobs) > 0 {
				e.Job = jobs[0]
			}
			body, _ := json.Marshal(e) //nolint:errchkjson // plain fields
			if _, err := s.js.PublishAsync("carillon.event.default.orders", body); err != nil {
				return published, err
			}
		}
		if err := sleep(ctx, time.Now().Add(eventPause)); err != nil {
			return published, err
		}
	}
	return published, s.stored(ctx)
}

// dueRuns reads the stored events, and returns when each run's event was published, by the key of its call. The key has
// the time when the event was stored, with its sequence in the nanoseconds.
func (s *stage) dueRuns(ctx context.Context, published int) (map[string]time.Time, error) {
	due := map[string]time.Time{}
	c, err := s.js.OrderedConsumer(ctx, streamEvents, jetstream.OrderedConsumerConfig{})
	if err != nil {
		return nil, err
	}
	messages, err := c.Messages()
	if err != nil {
		return nil, err
	}
	defer messages.Stop()
	for range published {
		m, err := messages.Next(jetstream.NextMaxWait(patience))
		if err != nil {
			return nil, err
		}
		var e benchEvent
		stored, err := m.Metadata()
		if err == nil {
			err = json.Unmarshal(m.Data(), &e)
		}
		if err != nil {
			return nil, err
		}
		at := stored.Timestamp.UTC().Truncate(time.Microsecond).Add(time.Duration(stored.Sequence.Stream % 1000))
		for _, i := range s.matching(e.N) {
			due[scheduler.OccurrenceID(scheduler.Key{Collection: scheduler.DefaultCollection, Job: eventJob(i)}, at)] = time.Unix(0, e.At)
		}
	}
	return due, nil
}
