package tracing_test

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/actions/builtin"
	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/cmd/carillon/node"
	"github.com/carillon-sched/carillon/cmd/carillon/node/nodetest"
	"github.com/carillon-sched/carillon/cmd/carillon/printer"
	"github.com/carillon-sched/carillon/cmd/carillon/tracing"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus"
	"github.com/carillon-sched/carillon/integration/emulator/storagequeue"
	"github.com/carillon-sched/carillon/integration/testkit/logtest"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/secrets/seal"
)

// harness is a scheduler that sends its traces to a collector, with emulators to deliver to.
type harness struct {
	t     *testing.T
	spans *collected
	bus   *servicebus.Server
	queue *storagequeue.Server
	api   string
	nc    *nats.Conn
	log   *logtest.Log
}

func newHarness(t *testing.T) *harness {
	t.Helper()
	w := &harness{t: t, spans: collect(t), log: &logtest.Log{}}
	w.bus = must.Get(servicebus.Start(t.Context(), servicebus.Config{Addr: "127.0.0.1:0", HTTPAddr: "127.0.0.1:0", Auth: servicebus.Lenient, AutoCreate: true}))(t)
	t.Cleanup(func() { _ = w.bus.Close() })
	w.queue = must.Get(storagequeue.Start(t.Context(), storagequeue.Config{Addr: "127.0.0.1:0", Keys: storagequeue.Lenient, AutoCreate: true}))(t)
	t.Cleanup(func() { _ = w.queue.Close() })
	key := must.Get(seal.NewKey("test"))(t)
	plain := slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	sender := must.Get(tracing.Start(t.Context(), tracing.Config{Version: "test", Logger: plain}))(t)
	t.Cleanup(func() { sender.Close(context.WithoutCancel(t.Context())) })
	log := sender.Logger(plain)
	records := printer.NewLog(log, true)
	t.Cleanup(records.End)
	cfg := node.Config{
		Tracer: sender.Tracer(), Logger: log, Keys: seal.NewKeyring(key), Limits: scheduler.Limits{MinRetryInterval: time.Second},
		Delivery: builtin.Config{
			ServiceBus:    egress.Endpoints{Default: "amqp://" + w.bus.Addr()},
			StorageQueues: egress.Endpoints{Default: w.queue.URL() + "/{name}"},
			AnyKey:        true,
		},
	}
	cfg.Worker.OnRecord = records.Take
	s := nodetest.Start(t, cfg, nil)
	w.api, w.nc = s.API, s.Conn
	return w
}

// ask sends a request with headers, and returns the status.
func (w *harness) ask(method, path, body string, header http.Header) int {
	w.t.Helper()
	request := must.Get(http.NewRequestWithContext(w.t.Context(), method, w.api+path, strings.NewReader(body)))(w.t)
	maps.Copy(request.Header, header)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		w.t.Fatal(err)
	}
	must.Do(w.t, answer.Body.Close())
	return answer.StatusCode
}

// put puts a job with the default headers, which must be taken.
func (w *harness) put(job, body string, header http.Header) {
	w.t.Helper()
	if status := w.ask(http.MethodPut, "/jobCollections/default/jobs/"+job, body, header); status != http.StatusCreated {
		w.t.Fatalf("put %s: %d", job, status)
	}
}

// next waits for what a target gets.
func next[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case got := <-from:
		return got
	case <-time.After(20 * time.Second):
		t.Fatal("the target gets nothing")
		panic("unreachable")
	}
}
