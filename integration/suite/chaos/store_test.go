package chaos

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
)

// The streams of the system under test.
const (
	timersStream  = "CARILLON_TIMERS_0"
	historyStream = "CARILLON_HISTORY"
	specsStream   = "CARILLON_SPECS"
	eventsStream  = "CARILLON_EVENTS"
	jobsStream    = "KV_carillon-jobs"
)

// ledger is a copy of the history, by job, that follows it.
type ledger struct {
	mu        sync.Mutex
	records   map[string][]scheduler.Record // by collection/job, in order
	completed map[string]int                // by occurrence
	n         int
}

// follow reads the history from its beginning until the test ends.
func follow(ctx context.Context, t *testing.T, js jetstream.JetStream) *ledger {
	t.Helper()
	l := &ledger{records: map[string][]scheduler.Record{}, completed: map[string]int{}}
	var c jetstream.Consumer
	await(ctx, t, "the history is told", patience, func() (told bool) {
		var err error
		c, err = js.OrderedConsumer(ctx, historyStream, jetstream.OrderedConsumerConfig{})
		return err == nil
	})
	consuming := must.Get(c.Consume(func(m jetstream.Msg) {
		if err := l.take(m); err != nil {
			t.Errorf("history: %v", err)
		}
	}))(t)
	t.Cleanup(consuming.Stop)
	return l
}

func (l *ledger) take(m jetstream.Msg) error {
	r, err := scheduler.DecodeRecord(m.Data())
	if err != nil {
		return err
	}
	parts := strings.Split(m.Subject(), ".") // carillon.history.<collection>.<job>.<outcome>
	if len(parts) != 5 {
		return fmt.Errorf("unexpected subject %s", m.Subject())
	}
	r.Job = scheduler.Key{Collection: parts[2], Job: parts[3]}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.records[r.Job.String()] = append(l.records[r.Job.String()], *r)
	if r.Outcome == scheduler.OutcomeCompleted {
		l.completed[r.Occurrence]++
	}
	l.n++
	return nil
}

// of returns the records of a job so far.
func (l *ledger) of(job string) []scheduler.Record {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]scheduler.Record{}, l.records[job]...)
}

// len returns how many records there are.
func (l *ledger) len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.n
}

// has reports whether an occurrence has a completed attempt.
func (l *ledger) has(occurrence string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.completed[occurrence] > 0
}

// place is how many batons a job has waiting and running.
type place struct{ waiting, running uint64 }

// batons counts the batons of every job, those of one-offs beside their jobs apart: they are in strays.
func batons(ctx context.Context, js jetstream.JetStream) (places map[string]place, strays []string, err error) {
	st, err := js.Stream(ctx, timersStream)
	if err != nil {
		return nil, nil, err
	}
	info, err := st.Info(ctx, jetstream.WithSubjectFilter(">"))
	if err != nil {
		return nil, nil, err
	}
	places = map[string]place{}
	for subject, n := range info.State.Subjects {
		parts := strings.Split(subject, ".") // carillon.<timer|fire>.<lane>.<collection>.<job>
		if len(parts) != 5 {
			strays = append(strays, subject)
			continue
		}
		name := parts[3] + "/" + parts[4]
		p := places[name]
		if parts[1] == "timer" {
			p.waiting += n
		} else {
			p.running += n
		}
		places[name] = p
	}
	return places, strays, nil
}

// messages returns how many messages a stream holds, 0 when it cannot be read.
func messages(ctx context.Context, js jetstream.JetStream, stream string) int {
	st, err := js.Stream(ctx, stream)
	if err != nil {
		return 0
	}
	return int(st.CachedInfo().State.Msgs)
}

// occurrences returns how many occurrences have a completed attempt.
func (l *ledger) occurrences() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.completed)
}
