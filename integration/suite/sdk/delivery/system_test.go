package delivery

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"go.uber.org/goleak"

	"github.com/carillon-sched/carillon/actions/builtin"
	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/cmd/carillon/node"
	"github.com/carillon-sched/carillon/integration/emulator/emulatortest"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus"
	"github.com/carillon-sched/carillon/integration/emulator/storagequeue"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/secrets/seal"
	"github.com/carillon-sched/carillon/store/embedded"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if testing.Short() {
		fmt.Println("skipped by -short: run go test ./integration/suite/sdk/delivery")
		return
	}
	// A server that was stopped may wait a little longer for the answer of a stream that it sources.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/nats-io/nats-server/v2/server.(*stream).trySetupSourceConsumer.func3"))
}

// patience bounds every wait.
const patience = time.Minute

// system is a NATS server, a scheduler, emulators and an HTTP target.
type system struct {
	t      *testing.T
	server *embedded.Server
	nc     *nats.Conn
	bus    *servicebus.Server
	queues *storagequeue.Server
	target *target
	config node.Config
	halt   func() // asks the scheduler to stop
	stop   func() // and waits until it has
	alarms *nats.Subscription

	mu      sync.Mutex
	records map[string][]*scheduler.Record // by job
	news    chan struct{}                  // closed and replaced at each record
}

func newSystem(t *testing.T, change ...func(*node.Config)) *system {
	t.Helper()
	s := &system{t: t, bus: lenientBus(t), queues: lenientQueues(t), target: newTarget(t), records: map[string][]*scheduler.Record{}, news: make(chan struct{})}
	s.server = must.Get(embedded.Start(t.Context(), embedded.Config{Dir: t.TempDir()}))(t)
	t.Cleanup(s.server.Close)
	s.nc = s.connect()
	key := must.Get(seal.NewKey("test"))(t)
	s.config = node.Config{
		Keys:   seal.NewKeyring(key),
		Limits: scheduler.Limits{MinRetryInterval: time.Millisecond},
		Delivery: builtin.Config{
			ServiceBus:    egress.Endpoints{Default: "amqp://" + s.bus.Addr()},
			StorageQueues: egress.Endpoints{Default: s.queues.URL() + "/{name}"},
			AnyKey:        true,
		},
		Logger: slog.New(slog.NewTextHandler(testLog{t}, &slog.HandlerOptions{Level: slog.LevelWarn})),
	}
	for _, f := range change {
		f(&s.config)
	}
	must.Get(s.nc.Subscribe("carillon.history.>", s.note))(t)
	s.start()
	return s
}

// lenientBus and lenientQueues are emulators as carillon dev runs them: for any name, with any key.
func lenientBus(t *testing.T) *servicebus.Server {
	t.Helper()
	return emulatortest.ServiceBus(t, servicebus.Config{Auth: servicebus.Lenient, AutoCreate: true})
}

func lenientQueues(t *testing.T) *storagequeue.Server {
	t.Helper()
	return queuesOf(t, storagequeue.Config{Keys: storagequeue.Lenient, AutoCreate: true})
}

// queuesOf is a storage queue emulator on a free port.
func queuesOf(t *testing.T, config storagequeue.Config) *storagequeue.Server {
	t.Helper()
	config.Addr = "127.0.0.1:0"
	server := must.Get(storagequeue.Start(t.Context(), config))(t)
	t.Cleanup(func() { must.Do(t, server.Close()) })
	return server
}

func (s *system) connect() *nats.Conn {
	s.t.Helper()
	nc := must.Get(s.server.Connect())(s.t)
	s.t.Cleanup(nc.Close)
	return nc
}

// start runs a scheduler until stop is called, or the test ends.
func (s *system) start() {
	s.t.Helper()
	config := s.config
	config.Conn = s.connect()
	n := must.Get(node.Open(s.t.Context(), config))(s.t)
	ctx, cancel := context.WithCancel(context.WithoutCancel(s.t.Context()))
	ended := make(chan error, 1)
	begun := make(chan struct{})
	go func() { ended <- n.Run(ctx, func() error { close(begun); return nil }) }()
	<-begun
	var once sync.Once
	s.halt = cancel
	s.stop = func() {
		once.Do(func() {
			cancel()
			if err := <-ended; err != nil {
				s.t.Error(err)
			}
			node.CloseConn(config.Conn)
		})
	}
	s.t.Cleanup(func() { s.stop() })
}

// note keeps a record that was written.
func (s *system) note(m *nats.Msg) {
	r, err := scheduler.DecodeRecord(m.Data)
	if err != nil {
		s.t.Error(err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	job := strings.Split(m.Subject, ".")[3]
	s.records[job] = append(s.records[job], r)
	close(s.news)
	s.news = make(chan struct{})
}

// put publishes a job spec, and waits until it is accepted.
func (s *system) put(name, spec string) {
	s.t.Helper()
	results := must.Get(s.nc.SubscribeSync("carillon.spec-result.*.default." + name))(s.t)
	defer results.Unsubscribe() //nolint:errcheck // the connection is closed anyway
	must.Do(s.t, s.nc.Publish("carillon.spec.put.default."+name, []byte(spec)))
	m, err := results.NextMsg(patience)
	if err != nil || !strings.Contains(m.Subject, ".accepted.") {
		s.t.Fatalf("job %s: %v, %s", name, err, data(m))
	}
}

func data(m *nats.Msg) []byte {
	if m == nil {
		return nil
	}
	return m.Data
}

// history waits until the records of a job satisfy enough, and returns them.
func (s *system) history(job string, enough func([]*scheduler.Record) bool) []*scheduler.Record {
	s.t.Helper()
	deadline := time.After(patience)
	for {
		s.mu.Lock()
		records, news := s.records[job], s.news
		s.mu.Unlock()
		if enough(records) {
			return records
		}
		select {
		case <-news:
		case <-deadline:
			s.t.Fatalf("job %s: waited in vain; its history is %s", job, outcomes(records))
		}
	}
}

// ended waits for the end of a job that runs once, and returns its history in short.
func (s *system) ended(job string) string {
	s.t.Helper()
	return outcomes(s.history(job, func(records []*scheduler.Record) bool {
		if len(records) == 0 {
			return false
		}
		last := records[len(records)-1]
		return last.Outcome == scheduler.OutcomeFaulted || last.Outcome == scheduler.OutcomeCompleted && last.Phase == scheduler.MainPhase
	}))
}

// outcomes is a history in short: one word for each record.
func outcomes(records []*scheduler.Record) string {
	words := make([]string, len(records))
	for i, r := range records {
		words[i] = string(r.Outcome)
		if r.Phase == scheduler.ErrorPhase && r.Outcome != scheduler.OutcomeFaulted {
			words[i] += "/error"
		}
	}
	return strings.Join(words, " ")
}

// last is the newest record of a job's attempts.
func (s *system) last(job string) *scheduler.Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	var last *scheduler.Record
	for _, r := range s.records[job] {
		if r.ID != "" {
			last = r
		}
	}
	return last
}

// target is an HTTP target that keeps what it receives.
type target struct {
	*httptest.Server

	mu       sync.Mutex
	requests []received
	news     chan struct{}
	answer   func(r received, n int) int // status of the n-th request with a path, from 0
}

// received is one request.
type received struct {
	path   string
	header http.Header
	body   string
}

func newTarget(t *testing.T) *target {
	t.Helper()
	h := &target{news: make(chan struct{}), answer: func(received, int) int { return http.StatusOK }}
	h.Server = httptest.NewServer(http.HandlerFunc(h.serve))
	t.Cleanup(h.Close)
	return h
}

func (h *target) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	got := received{r.URL.Path, r.Header.Clone(), string(body)}
	h.mu.Lock()
	n := 0
	for _, other := range h.requests {
		if other.path == got.path {
			n++
		}
	}
	h.requests = append(h.requests, got)
	answer := h.answer
	close(h.news)
	h.news = make(chan struct{})
	h.mu.Unlock()
	w.WriteHeader(answer(got, n))
}

// answers replaces how the target answers.
func (h *target) answers(f func(r received, n int) int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.answer = f
}

// get waits for the first request with a path.
func (h *target) get(t *testing.T, path string) received {
	t.Helper()
	deadline := time.After(patience)
	for {
		h.mu.Lock()
		news := h.news
		for _, r := range h.requests {
			if r.path == path {
				h.mu.Unlock()
				return r
			}
		}
		h.mu.Unlock()
		select {
		case <-news:
		case <-deadline:
			t.Fatalf("no request for %s", path)
		}
	}
}

// inOrder checks the requests that came: each path with the number of the attempt.
func (h *target) inOrder(t *testing.T, want ...string) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	var got []string
	for _, r := range h.requests {
		got = append(got, r.path+" "+r.header.Get("X-Carillon-Attempt"))
	}
	if !slices.Equal(got, want) {
		t.Errorf("requests %q, want %q", got, want)
	}
}

// parse reads a JSON object.
func parse(t *testing.T, text string) map[string]any {
	t.Helper()
	v := map[string]any{}
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

// testLog writes log lines to the test's log.
type testLog struct{ t *testing.T }

// Write logs one line.
func (l testLog) Write(p []byte) (int, error) {
	l.t.Log(strings.TrimSpace(string(p)))
	return len(p), nil
}

// differ reports each difference between what is wanted and what was received.
func differ(t *testing.T, what string, got, want map[string]any) {
	t.Helper()
	for name, w := range want {
		if g := got[name]; fmt.Sprint(g) != fmt.Sprint(w) {
			t.Errorf("%s: %s is %v, want %v", what, name, g, w)
		}
	}
}

// first is the record of a job's first attempt.
func (s *system) first(job string) *scheduler.Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.records[job][0]
}
