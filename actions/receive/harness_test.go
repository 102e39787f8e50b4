package receive_test

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"

	"github.com/carillon-sched/carillon/actions"
	"github.com/carillon-sched/carillon/actions/builtin"
	"github.com/carillon-sched/carillon/actions/receive"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/secrets"
	"github.com/carillon-sched/carillon/scheduler/secrets/seal"
	"github.com/carillon-sched/carillon/scheduler/source"
	"github.com/carillon-sched/carillon/store"
	"github.com/carillon-sched/carillon/store/storetest"
)

// TestMain checks that no goroutine of a receiver is left.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("github.com/nats-io/nats-server/v2/server/ats.Register.func1"),
		goleak.IgnoreAnyFunction("github.com/nats-io/nats-server/v2/server.(*stream).trySetupSourceConsumer.func3"))
}

// harness is a store with sources, and a process that runs them.
type harness struct {
	*testing.T

	nc    *nats.Conn
	store *store.Store
	vault *secrets.Vault
	cfg   builtin.Config

	// publish is called in place of the store, with the number of the call from 1; nil: the store is called.
	publish func(ctx context.Context, call int, store func() error) error
	calls   atomic.Int64
}

func newHarness(t *testing.T, cfg builtin.Config) *harness {
	t.Helper()
	h := &harness{T: t, nc: storetest.Connect(t, storetest.Server(t)), cfg: cfg}
	if cfg.SourceSubjects == nil {
		h.cfg.SourceSubjects = []string{">"}
	}
	h.store = must.Get(store.Open(t.Context(), h.nc, store.Config{Storage: jetstream.MemoryStorage}))(t)
	h.vault = secrets.NewVault(secrets.Config{Store: h.store.Secrets(), Keys: seal.NewKeyring(must.Get(seal.NewKey("k"))(t))})
	return h
}

// start runs the sources in another process, until the test ends or stop is called.
func (h *harness) start() (m *receive.Manager, stop func()) {
	h.Helper()
	h.cfg.Conn = h.nc
	registry := builtin.New(h.cfg)
	h.Cleanup(registry.Close)
	m = receive.New(receive.Config{
		Receivers: actions.Readers[receive.Receiver](registry), Watch: h.store.Sources().Watch, Publish: h.store1,
		Secrets: h.vault, Logger: storetest.Logger(h),
	})
	return m, storetest.Run(h, m.Run)
}

// store1 stores an event.
func (h *harness) store1(
	ctx context.Context, t scheduler.Topic, header map[string][]string, body []byte,
) (sequence uint64, duplicate bool, err error) {
	call, publish := int(h.calls.Add(1)), func() (err error) {
		sequence, duplicate, err = h.store.PublishEvent(ctx, t, header, body)
		return err
	}
	if h.publish != nil {
		return sequence, duplicate, h.publish(ctx, call, publish)
	}
	return sequence, duplicate, publish()
}

var errCrash = errors.New("crash")

// crash stops a process between storing the first event and settling its message.
func (h *harness) crash() (crashed chan struct{}) {
	crashed = make(chan struct{})
	h.publish = func(ctx context.Context, call int, store func() error) error {
		if call > 1 {
			return store()
		}
		must.Do(h, store())
		close(crashed)
		<-ctx.Done()
		return errCrash
	}
	return crashed
}

func key(name string) scheduler.Key { return scheduler.Key{Collection: "default", Job: name} }

// put puts a source, as the API does.
func (h *harness) put(name, text string) *source.Source {
	h.Helper()
	bucket, k := h.store.Sources(), key(name)
	st, err := bucket.Load(h.Context(), source.StoredName(k))
	var before *source.Source
	if !errors.Is(err, scheduler.ErrNotFound) {
		must.Do(h, err)
		before = must.Get(source.Decode(k, st.Revision, st.Data, h.vault))(h)
	}
	s := must.Get(source.Read(k, must.Get(document.Parse([]byte(text)))(h), nil))(h)
	s = s.Replacing(before, strconv.FormatInt(time.Now().UnixNano(), 16), time.Now())
	s.Revision = must.Get(bucket.Save(h.Context(), source.StoredName(k), must.Get(s.Encode(h.vault))(h), st.Revision))(h)
	return s
}

// remove deletes a source.
func (h *harness) remove(s *source.Source) {
	h.Helper()
	must.Do(h, h.store.Sources().Remove(h.Context(), source.StoredName(s.Key), s.Revision))
}

// events returns the events of a source, the oldest first.
func (h *harness) events(name string) (all []*scheduler.Event) {
	h.Helper()
	k := key(name)
	must.Do(h, h.store.RecentEvents(h.Context(), scheduler.Topic{Collection: k.Collection, Name: k.Job}, 0, func(e *scheduler.Event) bool {
		all = append([]*scheduler.Event{e}, all...)
		return true
	}))
	return all
}

// await waits for n events of a source and returns them.
func (h *harness) await(name string, n int) (all []*scheduler.Event) {
	h.Helper()
	must.Await(h, strconv.Itoa(n)+" events of "+name, func() bool {
		all = h.events(name)
		return len(all) >= n
	})
	return all
}

// want checks the data of the events of a source.
func (h *harness) want(name string, data ...string) (all []*scheduler.Event) {
	h.Helper()
	all = h.await(name, len(data))
	if len(all) != len(data) {
		h.Fatalf("%d events, want %d", len(all), len(data))
	}
	for i, e := range all {
		if string(e.Data) != data[i] {
			h.Errorf("event %d: got %s, want %s", i, e.Data, data[i])
		}
	}
	return all
}

// failure waits for an error of a source.
func (h *harness) failure(m *receive.Manager, name string) (status source.Status) {
	h.Helper()
	must.Await(h, "an error of "+name, func() bool {
		status, _ = m.Status(key(name))
		return status.LastError != ""
	})
	return status
}

// attribute checks an attribute of an event.
func (h *harness) attribute(e *scheduler.Event, name, want string) {
	h.Helper()
	if e.Attributes[name] != want {
		h.Errorf("attribute %s: got %q, want %q; all: %v", name, e.Attributes[name], want, e.Attributes)
	}
}
