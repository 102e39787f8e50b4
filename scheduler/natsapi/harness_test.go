package natsapi_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/actions"
	"github.com/carillon-sched/carillon/actions/web"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/natsapi"
	"github.com/carillon-sched/carillon/scheduler/secrets"
	"github.com/carillon-sched/carillon/scheduler/secrets/seal"
	"github.com/carillon-sched/carillon/scheduler/spec"
	"github.com/carillon-sched/carillon/store"
	"github.com/carillon-sched/carillon/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// patience bounds every wait of a test that something happens.
const patience = time.Minute

// harness is a NATS server with a scheduler on it, but without a worker: batons
// that are fired stay where they are.
type harness struct {
	tb      testing.TB
	ctx     context.Context //nolint:containedctx // of the test
	server  *server.Server
	nc      *nats.Conn // of the publisher
	js      jetstream.JetStream
	store   *store.Store
	service *control.Service
	storage jetstream.StorageType
	dir     string // what the server keeps on disk
	keys    *seal.Keyring
}

// newHarness keeps its streams in memory, newWorldIn where a test needs them.
func newHarness(tb testing.TB) *harness {
	tb.Helper()
	return newWorldIn(tb, jetstream.MemoryStorage)
}

func newWorldIn(tb testing.TB, storage jetstream.StorageType) *harness {
	tb.Helper()
	dir := tb.TempDir()
	s := storetest.Server(tb, func(o *server.Options) { o.StoreDir = dir })
	k := must.Get(seal.NewKey("k1"))(tb)
	w := &harness{tb: tb, ctx: tb.Context(), server: s, storage: storage, dir: dir, keys: seal.NewKeyring(k)}
	w.nc = w.connect()
	w.js = must.Get(jetstream.New(w.nc, jetstream.WithPublishAsyncMaxPending(1<<14)))(tb)
	w.store, w.service = w.open()
	return w
}

// connect makes a client connection of its own.
func (w *harness) connect() *nats.Conn {
	w.tb.Helper()
	return storetest.Connect(w.tb, w.server)
}

// open opens the store and a service on a connection of their own, as one
// process does.
func (w *harness) open() (*store.Store, *control.Service) {
	w.tb.Helper()
	st := must.Get(store.Open(w.ctx, w.connect(), store.Config{Storage: w.storage}))(w.tb)
	service := control.New(control.Config{
		Store: st, Actions: actions.New(web.New(web.Config{})),
		Secrets: secrets.NewVault(secrets.Config{Store: st.Secrets(), Keys: w.keys}),
	})
	must.Do(w.tb, service.EnsureDefault(w.ctx))
	w.background(service.Run)
	return st, service
}

// background runs f until the test ends or the returned function is called,
// which waits for its end.
func (w *harness) background(f func(context.Context) error) (stop func()) {
	w.tb.Helper()
	return storetest.Run(w.tb, f)
}

// await polls until ok, for what tells of itself in no other way.
func (w *harness) await(what string, ok func() bool) {
	w.tb.Helper()
	must.Await(w.tb, what, ok)
}

// ingest runs an ingest.
func (w *harness) ingest(change ...func(*natsapi.IngestConfig)) (stop func()) {
	w.tb.Helper()
	return w.background(w.newIngest(change...).Run)
}

func (w *harness) newIngest(change ...func(*natsapi.IngestConfig)) *natsapi.Ingest {
	cfg := natsapi.IngestConfig{Service: w.service, Source: w.store, Logger: storetest.Logger(w.tb)}
	for _, f := range change {
		f(&cfg)
	}
	return natsapi.NewIngest(cfg)
}

// api runs a micro service.
func (w *harness) api(change ...func(*natsapi.APIConfig)) (stop func()) {
	w.tb.Helper()
	cfg := natsapi.APIConfig{Conn: w.connect(), Service: w.service, Logger: storetest.Logger(w.tb)}
	for _, f := range change {
		f(&cfg)
	}
	api := natsapi.NewAPI(cfg)
	stop = w.background(api.Run)
	<-api.Open()
	return stop
}

// publish publishes a spec and waits until it is stored.
func (w *harness) publish(subject, body string, opts ...jetstream.PublishOpt) {
	w.tb.Helper()
	if _, err := w.js.Publish(w.ctx, "carillon.spec."+subject, []byte(body), opts...); err != nil {
		w.tb.Fatalf("%s: %v", subject, err)
	}
}

// event is a result event.
type event struct {
	Subject    string         `json:"-"`
	Verdict    string         `json:"verdict"`
	Verb       string         `json:"verb"`
	Job        string         `json:"job"`
	Result     v1.Result      `json:"result"`
	Message    string         `json:"message"`
	Warnings   []spec.Warning `json:"warnings"`
	Created    *bool          `json:"created"`
	Superseded bool           `json:"superseded"`
	Revision   uint64         `json:"revision"`
	Next       string         `json:"nextExecutionTime"`
	Occurrence string         `json:"occurrence"`
	Resubmits  string         `json:"resubmits"`
	Duplicate  uint64         `json:"duplicateOf"`
	Sequence   uint64         `json:"specSequence"`
	Time       time.Time      `json:"time"`
	Error      *errorValue    `json:"error"`
}

// errorValue is what the member "error" of an answer holds.
type errorValue struct {
	Code    string             `json:"code"`
	Message string             `json:"message"`
	Details []document.Problem `json:"details"`
}

// String returns code, paths and messages on one line.
func (e *errorValue) String() string {
	if e == nil {
		return ""
	}
	var s strings.Builder
	s.WriteString(e.Code + ":")
	for _, d := range e.Details {
		s.WriteString(" [" + d.Path + "] " + d.Message)
	}
	if len(e.Details) == 0 {
		s.WriteString(" " + e.Message)
	}
	return s.String()
}

// results returns a function that waits for the next result event.
func (w *harness) results() func() event {
	w.tb.Helper()
	sub := must.Get(w.nc.SubscribeSync("carillon.spec-result.>"))(w.tb)
	must.Do(w.tb, w.nc.Flush())
	return func() event {
		w.tb.Helper()
		for {
			m, err := sub.NextMsg(patience)
			if err != nil {
				w.tb.Fatalf("no result: %v", err)
			}
			if len(m.Data) > 0 { // a store that is opened probes the subject with nothing
				return decode(w.tb, m)
			}
		}
	}
}

func decode(tb testing.TB, m *nats.Msg) event {
	tb.Helper()
	e := event{Subject: strings.TrimPrefix(m.Subject, "carillon.spec-result.")}
	if err := json.Unmarshal(m.Data, &e); err != nil {
		tb.Fatalf("%s: %v: %s", m.Subject, err, m.Data)
	}
	return e
}

// action is the action of a job that is right.
const action = `"action": {"type": "Http", "request": {"uri": "http://target.example/hook", "method": "POST"}}`

// later is a job that does not become due during a test.
const later = `{"startTime": "2099-01-01T00:00:00Z", ` + action + `}`
