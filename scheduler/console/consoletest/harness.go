package consoletest

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/actions/builtin"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/auth/tokens"
	"github.com/carillon-sched/carillon/scheduler/console"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/engine"
	"github.com/carillon-sched/carillon/scheduler/secrets"
	"github.com/carillon-sched/carillon/scheduler/secrets/seal"
	"github.com/carillon-sched/carillon/scheduler/stats"
	"github.com/carillon-sched/carillon/store"
)

// Patience limits each wait of a test.
const Patience = time.Minute

// Harness is a scheduler with its console. It runs no jobs before [Harness.Work].
type Harness struct {
	T       testing.TB
	NATS    *nats.Conn
	Store   *store.Store
	Actions scheduler.ActionReader
	Vault   *secrets.Vault
	Service *control.Service
	Console *httptest.Server

	// Recorder counts the records of the worker. Tests can add others.
	Recorder stats.Recorder

	test    atomic.Pointer[testing.TB] // T, for the goroutines of the server
	worker  *engine.Worker
	who     atomic.Pointer[auth.Principal]
	browser *http.Client
}

// shared is the harness of [Shared]; its T is the current test.
var shared *Harness

// Shared returns a harness that the tests of a package share sequentially, without a worker. It is cleared of jobs,
// collections and secrets after each test. The package's TestMain calls [Main].
func Shared(tb testing.TB) *Harness {
	tb.Helper()
	if shared == nil {
		shared = New(forAll{tb})
	}
	w := shared
	w.T = tb
	w.test.Store(&tb)
	w.Anonymous()
	tb.Cleanup(w.clear)
	return w
}

// Main runs the tests of a package that call [Shared].
func Main(m *testing.M) {
	code := m.Run()
	slices.Reverse(atEnd)
	for _, f := range atEnd {
		f()
	}
	os.Exit(code) //nolint:revive // of TestMain
}

// atEnd are the cleanups of the shared harness after the last test, run in reverse order.
var atEnd []func()

// forAll is the testing.TB of the shared harness, which outlives the first test.
type forAll struct{ testing.TB }

// Cleanup registers f to run after the last test.
func (forAll) Cleanup(f func()) { atEnd = append(atEnd, f) }

// Context returns a context that does not end.
func (forAll) Context() context.Context { return context.Background() }

// TempDir creates a directory.
func (f forAll) TempDir() string {
	dir, err := os.MkdirTemp("", "consoletest-")
	if err != nil {
		f.Fatal(err)
	}
	atEnd = append(atEnd, func() { _ = os.RemoveAll(dir) })
	return dir
}

// clear removes the objects of a test.
func (w *Harness) clear() {
	ctx := context.Background()
	var jobs []scheduler.Key
	w.OK(w.Store.EachJob(ctx, "", func(k scheduler.Key) error { jobs = append(jobs, k); return nil }))
	for _, k := range jobs {
		if err := w.Service.Delete(ctx, k, 0); !errors.Is(err, scheduler.ErrNotFound) { // the key of a deleted job remains for a while
			w.OK(err)
		}
	}
	collections, err := w.Service.Collections(ctx)
	w.OK(err)
	for _, c := range collections {
		if c.Name != scheduler.DefaultCollection {
			w.OK(w.Service.DeleteCollection(ctx, c.Name, false))
		}
	}
	secrets, err := w.Service.Secrets(ctx)
	w.OK(err)
	for _, s := range secrets {
		w.OK(w.Service.DeleteSecret(ctx, s.Name, true))
	}
}

// New starts a harness. All callers have full access until [Harness.Be]. change modifies the configuration of the console.
func New(tb testing.TB, change ...func(w *Harness, cfg *console.Config)) *Harness {
	tb.Helper()
	all := builtin.New(builtin.Config{})
	tb.Cleanup(all.Close)
	w := &Harness{T: tb, Actions: all}
	w.test.Store(&tb)
	s, err := server.NewServer(&server.Options{DontListen: true, JetStream: true, StoreDir: tb.TempDir(), NoLog: true, NoSigs: true})
	w.OK(err)
	s.Start()
	tb.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(Patience) {
		tb.Fatal("the NATS server does not start")
	}
	w.NATS, err = nats.Connect("", nats.InProcessServer(s))
	w.OK(err)
	tb.Cleanup(w.NATS.Close)
	js, err := jetstream.New(w.NATS)
	w.OK(err)
	w.Await("JetStream", func() bool { _, err := js.AccountInfo(tb.Context()); return err == nil })
	w.Store, err = store.Open(tb.Context(), w.NATS, store.Config{Storage: jetstream.MemoryStorage})
	w.OK(err)
	key, err := seal.NewKey("k1")
	w.OK(err)
	w.Vault = secrets.NewVault(secrets.Config{Store: w.Store.Secrets(), Keys: seal.NewKeyring(key)})
	w.worker = engine.New(engine.Config{Store: w.Store, Actions: w.Actions, Secrets: w.Vault, OnRecord: w.Recorder.Record})
	w.Service = control.New(control.Config{
		Store: w.Store, Actions: w.Actions, Secrets: w.Vault, Try: w.worker.Try, Failures: w.failures,
		Tokens: tokens.NewKeeper(w.Store.Tokens(), w.Store.TokenLedger(), w.Store.Now),
	})
	w.OK(w.Service.EnsureDefault(tb.Context()))
	cfg := console.Config{Service: w.Service, Config: frame.Config{
		Identify: w.identify, Version: "1.2.3", Logger: slog.New(slog.NewTextHandler(complaints{w}, nil)),
	}}
	for _, f := range change {
		f(w, &cfg)
	}
	w.Console = httptest.NewServer(console.New(cfg))
	tb.Cleanup(func() { w.Console.CloseClientConnections(); w.Console.Close() })
	jar, err := cookiejar.New(nil)
	w.OK(err)
	w.browser = &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return w
}

// failures returns the failure groups of the recorder.
func (w *Harness) failures(_ context.Context, sees func(collection string) bool) []*v1.FailureGroup {
	b := stats.NewBoard(time.Now())
	b.AddGroups(w.Recorder.Groups(b.Now))
	b.Finish()
	return b.FailureGroups(sees)
}

// complaints fails a test for each defect that the console logs.
type complaints struct{ harness *Harness }

func (c complaints) Write(p []byte) (int, error) {
	if strings.Contains(string(p), "level=ERROR") {
		(*c.harness.test.Load()).Errorf("the console logs %s", p)
	}
	return len(p), nil
}

// OK ends the test if the last result of a call is an error.
func (w *Harness) OK(results ...any) {
	w.T.Helper()
	if err, wrong := results[len(results)-1].(error); wrong {
		w.T.Fatal(err)
	}
}

// Be makes later requests come from a caller with these grants, such as "reader" or "operator@billing".
func (w *Harness) Be(grants ...string) {
	w.T.Helper()
	p := &auth.Principal{Name: "me", ID: "me", Via: auth.ViaToken}
	for _, text := range grants {
		g, err := auth.ParseGrant(text)
		w.OK(err)
		p.Grants = append(p.Grants, g)
	}
	w.who.Store(p)
}

// Anonymous makes later requests come from an anonymous caller with full access, the initial state.
func (w *Harness) Anonymous() { w.who.Store(nil) }

func (w *Harness) identify(*http.Request) (*auth.Principal, error) {
	if p := w.who.Load(); p != nil {
		return p, nil
	}
	return auth.Anonymous(auth.ViaLoopback, "127.0.0.1"), nil
}

// Work runs a worker and the service until the test ends.
func (w *Harness) Work() {
	w.T.Helper()
	ctx, cancel := context.WithCancel(w.T.Context())
	ended := make(chan error, 2)
	go func() { ended <- w.worker.Run(ctx) }()
	go func() { ended <- w.Service.Run(ctx) }()
	w.T.Cleanup(func() {
		cancel()
		for range cap(ended) {
			if err := <-ended; err != nil {
				w.T.Error(err)
			}
		}
	})
}

// Target starts an HTTP server for jobs and returns its URL. It answers hello, or 418 if the query has fail.
func (w *Harness) Target() string {
	w.T.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("fail") {
			out.WriteHeader(http.StatusTeapot)
		}
		_, _ = io.WriteString(out, "hello")
	}))
	w.T.Cleanup(s.Close)
	return s.URL
}

// Put puts a job. key is collection/job; document is JSON or YAML.
func (w *Harness) Put(key, document string) {
	w.T.Helper()
	w.OK(w.Service.Put(w.T.Context(), control.Edit{Key: Key(key), Body: []byte(document)}))
}

// Job returns a job.
func (w *Harness) Job(key string) *v1.Job {
	w.T.Helper()
	v, err := w.Service.Get(w.T.Context(), Key(key))
	w.OK(err)
	return v
}

// History returns the records of a job, newest first.
func (w *Harness) History(key string) []*scheduler.Record {
	w.T.Helper()
	all, _, err := w.Service.History(w.T.Context(), control.HistoryQuery{Key: Key(key)}, v1.Page{})
	w.OK(err)
	return all
}

// Collect creates a collection.
func (w *Harness) Collect(name string) {
	w.T.Helper()
	w.OK(w.Service.PutCollection(w.T.Context(), name, []byte("{}")))
}

// Attempt returns the record of an attempt that completed at a time.
func Attempt(key string, at time.Time) *scheduler.Record {
	r := &scheduler.Record{
		Job: Key(key), Occurrence: scheduler.OccurrenceID(Key(key), at), Outcome: scheduler.OutcomeCompleted,
		Nominal: at, Due: at, Started: at.Add(3 * time.Millisecond), Ended: at.Add(15 * time.Millisecond), Duration: 12 * time.Millisecond,
		Try: 1, Phase: scheduler.MainPhase, Status: http.StatusOK, Response: "hello", Type: "Http", Target: "target.example:443",
	}
	r.ID = r.Occurrence + "#1"
	return r
}

// Damage makes the definition of a job unreadable.
func (w *Harness) Damage(key string) {
	w.T.Helper()
	st, err := w.Store.LoadJob(w.T.Context(), Key(key))
	w.OK(err)
	w.OK(w.Store.SaveJob(w.T.Context(), st.Key, []byte("{"), st.Revision, false))
}

// Append appends a record to the history of its job.
func (w *Harness) Append(r *scheduler.Record) {
	w.T.Helper()
	st, err := w.Store.LoadJob(w.T.Context(), r.Job)
	w.OK(err)
	r.UID = scheduler.StoredIncarnation(st.Data)
	w.OK(w.Store.Append(w.T.Context(), r))
}

// Run starts a manual run.
func (w *Harness) Run(key string) {
	w.T.Helper()
	w.OK(w.Service.Trigger(w.T.Context(), Key(key)))
}

// Key parses collection/job.
func Key(text string) scheduler.Key {
	collection, job, _ := strings.Cut(text, "/")
	return scheduler.Key{Collection: collection, Job: job}
}

// Await polls until ok, for events without a notification.
func (w *Harness) Await(what string, ok func() bool) {
	w.T.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(Patience); !ok(); <-tick.C {
		if time.Now().After(deadline) {
			w.T.Fatalf("waited in vain for %s", what)
		}
	}
}

// Reply is an answer of the console.
type Reply struct {
	Status int
	Header http.Header
	Body   string
}

// Do sends a request like a browser that stores cookies and does not follow redirects. Headers are "Name: value".
func (w *Harness) Do(method, path, body string, headers ...string) Reply {
	w.T.Helper()
	res := w.send(w.T.Context(), w.browser, method, path, body, headers)
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	w.OK(err)
	return Reply{res.StatusCode, res.Header, string(data)}
}

func (w *Harness) send(ctx context.Context, client *http.Client, method, path, body string, headers []string) *http.Response {
	w.T.Helper()
	req, err := http.NewRequestWithContext(ctx, method, w.Console.URL+path, strings.NewReader(body))
	w.OK(err)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	res, err := client.Do(req)
	w.OK(err)
	return res
}

// Get gets a page, which must exist.
func (w *Harness) Get(path string, headers ...string) string {
	w.T.Helper()
	r := w.Do(http.MethodGet, path, "", headers...)
	if r.Status != http.StatusOK {
		w.T.Fatalf("%s: %d %.2000s", path, r.Status, r.Body)
	}
	return r.Body
}

// Part gets a part of a page, like a script.
func (w *Harness) Part(path string) string {
	w.T.Helper()
	return w.Get(path, "X-Carillon-Part: 1")
}

// Post submits a form.
func (w *Harness) Post(path string, form url.Values, headers ...string) Reply {
	w.T.Helper()
	return w.Do(http.MethodPost, path, form.Encode(), append(headers, "Content-Type: application/x-www-form-urlencoded")...)
}
