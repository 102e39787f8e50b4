package rest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/actions"
	"github.com/carillon-sched/carillon/actions/web"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/engine"
	"github.com/carillon-sched/carillon/scheduler/rest"
	"github.com/carillon-sched/carillon/scheduler/secrets"
	"github.com/carillon-sched/carillon/scheduler/secrets/seal"
	"github.com/carillon-sched/carillon/store"
	"github.com/carillon-sched/carillon/store/storetest"
)

// patience bounds every wait of a test that something happens.
const patience = time.Minute

// harness is a scheduler with its HTTP API on a NATS server of its own.
type harness struct {
	t       testing.TB
	dir     string // of the NATS server's data
	storage jetstream.StorageType
	server  *server.Server
	nc      *nats.Conn
	store   *store.Store
	actions scheduler.ActionReader
	service *control.Service
	vault   *secrets.Vault
	api     *httptest.Server
	log     *bytes.Buffer // after the API is closed
	serving atomic.Int64  // requests under way
	witness *witness      // of all answers
}

// newHarness returns a harness whose streams are in memory.
func newHarness(tb testing.TB, change ...func(*rest.Config)) *harness {
	tb.Helper()
	return newWorldIn(tb, jetstream.MemoryStorage, change...)
}

func newWorldIn(tb testing.TB, storage jetstream.StorageType, change ...func(*rest.Config)) *harness {
	tb.Helper()
	w := &harness{t: tb, dir: tb.TempDir(), storage: storage, log: &bytes.Buffer{}, actions: actions.New(web.New(web.Config{}))}
	w.witness = &witness{t: tb, seen: map[string]bool{}, codes: map[string]bool{}}
	w.start(change)
	return w
}

// restart ends the processes of the harness, and starts them again on the same data.
func (w *harness) restart() {
	w.t.Helper()
	w.api.CloseClientConnections()
	w.api.Close()
	w.nc.Close()
	w.server.Shutdown()
	w.server.WaitForShutdown()
	w.start(nil)
}

func (w *harness) start(change []func(*rest.Config)) {
	t := w.t
	t.Helper()
	w.server = storetest.Server(t, func(o *server.Options) { o.StoreDir = w.dir })
	w.nc = storetest.Connect(t, w.server)
	w.store = must.Get(store.Open(t.Context(), w.nc, store.Config{Storage: w.storage}))(t)
	k := must.Get(seal.NewKey("k1"))(t)
	w.vault = secrets.NewVault(secrets.Config{Store: w.store.Secrets(), Keys: seal.NewKeyring(k)})
	hand := engine.New(engine.Config{Store: w.store, Actions: w.actions})
	w.service = control.New(control.Config{Store: w.store, Actions: w.actions, Secrets: w.vault, Try: hand.Try})
	must.Do(t, w.service.EnsureDefault(t.Context()))
	w.serve(change)
}

// serve starts the API on a socket.
func (w *harness) serve(change []func(*rest.Config)) {
	cfg := rest.Config{
		Service: w.service, Version: "1.2.3",
		Logger: slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	for _, f := range change {
		f(&cfg)
	}
	handler := w.witness.over(rest.New(cfg))
	w.api = httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		w.serving.Add(1)
		defer w.serving.Add(-1)
		handler.ServeHTTP(out, r)
	}))
	w.t.Cleanup(w.api.Close)
}

// work runs a worker until the test ends.
func (w *harness) work() {
	w.t.Helper()
	storetest.Run(w.t, engine.New(engine.Config{Store: w.store, Actions: w.actions, Secrets: w.vault}).Run)
}

// target starts an HTTP server that jobs can call, and returns its URL. It
// answers with the status that the query names.
func (w *harness) target() string {
	w.t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("fail") {
			out.WriteHeader(http.StatusTeapot)
		}
		_, _ = io.WriteString(out, "hello")
	}))
	w.t.Cleanup(s.Close)
	return s.URL
}

// await polls until ok, for what tells of itself in no other way.
func (w *harness) await(what string, ok func() bool) {
	w.t.Helper()
	must.Await(w.t, what, ok)
}

// reply is an answer of the API.
type reply struct {
	status int
	header http.Header
	body   string
}

// do sends a request. Headers are "Name: value".
func (w *harness) do(method, path, body string, headers ...string) reply {
	w.t.Helper()
	res := w.send(w.t.Context(), method, path, body, headers)
	defer res.Body.Close()
	data := must.Get(io.ReadAll(res.Body))(w.t)
	if res.Header.Get("X-Ms-Request-Id") == "" || res.Header.Get("Server") != "Carillon/1.2.3" {
		w.t.Errorf("%s %s: headers %v", method, path, res.Header)
	}
	return reply{res.StatusCode, res.Header, string(data)}
}

// send sends a request to a path of the API, or to a URL.
func (w *harness) send(ctx context.Context, method, url, body string, headers []string) *http.Response {
	w.t.Helper()
	if strings.HasPrefix(url, "/") {
		url = w.api.URL + url
	}
	req := must.Get(http.NewRequestWithContext(ctx, method, url, strings.NewReader(body)))(w.t)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	req.Host = req.Header.Get("Host")
	return must.Get(http.DefaultClient.Do(req))(w.t)
}

// liveTail is the answer to a request for a live tail. It ends with the test, or by end.
type liveTail struct {
	status int
	header http.Header
	body   io.ReadCloser
	end    context.CancelFunc
}

// stream begins a live tail.
func (w *harness) stream(url string, headers ...string) liveTail {
	w.t.Helper()
	ctx, end := context.WithCancel(w.t.Context())
	w.t.Cleanup(end)
	res := w.send(ctx, http.MethodGet, url, "", headers)
	w.t.Cleanup(func() { _ = res.Body.Close() })
	return liveTail{res.StatusCode, res.Header, res.Body, end}
}

// listing is a page of anything.
type listing struct {
	Value    []entry `json:"value"`
	NextLink *string `json:"nextLink"`
}

// entry is a job, a collection or a record.
type entry struct {
	ID         string         `json:"id"`
	Name       string         `json:"name"`
	Type       string         `json:"type"`
	Properties map[string]any `json:"properties"`

	End map[string]string `json:"end"` // of a live tail: why nothing more comes
}

// page gets a listing.
func (w *harness) page(path string) listing {
	w.t.Helper()
	r := w.do(http.MethodGet, path, "")
	var l listing
	if err := json.Unmarshal([]byte(r.body), &l); err != nil || r.status != http.StatusOK {
		w.t.Fatalf("%s: %d %v: %.1000s", path, r.status, err, r.body)
	}
	return l
}

// entries gets all pages of a listing, and their number.
func (w *harness) entries(link string) (all []entry, pages int) {
	w.t.Helper()
	for ; link != ""; pages++ {
		if pages > 200 {
			w.t.Fatal("the list has no end")
		}
		l := w.page(link)
		all = append(all, l.Value...)
		if link = ""; l.NextLink != nil {
			link = *l.NextLink
		}
	}
	return all, pages
}

// must sends a request that succeeds.
func (w *harness) must(method, path, body string) {
	w.t.Helper()
	if r := w.do(method, path, body); r.status >= http.StatusBadRequest {
		w.t.Fatalf("%s %s: %d %s", method, path, r.status, r.body)
	}
}
