package natsmsg_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/actions/actiontest"
	"github.com/carillon-sched/carillon/actions/natsmsg"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// run starts a server on a free port of the loopback address.
func run(tb testing.TB, change ...func(*server.Options)) *server.Server {
	tb.Helper()
	o := &server.Options{Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: tb.TempDir(), NoLog: true, NoSigs: true}
	for _, f := range change {
		f(o)
	}
	s := must.Get(server.NewServer(o))(tb)
	s.Start()
	tb.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(10 * time.Second) {
		tb.Fatal("the server does not get ready")
	}
	return s
}

// connect connects in process, which needs no port.
func connect(tb testing.TB, s *server.Server, opts ...nats.Option) *nats.Conn {
	tb.Helper()
	quiet := nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {})
	nc := must.Get(nats.Connect("", append([]nats.Option{quiet, nats.InProcessServer(s)}, opts...)...))(tb)
	tb.Cleanup(nc.Close)
	return nc
}

// client returns a client that is closed when the test ends.
func client(tb testing.TB, cfg natsmsg.Config) *natsmsg.Client {
	tb.Helper()
	c := natsmsg.New(cfg)
	tb.Cleanup(c.Close)
	return c
}

// stream creates a stream in memory.
func stream(tb testing.TB, nc *nats.Conn, cfg jetstream.StreamConfig) jetstream.Stream {
	tb.Helper()
	js := must.Get(jetstream.New(nc))(tb)
	cfg.Storage = jetstream.MemoryStorage
	return must.Get(js.CreateStream(tb.Context(), cfg))(tb)
}

// subscribe returns a subscription that the server knows of.
func subscribe(tb testing.TB, nc *nats.Conn, subject string) *nats.Subscription {
	tb.Helper()
	sub := must.Get(nc.SubscribeSync(subject))(tb)
	must.Do(tb, nc.Flush())
	return sub
}

// next returns the next message of a subscription.
func next(tb testing.TB, sub *nats.Subscription) *nats.Msg {
	tb.Helper()
	return must.Get(sub.NextMsg(20 * time.Second))(tb)
}

// attempt is the second try of an occurrence.
func attempt() scheduler.Attempt {
	a := actiontest.Attempt()
	a.Timeout = 10 * time.Second
	return a
}

// read reads an action whose member natsMessage is the given JSON.
func read(tb testing.TB, c *natsmsg.Client, r *document.Reader, body string) (scheduler.Action, error) {
	tb.Helper()
	a, _, err := actiontest.ReadWith(tb, r, c, "natsMessage", `{"natsMessage":`+body+`}`)
	return a, err
}

// invoke runs one attempt of an action that is right.
func invoke(tb testing.TB, c *natsmsg.Client, at scheduler.Attempt, body string) scheduler.Result {
	tb.Helper()
	return invokeIn(tb.Context(), tb, c, at, body)
}

func invokeIn(ctx context.Context, tb testing.TB, c *natsmsg.Client, at scheduler.Attempt, body string) scheduler.Result {
	tb.Helper()
	action := must.Get(read(tb, c, document.NewReader(), body))(tb)
	return actiontest.Invoke(ctx, action, at)
}

// outcome is what a test wants of a result.
type outcome struct {
	status int
	failed bool
	final  bool
	text   string // part of the message
}

func check(tb testing.TB, got scheduler.Result, want outcome) {
	tb.Helper()
	if got.Status != want.status || got.Failed != want.failed || got.Final != want.final {
		tb.Errorf("status %d, failed %t, final %t; want %d, %t, %t: %s",
			got.Status, got.Failed, got.Final, want.status, want.failed, want.final, got.Message)
	}
	if want.status == 0 && want.final && !got.SkipCircuit {
		tb.Errorf("%q is final without an answer, so it has not reached for the server", got.Message)
	}
	if !strings.HasPrefix(got.Message, "NatsMessage Action - ") || !strings.Contains(got.Message, want.text) {
		tb.Errorf("message %q, want %q in it", got.Message, want.text)
	}
}

// newReader returns a reader of a document that is new, or was stored.
func newReader(stored bool) *document.Reader {
	r := document.NewReader()
	r.Stored = stored
	return r
}
