package natsapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api"
	"github.com/carillon-sched/carillon/scheduler/fairqueue"
	"github.com/carillon-sched/carillon/scheduler/service"
	"github.com/carillon-sched/carillon/scheduler/throttle"
	"github.com/carillon-sched/carillon/scheduler/tracing"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// APIConfig says how the micro service works. Conn and Service are required.
type APIConfig struct {
	Conn    *nats.Conn
	Service *service.Service

	// Prefix begins the subjects, as it does those of the store. Default
	// "carillon".
	Prefix string

	// Version is what `nats micro ls` shows. What is not a semantic version
	// is made one: dev becomes 0.0.0+dev. Default dev.
	Version string

	// Concurrency is how many requests are worked on at once; more wait
	// their turn. Default 256.
	Concurrency int

	// Observe is called after each request but live tails, with the endpoint's
	// name, the status as in HTTP, and how long it took since it came. It must
	// not block. Default: none.
	Observe func(endpoint string, status int, took time.Duration)

	// Tracer tells of requests but live tails. Default: nothing is traced.
	Tracer *tracing.Tracer

	// Logger takes what callers are not told. Default: discard.
	Logger *slog.Logger
}

// API is the micro service "carillon". Its replicas share the requests. A
// request goes to one of
//
//	<prefix>.api.<verb>
//	<prefix>.api.<verb>.<collection>
//	<prefix>.api.<verb>.<collection>.<job>
//	<prefix>.api.<verb>.<id>
//	<prefix>.api.<verb>.<name>
//
// with the subjects of the table of operations ([api.Operations]): <id> names an
// operation on many jobs, <name> a shared secret. If an operation is Scoped, a
// collection may follow. The body is the document of the operation. An operation
// without a document takes an object with its query parameters, or nothing.
//
// The JSON is the same as in the REST API. history and the lists take a body
// {"$top": 100, "$skip": 0, "$filter": "status eq Failed"} or none; history and
// list take "$skiptoken" too, the place after which to begin, list what
// [view.JobSearch] has, and history "uid" and "earlier". audit takes "kind", "who", "op", "since" and "until", and no $filter.
// nextLink is the body that
// asks for the next page, or null. A page ends early when more would not fit
// into a message.
//
// Put, patch, delete, run, enable, disable and get, and those of collections, take a condition in the headers
// Carillon-If-Match and Carillon-If-None-Match, which mean what they do in HTTP without "Carillon-" ([scheduler.Condition]):
// 412 says that it did not hold, and 304, to get, that nothing is new. Put and patch take Carillon-Strict and
// Carillon-Dry-Run, true or false. Names are read in any letter case. An answer that shows a job or a collection has its
// ETag in the header Carillon-ETag, too.
//
// Follow is answered with more than one message. It takes "after", the sequence of the last record that the caller
// has, "$filter", "uid" and "earlier". The first message says in Carillon-Sequence after which record the tail begins, in
// Carillon-First-Sequence which is the first one that is kept, and in Carillon-Tail what the tail is called; then each
// record is a message, with its own sequence in Carillon-Sequence; an empty message every 15 seconds is a sign of life.
// Where an empty one has a Carillon-Sequence, nothing up to there was wanted since the last record. Carillon-Number counts
// the messages from 0: whoever misses one asks again, after the last record that came. The last message has Carillon-Tail:
// "over" says that nothing more can come, and the body why ([view.Ending]); "again" that the minute of a tail is up, or its
// replica stops. Whoever listens no longer says so on <prefix>.api.unfollow.<what the tail is called>.
//
// The header Carillon-Status has the number that REST would answer with: 201
// when put has made the job. An error is told as micro services do, in the
// headers Nats-Service-Error-Code (that number) and Nats-Service-Error, with
// the error document ([view.Error]) as the body.
//
// Requests are answered side by side, so the service's own statistics count
// them but know neither errors nor times; these are in each endpoint's data.
type API struct {
	cfg      APIConfig
	log      *slog.Logger
	queue    *fairqueue.Queue
	counters map[string]*counters
	crew     *crew
	tails    *throttle.Places

	work    context.Context //nolint:containedctx // of requests; outlives a stop by the grace
	abandon context.CancelFunc

	mu      sync.Mutex
	closed  bool
	answers sync.WaitGroup // requests under way
}

// How many requests may wait for their turn, and how many of one caller. They
// are in memory, 16 KB each at most.
const (
	waiting         = 4096
	waitingOfCaller = 1024
)

// NewAPI returns a service that does nothing before Run.
func NewAPI(cfg APIConfig) *API {
	if cfg.Prefix == "" {
		cfg.Prefix = "carillon"
	}
	if cfg.Concurrency <= 0 {
		cfg.Concurrency = 256
	}
	if cfg.Observe == nil {
		cfg.Observe = func(string, int, time.Duration) {}
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return &API{
		cfg: cfg, log: cfg.Logger, counters: map[string]*counters{}, crew: newCrew(), tails: throttle.NewPlaces(maxTails),
		queue: fairqueue.New(fairqueue.Config{Slots: cfg.Concurrency, PerCaller: waitingOfCaller, Waiting: waiting}),
	}
}

// Run answers requests until ctx is done. Then it takes no more, answers those
// under way, and returns nil. It can be called once.
func (a *API) Run(ctx context.Context) error {
	a.work, a.abandon = context.WithCancel(context.WithoutCancel(ctx))
	defer a.abandon()
	defer a.crew.dismiss()
	all := endpoints()
	for _, e := range all {
		a.counters[e.name] = &counters{}
	}
	svc, err := micro.AddService(a.cfg.Conn, micro.Config{
		Name: "carillon", Version: semantic(a.cfg.Version), Description: "Job scheduler on JetStream",
		StatsHandler: func(e *micro.Endpoint) any { return a.counters[e.Name].snapshot() },
	})
	if err != nil {
		return fmt.Errorf("micro service: %w", err)
	}
	for _, e := range all {
		if err := a.add(ctx, svc, e); err != nil {
			_ = svc.Stop()
			return fmt.Errorf("micro service: endpoint %s: %w", e.name, err)
		}
	}
	<-ctx.Done()
	a.stop(svc)
	return nil
}

// add subscribes to an endpoint's subject. Live tails end with ctx, other requests with the service.
func (a *API) add(ctx context.Context, svc micro.Service, e endpoint) error {
	handle := func(m micro.Request) { a.accept(e, m) } //nolint:contextcheck // see above
	if e.live {
		handle = func(m micro.Request) { a.acceptTail(ctx, e, m) }
	}
	return svc.AddEndpoint(e.name, micro.HandlerFunc(handle), micro.WithEndpointSubject(a.cfg.Prefix+".api."+e.subject),
		micro.WithEndpointMetadata(map[string]string{"answers": e.answers}))
}

// flushPatience is how long a stop waits for the server to take note.
const flushPatience = 2 * time.Second

// stop takes no more requests and sees those under way to their end.
func (a *API) stop(svc micro.Service) {
	if err := svc.Stop(); err != nil {
		a.log.Warn("micro service not stopped in good order", "err", err)
	}
	_ = a.cfg.Conn.FlushTimeout(flushPatience) // the server sends no more; what it has sent is here
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	late := time.AfterFunc(stopGrace, a.abandon)
	defer late.Stop()
	a.answers.Wait()
}

// begin counts a request; false when the service has stopped.
func (a *API) begin() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.closed {
		a.answers.Add(1)
	}
	return !a.closed
}

// accept has a goroutine answer a request, in which it waits for its turn: no
// caller keeps another one waiting for long.
func (a *API) accept(e endpoint, m micro.Request) {
	if !a.takes(m) {
		return
	}
	if !a.begin() {
		a.reply(m, answer{err: fmt.Errorf("%w: this replica is stopping", scheduler.ErrUnavailable)})
		return
	}
	if err := scheduler.CheckSize(len(m.Data())); err != nil { // before it waits in memory
		defer a.answers.Done()
		a.reply(m, answer{err: err})
		return
	}
	a.crew.do(func() {
		defer a.answers.Done()
		a.reply(m, a.answer(e, m))
	})
}

// takes reports whether a request is one, and its answer one that may be sent.
func (a *API) takes(m micro.Request) bool {
	switch {
	case !mayAnswer(m.Reply(), a.cfg.Prefix):
		a.log.Warn("request left alone: its answer would be an order to the scheduler or the server", "subject", m.Subject(),
			"reply", m.Reply())
		return false
	case m.Reply() == "": // nothing proves then that its header about the user is the server's
		a.log.Warn("request ignored: it has no reply subject", "subject", m.Subject())
		return false
	}
	return true
}

// answer answers a request when it is its turn.
func (a *API) answer(e endpoint, m micro.Request) (ans answer) {
	came := time.Now()
	defer func() { a.cfg.Observe(e.name, ans.code(), time.Since(came)) }()
	release, err := a.queue.Acquire(a.work, caller(m.Reply()))
	if err != nil {
		return answer{err: fmt.Errorf("%w: %w", scheduler.ErrUnavailable, err)}
	}
	defer release()
	c := a.counters[e.name]
	began := c.begin()
	ctx, span := a.cfg.Tracer.Call(a.work, e.name, m.Headers())
	ans = a.call(ctx, e, m)
	span.Replied(ans.code())
	c.end(began, ans.err)
	return ans
}

// call answers a request. A panic is answered like any other defect.
func (a *API) call(ctx context.Context, e endpoint, m micro.Request) (ans answer) {
	defer func() {
		if p := recover(); p != nil {
			a.log.ErrorContext(ctx, "request panicked", "subject", m.Subject(), "err", p, "stack", string(debug.Stack()))
			ans = answer{err: errPanicked}
		}
	}()
	verb, name, _ := strings.Cut(strings.TrimPrefix(m.Subject(), a.cfg.Prefix+".api."), ".")
	how, err := orderOf(m, e.op)
	if err != nil {
		return answer{err: err}
	}
	return e.call(asking(ctx, m), a.cfg.Service.If(how.when), request{
		op: e.op, verb: verb, name: name, body: m.Data(), how: how, room: int(a.cfg.Conn.MaxPayload()) - replyMargin,
	})
}

// orderOf reads the headers of a request, and refuses those that its operation, nil for none, cannot heed.
func orderOf(m micro.Request, op *api.Operation) (order, error) {
	if m.Headers().Get(traceHeader) != "" { // the trace, not the audit log, would get who asked
		return order{}, scheduler.Invalid(traceHeader, "is not allowed in requests; remove the header")
	}
	how, err := readOrder(m.Headers())
	if err == nil && op != nil {
		err = how.checkFor(op)
	}
	return how, err
}

// asking notes who asks.
func asking(ctx context.Context, m micro.Request) context.Context {
	header := func(name string) string { return m.Headers().Get(name) }
	return withCaller(service.WithCaller(ctx, caller(m.Reply())), m.Reply(), header)
}

// caller tells callers apart by where they want their answers: a connection has one inbox, and a subject below it for
// each request.
func caller(reply string) string {
	if at := strings.LastIndexByte(reply, '.'); at > 0 {
		return reply[:at]
	}
	return reply
}

// errPanicked stands for a panic that has been logged.
var errPanicked = errors.New("panic")

// replyMargin is kept free in a reply for what is around the values of a page.
const replyMargin = 4 << 10

// replies are messages that were sent, and are filled again.
var replies sync.Pool

// statusHeader has the status that REST would answer with.
const statusHeader = "Carillon-Status"

// reply sends the answer, unless nobody waits for it.
func (a *API) reply(m micro.Request, ans answer) {
	if m.Reply() == "" {
		return
	}
	out, ok := replies.Get().(*nats.Msg)
	if !ok {
		out = &nats.Msg{Header: make(nats.Header, 1)}
	}
	defer func() {
		clear(out.Header)
		out.Data = nil
		replies.Put(out)
	}()
	out.Subject, out.Data = m.Reply(), ans.body
	out.Header.Set(statusHeader, strconv.Itoa(ans.code()))
	if failed, ok := errors.AsType[*scheduler.PreconditionError](ans.err); ok {
		ans.etag = failed.ETag
	}
	if ans.etag != "" {
		out.Header.Set(etagHeader, ans.etag)
	}
	if ans.err != nil {
		d := view.DescribeError(ans.err)
		if d.Status == 500 {
			a.log.Error("request failed because of a defect", "subject", m.Subject(), "err", ans.err)
		}
		out.Data = view.JSON(d.Document())
		out.Header.Set(micro.ErrorCodeHeader, strconv.Itoa(d.Status))
		out.Header.Set(micro.ErrorHeader, oneLine(d.Message))
	}
	if err := a.cfg.Conn.PublishMsg(out); err != nil {
		a.log.Warn("reply not sent", "subject", m.Subject(), "err", err)
	}
}

// oneLine makes a text fit for a header.
func oneLine(s string) string {
	return clip(strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, s))
}
