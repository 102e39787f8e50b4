package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/integration/testkit/freeport"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// How many processes a spec ends before it is set aside: one beside others, two alone.
const deaths = 3

// TestDeadlySpec publishes specs among which is one that ends every process that carries it out: the process is killed by
// kill -9 the moment it touches that spec's job. After three deaths the spec is rejected with the reason, all others are
// accepted, and processes live on.
func TestDeadlySpec(t *testing.T) {
	t.Parallel()
	ctx := limited(t)
	target := newSink(t, nil)
	server := natsd(ctx, t, t.TempDir(), freeport.Address(t)).ready(ctx, t).NATS
	w := newWire(ctx, t, server, "$KV.carillon-jobs.default.evil")
	js := jet(t, server)
	first := serve(ctx, t, w.url, "only")
	first.ready(ctx, t)
	results := followResults(ctx, t, js)
	first.kill() // so that all specs are there at once

	body := newJob(target.url, time.Now().Add(time.Hour)).document()
	innocent := publishSome(ctx, t, js, "before", 50, body)
	publishSpec(ctx, t, js, "evil", body)
	innocent = append(innocent, publishSome(ctx, t, js, "behind", 50, body)...)
	died := 0
	var last *process
	for done := false; !done; {
		last = serve(ctx, t, w.url, "only")
		w.victim.Store(last)
		await(ctx, t, "an end of the deadly spec or of the process", patience, func() bool {
			done = len(results.of("evil")) > 0
			return done || !last.running()
		})
		if !done {
			died++
			innocent = append(innocent, publishSome(ctx, t, js, fmt.Sprintf("after-%d", died), 5, body)...)
		}
		if died > deaths {
			t.Fatalf("%d processes died of one spec, want %d", died, deaths)
		}
	}
	if died != deaths {
		t.Errorf("%d processes died of the deadly spec, want %d", died, deaths)
	}
	if r := results.of("evil"); len(r) != 1 || r[0].Verdict != "rejected" || !strings.Contains(r[0].Error.Message, "set aside: two processes ended") {
		t.Errorf("the deadly spec ended with %+v", r)
	}
	results.expectAccepted(ctx, t, innocent)
	await(ctx, t, "no spec is left", patience, func() bool { return messages(ctx, js, specsStream) == 0 })
	if !last.running() {
		t.Error("the last process ended")
	}
	t.Logf("%d processes died; %d innocent specs accepted", died, len(innocent))
	healthy(ctx, t, newAPI(t, last.ready(ctx, t).HTTP), len(innocent))
}

// TestSpecsAcrossKills kills the process that takes in specs again and again, at moments that have nothing to do with what
// it does, the first of them while it takes in a crowd. No spec is lost or rejected.
func TestSpecsAcrossKills(t *testing.T) {
	t.Parallel()
	ctx := limited(t)
	rng := chance(t)
	target := newSink(t, nil)
	url := natsd(ctx, t, t.TempDir(), freeport.Address(t)).ready(ctx, t).NATS
	js := jet(t, url)
	p := serve(ctx, t, url, "only")
	p.ready(ctx, t)
	results := followResults(ctx, t, js)
	body := newJob(target.url, time.Now().Add(time.Hour)).document()
	var names []string
	for i := range size(8, 4) {
		names = append(names, publishSome(ctx, t, js, fmt.Sprintf("round-%d", i), 100, body)...)
		p.ready(ctx, t)
		pause(ctx, life(rng, i))
		p.kill()
		p = serve(ctx, t, url, "only")
	}
	results.expectAccepted(ctx, t, names)
	await(ctx, t, "no spec is left", patience, func() bool { return messages(ctx, js, specsStream) == 0 })
	healthy(ctx, t, newAPI(t, p.ready(ctx, t).HTTP), len(names))
}

// life is how long a process lives after it is ready: every other one hardly, the others past the time after which the
// server gives out again what a dead one held, so that what is taken in alone is hit as well.
func life(rng *rand.Rand, i int) time.Duration {
	if i%2 == 0 {
		return time.Duration(rng.Int64N(int64(200 * time.Millisecond)))
	}
	return 9*time.Second + time.Duration(rng.Int64N(int64(3*time.Second)))
}

// healthy checks that a process has that many jobs and that its doctor finds nothing.
func healthy(ctx context.Context, t *testing.T, a *api, jobs int) {
	t.Helper()
	report := must.Get(a.doctor(ctx))(t)
	if report.Jobs != jobs || report.Waiting+report.Running != jobs || len(report.Findings) > 0 {
		t.Errorf("doctor: %d jobs, %d batons, findings %v; want %d jobs", report.Jobs, report.Waiting+report.Running, report.Findings, jobs)
	}
}

func publishSpec(ctx context.Context, t *testing.T, js jetstream.JetStream, name string, body []byte) {
	t.Helper()
	must.Get(js.PublishMsg(ctx, &nats.Msg{Subject: "carillon.spec.put.default." + name, Data: body}))(t)
}

// publishSome publishes n specs and returns the names of their jobs.
func publishSome(ctx context.Context, t *testing.T, js jetstream.JetStream, prefix string, n int, body []byte) (names []string) {
	t.Helper()
	for i := range n {
		name := fmt.Sprintf("%s-%d", prefix, i)
		publishSpec(ctx, t, js, name, body)
		names = append(names, name)
	}
	return names
}

// outcome is what became of a spec.
type outcome struct {
	Verdict string `json:"verdict"`
	Error   struct {
		Message string `json:"message"`
	} `json:"error"`
}

// outcomes are what became of specs, by the name of the job.
type outcomes struct {
	mu  sync.Mutex
	all map[string][]outcome
}

// followResults notes the results of specs until the test ends.
func followResults(ctx context.Context, t *testing.T, js jetstream.JetStream) *outcomes {
	t.Helper()
	v := &outcomes{all: map[string][]outcome{}}
	stream := must.Get(js.StreamNameBySubject(ctx, "carillon.spec-result.accepted.default.x"))(t)
	c := must.Get(js.OrderedConsumer(ctx, stream, jetstream.OrderedConsumerConfig{FilterSubjects: []string{"carillon.spec-result.>"}}))(t)
	consuming := must.Get(c.Consume(func(m jetstream.Msg) {
		var r outcome
		if err := json.Unmarshal(m.Data(), &r); err != nil {
			t.Errorf("%s: %v", m.Subject(), err)
		}
		v.mu.Lock()
		defer v.mu.Unlock()
		name := m.Subject()[strings.LastIndexByte(m.Subject(), '.')+1:]
		v.all[name] = append(v.all[name], r)
	}))(t)
	t.Cleanup(consuming.Stop)
	return v
}

// of returns what became of a job's spec so far. There is more than one when a process died after it had told it.
func (v *outcomes) of(name string) []outcome {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.all[name]
}

// expectAccepted waits until every job's spec has a result, and checks that none was rejected.
func (v *outcomes) expectAccepted(ctx context.Context, t *testing.T, names []string) {
	t.Helper()
	for _, name := range names {
		await(ctx, t, "a result for "+name, patience, func() bool { return len(v.of(name)) > 0 })
	}
	for _, name := range names {
		for _, r := range v.of(name) {
			if r.Verdict != "accepted" {
				t.Errorf("%s: %s: %s", name, r.Verdict, r.Error.Message)
			}
		}
	}
}

// wire is the way from processes to a NATS server. It kills the process on it that says a certain word, before the server
// hears it.
type wire struct {
	url    string
	word   []byte
	victim atomic.Pointer[process]
}

// newWire opens a way to a server until the test ends.
func newWire(ctx context.Context, t *testing.T, server, word string) *wire {
	t.Helper()
	u := must.Get(url.Parse(server))(t)
	l := must.Get(new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0"))(t)
	w := &wire{url: "nats://" + l.Addr().String(), word: []byte(word)}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := new(net.Dialer).DialContext(ctx, "tcp", u.Host)
			if err != nil {
				_ = near.Close()
				continue
			}
			go func() { _, _ = io.Copy(near, far); _ = near.Close() }()
			go func() { w.carry(far, near); _ = far.Close() }()
		}
	}()
	return w
}

// carry copies what a process says to the server.
func (w *wire) carry(far io.Writer, near io.Reader) {
	var said []byte // the end of it, should the word come in two parts
	part := make([]byte, 64<<10)
	for {
		n, err := near.Read(part)
		said = append(said, part[:n]...)
		if bytes.Contains(said, w.word) {
			w.victim.Load().kill()
			return
		}
		said = said[max(0, len(said)-len(w.word)):]
		if _, lost := far.Write(part[:n]); err != nil || lost != nil {
			return
		}
	}
}
