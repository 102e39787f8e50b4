package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/integration/testkit/freeport"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
)

// The load of [TestEvents].
const (
	chainSteps      = 20
	eventKeys       = 40 // of debounced events
	eventsPerSecond = 300
	publishers      = 16
)

// eventKinds are the names of the published events, with the number of each among twenty.
var eventKinds = []struct {
	name  string
	share int
}{{"each", 10}, {"debounce", 5}, {"batch", 4}, {"chain", 1}}

// eventTriggers are the triggers of the jobs, by name: those of step i are started by step i-1.
func eventTriggers() map[string]string {
	triggers := map[string]string{
		"each":     `{"on": {"source": "each"}}`,
		"debounce": `{"on": {"source": "debounce", "key": "event.data.key"}, "debounce": {"period": "PT1S", "max": "PT5S"}}`,
		"batch":    `{"on": {"source": "batch"}, "batch": {"size": 10, "wait": "PT2S"}}`,
		step(0):    `{"on": {"source": "chain"}}`,
	}
	for i := 1; i < chainSteps; i++ {
		triggers[step(i)] = fmt.Sprintf(`{"on": {"job": %q}}`, step(i-1))
	}
	return triggers
}

func step(i int) string { return fmt.Sprint("step-", i) }

// TestEvents kills two schedulers and their NATS server in turn while events start jobs: one by one, debounced, in batches and
// as the first step of a chain. Every event is in exactly one occurrence of its job, every occurrence of a step starts exactly
// one of the next, and the calls are those of the occurrences.
func TestEvents(t *testing.T) {
	t.Parallel()
	ctx := limited(t)
	rng := chance(t)
	target := newSink(t, nil)
	p := &eventful{t: t, dir: t.TempDir(), addr: freeport.Address(t)}
	p.server = natsd(ctx, t, p.dir, p.addr)
	p.js = jet(t, p.server.ready(ctx, t).NATS)
	for i := range p.crew {
		p.begin(ctx, i)
	}
	a := newAPI(t, p.crew[0].ready(ctx, t).HTTP)
	jobs := map[string]job{}
	for name, trigger := range eventTriggers() {
		j := newJob(target.url, time.Time{})
		j.StartTime, j.Trigger = nil, json.RawMessage(trigger)
		jobs[name] = j
	}
	a.putAll(ctx, t, jobs)

	n, kills := size(20_000, 2_000), size(18, 4)
	published := p.publish(ctx, n)
	p.kill(ctx, rng, kills, time.Duration(n)*time.Second/eventsPerSecond)
	<-published
	healed := time.Now()
	records := follow(ctx, t, p.js)
	want := map[string]int{} // events by job
	for i := range n {
		want[eventKind(i)]++
	}
	for i := range chainSteps {
		want[step(i)] = want["chain"]
	}
	delete(want, "chain")
	if !within(ctx, patience, func() bool { return records.holds(want) }) {
		t.Error("some events have no completed run")
	}
	t.Logf("%d events, %d kills; all runs were completed %s after the last start", n, kills, time.Since(healed).Round(time.Millisecond))
	pause(ctx, calm) // in which a doubled effect would come
	p.check(records, want, target.seen())
	report := must.Get(newAPI(t, p.crew[0].ready(ctx, t).HTTP).doctor(ctx))(t)
	for _, f := range report.Findings {
		t.Errorf("doctor: %s: %s", f.Name, f.Problem)
	}
}

// eventful is the system of TestEvents.
type eventful struct {
	t      *testing.T
	dir    string
	addr   string
	server *process
	crew   [2]*process
	js     jetstream.JetStream
}

// begin starts a scheduler.
func (p *eventful) begin(ctx context.Context, i int) {
	p.crew[i] = serve(ctx, p.t, "nats://"+p.addr, fmt.Sprint("crew-", i))
}

// eventKind returns the name of the i-th event.
func eventKind(i int) string {
	place := i % 20
	for _, k := range eventKinds {
		if place -= k.share; place < 0 {
			return k.name
		}
	}
	return ""
}

// publish publishes n events, each until it is acknowledged. The channel is closed when all are.
func (p *eventful) publish(ctx context.Context, n int) <-chan struct{} {
	done, next := make(chan struct{}), make(chan int)
	began := time.Now()
	go func() {
		defer close(next)
		for i := range n {
			pause(ctx, time.Until(began.Add(time.Second*time.Duration(i)/eventsPerSecond)))
			next <- i
		}
	}()
	all := make(chan struct{})
	for range publishers {
		go func() {
			for i := range next {
				p.publishOne(ctx, i)
			}
			all <- struct{}{}
		}()
	}
	go func() {
		for range publishers {
			<-all
		}
		close(done)
	}()
	return done
}

func (p *eventful) publishOne(ctx context.Context, i int) {
	m := nats.NewMsg("carillon.event.default." + eventKind(i))
	m.Header.Set(nats.MsgIdHdr, fmt.Sprint("event-", i))
	m.Data = fmt.Appendf(nil, `{"key": %d}`, i%eventKeys)
	if !within(ctx, patience, func() bool {
		soon, cancel := context.WithTimeout(ctx, 2*time.Second)
		defer cancel()
		_, err := p.js.PublishMsg(soon, m)
		return err == nil
	}) {
		p.t.Errorf("event %d is not stored", i)
	}
}

// kill kills a scheduler, the server and the other scheduler in turn, at random moments within about d. Each starts again.
func (p *eventful) kill(ctx context.Context, rng *rand.Rand, kills int, d time.Duration) {
	p.t.Helper()
	for i := range kills {
		pause(ctx, time.Duration(rng.Int64N(2*int64(d)/int64(kills))))
		switch i % 3 {
		case 1:
			p.server.kill()
			p.server = natsd(ctx, p.t, p.dir, p.addr)
			p.server.ready(ctx, p.t)
		default:
			at := i % 3 / 2
			p.crew[at].kill()
			p.begin(ctx, at)
		}
	}
	for _, scheduler := range p.crew {
		scheduler.ready(ctx, p.t)
	}
}

// check compares the completed runs with the events, and the calls with the runs.
func (p *eventful) check(records *ledger, want map[string]int, calls []call) {
	p.t.Helper()
	runs := map[string]bool{}
	for name, n := range want {
		of := map[string]string{} // occurrence by event
		for _, r := range records.of("default/" + name) {
			if r.Outcome != scheduler.OutcomeCompleted {
				p.t.Errorf("%s: %s %s: %s", name, r.Occurrence, r.Outcome, r.Short())
			}
			runs[r.Occurrence] = true
			for _, id := range causes(r) {
				if other, ok := of[id]; ok && other != r.Occurrence {
					p.t.Errorf("%s: event %s is in %s and %s", name, id, other, r.Occurrence)
				}
				of[id] = r.Occurrence
			}
		}
		if len(of) != n {
			p.t.Errorf("%s: %d events in runs, want %d", name, len(of), n)
		}
	}
	distinct := map[string]bool{}
	for _, c := range calls {
		if distinct[c.id.key] = true; !runs[c.id.key] {
			p.t.Errorf("%s was called, but has no record", c.id)
		}
	}
	for id := range runs {
		if !distinct[id] {
			p.t.Errorf("%s is recorded, but was not called", id)
		}
	}
	p.t.Logf("%d runs, %d calls repeated", len(runs), len(calls)-len(distinct))
}

// causes identifies the events of a run: by their sequences, or by the occurrence that ended.
func causes(r scheduler.Record) (ids []string) {
	if r.Cause == nil {
		return nil
	}
	if r.Cause.Upstream != "" {
		return []string{r.Cause.Upstream}
	}
	_, _ = r.Cause.Each(func(sequence uint64, _ bool) error {
		ids = append(ids, strconv.FormatUint(sequence, 10))
		return nil
	})
	return ids
}

// holds reports whether each job has completed runs of as many events.
func (l *ledger) holds(want map[string]int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for name, n := range want {
		seen := map[string]bool{}
		for _, r := range l.records["default/"+name] {
			for _, id := range causes(r) {
				seen[id] = true
			}
		}
		if len(seen) < n {
			return false
		}
	}
	return true
}
