package control_test

import (
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/actions"
	"github.com/carillon-sched/carillon/actions/web"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/store"
	"github.com/carillon-sched/carillon/store/storetest"
)

// later is a job that does not become due during a test.
const later = `{` + callLater + `}`

// harness is a service on a NATS server, without a worker.
type harness struct {
	t       *testing.T
	nc      *nats.Conn
	store   *store.Store
	service *control.Service
}

// newHarness returns one with the collection "default".
func newHarness(t *testing.T) *harness {
	t.Helper()
	w := &harness{t: t, nc: storetest.Connect(t, storetest.Server(t))}
	w.store = w.open(0)
	w.service = w.over(w.store)
	must.Do(t, w.service.EnsureDefault(t.Context()))
	return w
}

// open opens a store that keeps so many records of each job and outcome; 0: the default.
func (w *harness) open(perJob int64) *store.Store {
	w.t.Helper()
	return must.Get(store.Open(w.t.Context(), w.nc, store.Config{Storage: jetstream.MemoryStorage, HistoryPerJob: perJob}))(w.t)
}

// over returns a service on a store.
func (w *harness) over(st scheduler.Store) *control.Service {
	return control.New(control.Config{Store: st, Actions: actions.New(web.New(web.Config{}))})
}

// put puts a job.
func (w *harness) put(k scheduler.Key, body string) {
	w.t.Helper()
	if _, _, err := w.service.Put(w.t.Context(), control.Edit{Key: k, Body: []byte(body)}); err != nil {
		w.t.Fatal(err)
	}
}

// collection puts a collection.
func (w *harness) collection(name, body string) {
	w.t.Helper()
	if _, _, err := w.service.PutCollection(w.t.Context(), name, []byte(body)); err != nil {
		w.t.Fatal(err)
	}
}

// incarnation returns the UID of a job.
func (w *harness) incarnation(k scheduler.Key) string {
	w.t.Helper()
	st := must.Get(w.store.LoadJob(w.t.Context(), k))(w.t)
	return scheduler.StoredIncarnation(st.Data)
}
