package backup_test

import (
	"bytes"
	"context"
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
	"github.com/carillon-sched/carillon/scheduler/backup"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/engine"
	"github.com/carillon-sched/carillon/scheduler/secrets"
	"github.com/carillon-sched/carillon/scheduler/secrets/seal"
	"github.com/carillon-sched/carillon/store"
	"github.com/carillon-sched/carillon/store/conn"
	"github.com/carillon-sched/carillon/store/storetest"
)

// inBubble runs f on fake time, with a NATS server.
func inBubble(t *testing.T, f func(t *testing.T, s *server.Server)) {
	t.Helper()
	storetest.Test(t, func(t *testing.T) { f(t, storetest.Server(t)) })
}

// system is a scheduler with its own prefix: the real store, a service, a worker, and targets without sockets.
type system struct {
	t       *testing.T
	nc      *nats.Conn
	store   *store.Store
	service *control.Service
	vault   *secrets.Vault
	sink    *sink
	halt    func() // stops the worker, if it runs
}

// newSystem returns a system whose worker is not running.
func newSystem(t *testing.T, s *server.Server, key seal.Key, cfg store.Config) *system {
	t.Helper()
	sys := &system{t: t, sink: &sink{}, halt: func() {}}
	sys.nc = storetest.Connect(t, s)
	cfg.Storage = jetstream.MemoryStorage
	sys.store = must.Get(store.Open(t.Context(), sys.nc, cfg))(t)
	sys.vault = secrets.NewVault(secrets.Config{Store: sys.store.Secrets(), Keys: seal.NewKeyring(key)})
	sys.service = control.New(control.Config{
		Store: sys.store, Actions: sys.actions(), Limits: scheduler.Limits{MinRetryInterval: time.Second}, Secrets: sys.vault,
	})
	sys.must(sys.service.EnsureDefault(t.Context()))
	return sys
}

func (s *system) actions() scheduler.ActionReader {
	return actions.New(web.New(web.Config{Transport: s.sink}))
}

// start runs a worker and a consistency check, like a scheduler at its start.
func (s *system) start() {
	s.t.Helper()
	w := engine.New(engine.Config{
		Store: s.store, Actions: s.actions(), Secrets: s.vault, Grace: time.Millisecond, Logger: storetest.Logger(s.t),
	})
	s.halt = storetest.Run(s.t, w.Run)
}

// destroy removes the system's streams and buckets: fake time costs processor time for each stream of the server.
func (s *system) destroy() {
	s.t.Helper()
	s.halt()
	js := must.Get(jetstream.New(s.nc))(s.t)
	var own []string
	names := js.StreamNames(s.t.Context())
	for name := range names.Name() {
		if strings.Contains(strings.ToLower(name), s.store.Prefix()) {
			own = append(own, name)
		}
	}
	s.must(names.Err())
	for _, name := range own {
		s.must(js.DeleteStream(s.t.Context(), name))
	}
	s.nc.Close()
}

// audit runs a consistency check with repairs, like a scheduler at its start, and records ended jobs.
func (s *system) audit() {
	s.t.Helper()
	report := must.Get(s.service.Audit(s.t.Context(), true))(s.t)
	s.must(s.service.Finish(s.t.Context(), report))
}

// must fails the test if a call fails. It takes all results of the call, the error last.
func (s *system) must(results ...any) {
	s.t.Helper()
	if err := results[len(results)-1]; err != nil {
		s.t.Fatal(err)
	}
}

func (s *system) put(name, body string) {
	s.t.Helper()
	s.must(s.service.Put(s.t.Context(), control.Edit{Key: key(name), Body: []byte(body)}))
}

// jobs returns the stored definitions by name.
func (s *system) jobs() map[string][]byte {
	s.t.Helper()
	all := map[string][]byte{}
	s.must(s.store.EachStoredJob(s.t.Context(), func(st scheduler.Stored) error {
		all[st.Key.String()] = st.Data
		return nil
	}))
	return all
}

// views returns the jobs as users see them, by name.
func (s *system) views() map[string]*v1.Job {
	s.t.Helper()
	all := map[string]*v1.Job{}
	for name := range s.jobs() {
		all[name] = must.Get(s.service.Get(s.t.Context(), key(name)))(s.t)
	}
	return all
}

// take takes a backup.
func (s *system) take() []byte {
	s.t.Helper()
	return s.takeOf(s.store)
}

// takeOf takes a backup of another view of the store.
func (s *system) takeOf(st backup.Store) []byte {
	s.t.Helper()
	var file bytes.Buffer
	w := must.Get(backup.NewWriter(&file, backup.Header{Made: time.Now(), Prefix: s.store.Prefix(), Lanes: s.store.Lanes(), Schema: conn.Schema}))(s.t)
	s.must(backup.Take(s.t.Context(), backup.TakeConfig{Store: st, Tokens: true}, w))
	must.Get(w.Close())(s.t)
	return file.Bytes()
}

// restore restores a backup.
func (s *system) restore(file []byte, change ...func(*backup.RestoreConfig)) (*backup.Report, error) {
	s.t.Helper()
	cfg := backup.RestoreConfig{Store: s.store, Existing: backup.Refuse, Tokens: true}
	for _, f := range change {
		f(&cfg)
	}
	r := must.Get(backup.NewReader(bytes.NewReader(file)))(s.t)
	defer r.Close()
	return backup.Restore(s.t.Context(), cfg, r)
}

// plan plans a restore.
func (s *system) plan(file []byte, existing backup.Existing) *backup.Report {
	s.t.Helper()
	r := must.Get(backup.NewReader(bytes.NewReader(file)))(s.t)
	defer r.Close()
	return must.Get(backup.Plan(s.t.Context(), backup.RestoreConfig{Store: s.store, Existing: existing, Tokens: true}, r))(s.t)
}

// key parses a job's name: job (in the default collection) or collection/job.
func key(name string) scheduler.Key {
	collection, job, ok := strings.Cut(name, "/")
	if !ok {
		return scheduler.Key{Collection: scheduler.DefaultCollection, Job: name}
	}
	return scheduler.Key{Collection: collection, Job: job}
}

func newKey(t *testing.T) seal.Key {
	t.Helper()
	return must.Get(seal.NewKey("k1"))(t)
}

// sink is a target. The path selects its response: /fail returns 500, /slow responds after ten minutes, others
// immediately.
type sink struct {
	mu    sync.Mutex
	calls []call
}

// call is a call to a target.
type call struct {
	at  time.Time
	job string // from its key
	key string
	by  string // its Authorization header
}

// RoundTrip records and answers a call.
func (s *sink) RoundTrip(req *http.Request) (*http.Response, error) {
	id := req.Header.Get("Idempotency-Key")
	name, _, _ := strings.Cut(id, "@")
	s.mu.Lock()
	s.calls = append(s.calls, call{time.Now(), name, id, req.Header.Get("Authorization")})
	s.mu.Unlock()
	status := http.StatusOK
	switch req.URL.Path {
	case "/fail":
		status = http.StatusInternalServerError
	case "/slow":
		select {
		case <-time.After(10 * time.Minute):
		case <-req.Context().Done():
			return nil, context.Cause(req.Context())
		}
	}
	return &http.Response{
		Status: http.StatusText(status), StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, Body: http.NoBody, Request: req,
	}, nil
}

// seen returns the calls of a job.
func (s *sink) seen(name string) []call {
	s.mu.Lock()
	defer s.mu.Unlock()
	var of []call
	for _, c := range s.calls {
		if c.job == key(name).String() {
			of = append(of, c)
		}
	}
	return of
}
