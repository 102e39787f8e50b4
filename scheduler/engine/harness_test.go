package engine_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/actions"
	"github.com/carillon-sched/carillon/actions/web"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/engine"
	"github.com/carillon-sched/carillon/scheduler/secrets"
	"github.com/carillon-sched/carillon/scheduler/secrets/seal"
	"github.com/carillon-sched/carillon/store"
	"github.com/carillon-sched/carillon/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// harness is a whole scheduler in a bubble: a real NATS server, the real store,
// a service, workers, and targets that answer without sockets.
type harness struct {
	t       *testing.T
	server  *server.Server
	config  store.Config
	nc      *nats.Conn
	store   *store.Store
	service *control.Service
	vault   *secrets.Vault
	sink    *sink
	worker  *engine.Worker // the one that was started last
	stop    func()         // stops it, if there is one
}

// inBubble runs f on fake time, with a worker.
func inBubble(t *testing.T, f func(t *testing.T, w *harness)) {
	t.Helper()
	inWorld(t, func(t *testing.T, w *harness) {
		w.startWorker()
		f(t, w)
	})
}

// inWorld runs f on fake time, without a worker.
func inWorld(t *testing.T, f func(t *testing.T, w *harness)) {
	t.Helper()
	storetest.Test(t, func(t *testing.T) { f(t, newHarness(t)) })
}

// inWorlds runs f for each row, each in a bubble without a worker.
func inWorlds[T any](t *testing.T, rows map[string]T, f func(t *testing.T, w *harness, row T)) {
	t.Helper()
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *harness) { f(t, w, row) })
		})
	}
}

func newHarness(t *testing.T, change ...func(*store.Config)) *harness {
	t.Helper()
	s := storetest.Server(t)
	// The server creates the consumer for the source of a stream 0.2 s later. Shutdown would wait for it with locks held, which
	// stops the time of the bubble.
	t.Cleanup(func() { time.Sleep(time.Second) })
	w := &harness{t: t, server: s, stop: func() {}, sink: &sink{answer: func(*call) (int, string) { return http.StatusOK, "ok" }}}
	w.config = store.Config{Storage: jetstream.MemoryStorage, FinalAge: 2 * time.Hour}
	for _, f := range change {
		f(&w.config)
	}
	w.nc, w.store = w.open()
	w.service = w.newService(newKey(t, "k1"))
	w.must(w.service.EnsureDefault(t.Context()))
	return w
}

// open connects and opens the store, as one process does.
func (w *harness) open() (*nats.Conn, *store.Store) {
	w.t.Helper()
	nc := storetest.Connect(w.t, w.server)
	st := must.Get(store.Open(w.t.Context(), nc, w.config))(w.t)
	return nc, st
}

// newService returns a service with these keys, and makes its vault the one of
// workers that are started from now on.
func (w *harness) newService(keys ...seal.Key) *control.Service {
	return w.newServiceOn(w.store, keys...)
}

// newServiceOn is newService for a store that wraps the harness's.
func (w *harness) newServiceOn(st scheduler.Store, keys ...seal.Key) *control.Service {
	cfg := secrets.Config{Store: w.store.Secrets()}
	if len(keys) > 0 {
		cfg.Keys = seal.NewKeyring(keys[0], keys[1:]...)
	}
	w.vault = secrets.NewVault(cfg)
	return control.New(control.Config{
		Store: st, Trail: w.store, Actions: w.actions(), Limits: scheduler.Limits{MinRetryInterval: time.Second}, Secrets: w.vault,
	})
}

func newKey(t *testing.T, id string) seal.Key {
	t.Helper()
	return must.Get(seal.NewKey(id))(t)
}

func (w *harness) actions() scheduler.ActionReader {
	return actions.New(web.New(web.Config{Transport: w.sink}), lockedReader{w.sink})
}

// startWorker runs a worker until the test ends, or stopWorker stops it.
func (w *harness) startWorker(change ...func(*engine.Config)) {
	cfg := engine.Config{
		Store: w.store, Actions: w.actions(), Secrets: w.vault, Logger: storetest.Logger(w.t),
	}
	for _, f := range change {
		f(&cfg)
	}
	w.worker = engine.New(cfg)
	w.stop = storetest.Run(w.t, w.worker.Run)
}

// stopWorker stops the worker that was started last.
func (w *harness) stopWorker() { w.stop() }

// must fails the test if a call fails. It takes all results of the call, the error last.
func (w *harness) must(results ...any) {
	w.t.Helper()
	if err := results[len(results)-1]; err != nil {
		w.t.Fatal(err)
	}
}

// put puts a job document and fails the test when it is refused.
func (w *harness) put(name, body string) *v1.Job {
	w.t.Helper()
	v, _, err := w.service.Put(w.t.Context(), control.Edit{Key: key(name), Body: []byte(body)})
	w.must(err)
	return v
}

// putMany puts n jobs of one document. The name has a verb for the number of each.
func (w *harness) putMany(n int, name, body string) {
	w.t.Helper()
	for i := range n {
		w.put(fmt.Sprintf(name, i), body)
	}
}

func key(name string) scheduler.Key {
	return scheduler.Key{Collection: scheduler.DefaultCollection, Job: name}
}

// get returns a job's view.
func (w *harness) get(name string) *v1.Job {
	w.t.Helper()
	return must.Get(w.service.Get(w.t.Context(), key(name)))(w.t)
}

// history returns a job's records, oldest first.
func (w *harness) history(name string) []*scheduler.Record {
	w.t.Helper()
	var all []*scheduler.Record
	err := w.store.Recent(w.t.Context(), key(name), 0, nil, func(r *scheduler.Record) bool {
		all = append([]*scheduler.Record{r}, all...)
		return true
	})
	w.must(err)
	return all
}

// outcomes returns the history in short: one word for each record.
func (w *harness) outcomes(name string) string {
	w.t.Helper()
	return short(w.history(name))
}

// wantHistory fails the test unless these are the outcomes in a job's history.
func (w *harness) wantHistory(name, want string) {
	w.t.Helper()
	if got := w.outcomes(name); got != want {
		w.t.Errorf("%s: history %q, want %q", name, got, want)
	}
}

// wantState fails the test unless a job is in a state, after so many executions.
func (w *harness) wantState(name string, state scheduler.State, executions int) {
	w.t.Helper()
	if v := w.get(name); v.Job.State != state || v.Status.Executions != executions {
		w.t.Errorf("%s: state %s, status %+v; want %s after %d executions", name, v.Job.State, v.Status, state, executions)
	}
}

// wantNext fails the test unless a job runs next at a time.
func (w *harness) wantNext(name string, want time.Time) {
	w.t.Helper()
	if got := w.get(name).Status.Next; !got.Equal(want) {
		w.t.Errorf("%s: next at %s, want %s", name, got, want)
	}
}

// wantCalls fails the test unless targets were called so often.
func (w *harness) wantCalls(want int) {
	w.t.Helper()
	if got := len(w.sink.seen()); got != want {
		w.t.Errorf("%d calls, want %d", got, want)
	}
}

// wantNoRepeats fails the test if an attempt was called twice.
func (w *harness) wantNoRepeats() {
	w.t.Helper()
	seen := map[string]bool{}
	for _, c := range w.sink.seen() {
		attempt := c.key + "#" + c.try
		if seen[attempt] {
			w.t.Errorf("%s was called again", attempt)
		}
		seen[attempt] = true
	}
}

// short returns one word for each record.
func short(records []*scheduler.Record) string {
	var words []string
	for _, r := range records {
		word := string(r.Outcome)
		if r.Phase == scheduler.ErrorPhase && r.Outcome != scheduler.OutcomeFaulted {
			word += "/error"
		}
		if r.Kind.IsManual() {
			word += "/manual"
		}
		if r.Outcome == scheduler.OutcomeSkipped {
			word += fmt.Sprintf("(%s %d)", r.Reason, r.Count)
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// sink is a target: it notes every call and answers without a socket.
type sink struct {
	mu     sync.Mutex
	calls  []*call
	answer func(*call) (status int, body string)
}

// call is one request that a target got.
type call struct {
	at       time.Time
	url      string
	key      string
	try      string
	expected string // the nominal time
	body     string // the request's
	n        int    // calls with the same key before this one
	host     string
	ctx      context.Context //nolint:containedctx // the request, as far as a test wants it
}

// RoundTrip notes the request and answers it.
func (s *sink) RoundTrip(req *http.Request) (*http.Response, error) {
	c := &call{
		at: time.Now(), url: req.URL.String(), key: req.Header.Get("Idempotency-Key"), host: req.URL.Host,
		try: req.Header.Get("X-Carillon-Attempt"), expected: req.Header.Get("X-Ms-Scheduler-Expected-Execution-Time"), ctx: req.Context(),
	}
	if req.Body != nil {
		sent, _ := io.ReadAll(req.Body)
		c.body = string(sent)
	}
	status, body := s.note(c)
	if status == 0 {
		return nil, context.Cause(req.Context())
	}
	return &http.Response{
		Status: http.StatusText(status), StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, Body: http.NoBody, ContentLength: int64(len(body)), Request: req,
	}, nil
}

// note notes a call and decides its answer.
func (s *sink) note(c *call) (status int, body string) {
	s.mu.Lock()
	for _, other := range s.calls {
		if other.key == c.key {
			c.n++
		}
	}
	s.calls = append(s.calls, c)
	answer := s.answer
	s.mu.Unlock()
	return answer(c)
}

// seen returns the calls so far.
func (s *sink) seen() []*call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*call{}, s.calls...)
}

// answers replaces how the target answers.
func (s *sink) answers(f func(*call) (int, string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = f
}

// after answers with a status once d has passed, or fails when the attempt is
// over before.
func after(d time.Duration, status int) func(*call) (int, string) {
	return func(c *call) (int, string) {
		select {
		case <-time.After(d):
			return status, ""
		case <-c.ctx.Done():
			return 0, ""
		}
	}
}

const action = `"action": {"type": "Http", "request": {"uri": "http://target.example/hook", "method": "POST", "body": "x"}}`

// callsOf returns the calls of a job.
func (w *harness) callsOf(name string) (calls []*call) {
	for _, c := range w.sink.seen() {
		if strings.HasPrefix(c.key, key(name).String()+"@") {
			calls = append(calls, c)
		}
	}
	return calls
}

// as is the context of a request of somebody.
func (w *harness) as(name string) context.Context {
	return auth.With(w.t.Context(), &auth.Principal{Name: name, ID: "id-of-" + name, Via: auth.ViaToken, Address: "192.0.2.7"})
}

// timeOfDay is when the clock shows a time on the day on which bubbles begin.
func timeOfDay(t *testing.T, clock string) time.Time {
	t.Helper()
	return must.Get(time.Parse(time.DateTime, "2000-01-01 "+clock))(t)
}

// mustBeInOrder fails the test when the audit finds anything.
func (w *harness) mustBeInOrder() {
	w.t.Helper()
	rep := must.Get(w.service.Audit(w.t.Context(), false))(w.t)
	for _, f := range rep.Findings {
		w.t.Errorf("audit: %s: %s", f.Name, f.Problem)
	}
}

// turnCollection enables or disables the default collection, and waits until workers have heard of it.
func (w *harness) turnCollection(state scheduler.State) {
	w.t.Helper()
	w.must(w.service.PutCollection(w.t.Context(), scheduler.DefaultCollection, []byte(`{"properties": {"state": "`+string(state)+`"}}`)))
	time.Sleep(100 * time.Millisecond)
}

// stream returns a stream of the server.
func (w *harness) stream(name string) jetstream.Stream {
	w.t.Helper()
	return must.Get(must.Get(jetstream.New(w.nc))(w.t).Stream(w.t.Context(), name))(w.t)
}

// loseTimers removes every baton, and has the audit restore them.
func (w *harness) loseTimers() {
	w.t.Helper()
	w.must(w.stream("CARILLON_TIMERS_0").Purge(w.t.Context()))
	w.must(w.service.Audit(w.t.Context(), true))
}

// withWorker reports whether a worker has a job's baton.
func (w *harness) withWorker(name string) bool {
	w.t.Helper()
	_, err := w.store.Running(w.t.Context(), scheduler.BatonKey{Key: key(name)})
	if err != nil && !errors.Is(err, scheduler.ErrNotFound) {
		w.t.Fatal(err)
	}
	return err == nil
}

// noted is a log that a test reads.
type noted struct {
	mu   sync.Mutex
	text strings.Builder
}

func (n *noted) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.text.Write(p)
}

func (n *noted) count(s string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return strings.Count(n.text.String(), s)
}

// epoch is where fake time begins in every bubble.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
