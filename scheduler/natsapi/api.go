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
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/fairqueue"
	"github.com/carillon-sched/carillon/scheduler/flow"
	"github.com/carillon-sched/carillon/scheduler/throttle"
	"github.com/carillon-sched/carillon/scheduler/tracing"
)

// APIConfig configures the micro service. Conn and Service are required.
type APIConfig struct {
	Conn    *nats.Conn
	Service *control.Service

	// Prefix is the prefix of the subjects, as in the store. Default: "carillon".
	Prefix string

	// Version is shown by `nats micro ls`. A version that is not semantic is converted: dev becomes 0.0.0+dev. Default:
	// dev.
	Version string

	// Concurrency limits the requests in progress; more requests queue. Default: 256.
	Concurrency int

	// Observe is called after each request except live tails, with the endpoint's name, the status as in HTTP, and the
	// time since the request arrived. It must not block. Default: no-op.
	Observe func(endpoint string, status int, took time.Duration)

	// Tracer creates spans for requests except live tails. Default: no tracing.
	Tracer *tracing.Tracer

	// Logger receives errors that the answers omit. Default: discard.
	Logger *slog.Logger
}

// API is the micro service "carillon". Its replicas share the requests. A request has one of these subjects:
//
//	<prefix>.api.<verb>
//	<prefix>.api.<verb>.<collection>
//	<prefix>.api.<verb>.<collection>.<job>
//	<prefix>.api.<verb>.<id>
//	<prefix>.api.<verb>.<name>
//
// The table of operations ([api.Operations]) defines the subjects: <id> is an operation on many jobs, <name> a shared
// secret. If an operation is Scoped, a collection may follow. The body is the document of the operation. An operation
// without a document accepts an object with its query parameters, or an empty body. The JSON is the same as in the REST
// API.
//
// # Lists
//
// history and the lists accept {"$top": 100, "$skip": 0, "$filter": "status eq Failed"} or an empty body. In addition:
//
//	history   "$skiptoken", "uid", "earlier"
//	list      "$skiptoken" and the fields of [v1.JobSearch]
//	audit     "kind", "who", "op", "since", "until"; no "$filter"
//
// "$skiptoken" is the position after which the page begins. nextLink is the body that requests the next page, or null.
// A page ends early if more entries would not fit into a message.
//
// # Conditions and options
//
// Put, patch, delete, run, enable, disable and get of jobs and collections accept a condition in the headers
// Carillon-If-Match and Carillon-If-None-Match, which correspond to HTTP's If-Match and If-None-Match
// ([scheduler.Condition]). Status 412 reports a failed condition; 304 answers a get whose caller has the current
// version. Put and patch accept Carillon-Strict and Carillon-Dry-Run, true or false. Header names are case-insensitive.
// An answer that shows a job or a collection has its ETag in the header Carillon-ETag.
//
// # Live tails
//
// A follow request has several answers. Its body accepts "after", the sequence of the caller's last record, "$filter",
// "uid" and "earlier".
//
//	first message   Carillon-Sequence: the tail begins after this record; Carillon-First-Sequence: the first retained
//	                record; Carillon-Tail: the id of the tail
//	record          Carillon-Sequence: its sequence
//	empty message   a keepalive every 15 seconds; with Carillon-Sequence: no record up to there matched
//	last message    Carillon-Tail: "over" ends the history, with the cause in the body ([v1.NewEnd]); "again" ends
//	                this tail after a minute or at a shutdown of its replica, and the caller sends the next request
//
// Carillon-Number counts the messages of a tail from 0. A caller that misses one sends a new request with its last
// record. A caller that stops reading publishes to <prefix>.api.unfollow.<id>.
//
// # Status and errors
//
// The header Carillon-Status has the status of the REST API, such as 201 for a created job. An error has the headers of
// NATS micro services, Nats-Service-Error-Code (the status) and Nats-Service-Error, and the error document
// ([v1.Error]) as its body.
//
// Requests run concurrently, so the framework's own statistics count them without errors and times. The data of each
// endpoint has both.
type API struct {
	cfg      APIConfig
	log      *slog.Logger
	queue    *fairqueue.Queue
	counters map[string]*counters
	pool     *flow.WorkerPool[func()]
	tails    *throttle.Places
	open     chan struct{}

	work    context.Context //nolint:containedctx // of requests; outlives a stop by the grace
	abandon context.CancelFunc

	mu      sync.Mutex
	closed  bool
	answers sync.WaitGroup // requests in progress
}

// Limits of queued requests, in total and per caller. They wait in memory, 16 KB each at most.
const (
	waiting         = 4096
	waitingOfCaller = 1024
)

// idleMost limits the idle goroutines, which have about 16 KB of stack each.
const idleMost = 64

// NewAPI returns a service that is idle until Run.
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
		cfg: cfg, log: cfg.Logger, counters: map[string]*counters{}, tails: throttle.NewPlaces(maxTails),
		open: make(chan struct{}), pool: flow.NewWorkerPool(idleMost, func(task func()) { task() }),
		queue: fairqueue.New(fairqueue.Config{Slots: cfg.Concurrency, PerCaller: waitingOfCaller, Waiting: waiting}),
	}
}

// Open returns a channel that is closed once the server delivers requests.
func (a *API) Open() <-chan struct{} { return a.open }

// Run answers requests until ctx is done. Then it accepts no more, finishes those in progress, and returns nil. Call it
// once.
func (a *API) Run(ctx context.Context) error {
	a.work, a.abandon = context.WithCancel(context.WithoutCancel(ctx))
	defer a.abandon()
	defer a.pool.End()
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
	_ = a.cfg.Conn.FlushTimeout(flushPatience) // without a connection, the subscriptions follow with the next one
	close(a.open)
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

// flushPatience limits the wait for the server to process subscriptions, or their end.
const flushPatience = 2 * time.Second

// stop accepts no more requests and finishes those in progress.
func (a *API) stop(svc micro.Service) {
	if err := svc.Stop(); err != nil {
		a.log.Warn("micro service not stopped gracefully", "err", err)
	}
	_ = a.cfg.Conn.FlushTimeout(flushPatience) // the server sends no more; earlier messages have arrived
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	late := time.AfterFunc(stopGrace, a.abandon)
	defer late.Stop()
	a.answers.Wait()
}

// begin counts a request; false after the service has stopped.
func (a *API) begin() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.closed {
		a.answers.Add(1)
	}
	return !a.closed
}

// accept answers a request in a goroutine, where it waits for its turn, so that no caller blocks another one for long.
func (a *API) accept(e endpoint, m micro.Request) {
	if !a.takes(m) {
		return
	}
	if !a.begin() {
		a.reply(m, answer{err: fmt.Errorf("%w: this replica is stopping", scheduler.ErrUnavailable)})
		return
	}
	if err := scheduler.CheckSize(len(m.Data())); err != nil { // before the request is queued
		defer a.answers.Done()
		a.reply(m, answer{err: err})
		return
	}
	a.pool.Run(func() {
		defer a.answers.Done()
		a.reply(m, a.answer(e, m))
	})
}

// takes reports whether the message is a request whose answer may be sent.
func (a *API) takes(m micro.Request) bool {
	switch {
	case !mayAnswer(m.Reply(), a.cfg.Prefix):
		a.log.Warn("request ignored: its reply subject would be a command to the scheduler or the server", "subject", m.Subject(),
			"reply", m.Reply())
		return false
	case m.Reply() == "": // without a reply subject, a client could have forged the header with the user
		a.log.Warn("request ignored: it has no reply subject", "subject", m.Subject())
		return false
	}
	return true
}

// answer waits for the request's turn and answers it.
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

// call answers a request. It converts a panic to an internal error.
func (a *API) call(ctx context.Context, e endpoint, m micro.Request) (ans answer) {
	defer func() {
		if p := recover(); p != nil {
			a.log.ErrorContext(ctx, "request panicked", "subject", m.Subject(), "err", p, "stack", string(debug.Stack()))
			ans = answer{err: errPanicked}
		}
	}()
	how, err := orderOf(m, e.op)
	if err != nil {
		return answer{err: err}
	}
	r := a.request(e, m)
	r.how = how
	return e.call(asking(ctx, m), a.cfg.Service.If(how.when), r)
}

// request returns the parts of a request.
func (a *API) request(e endpoint, m micro.Request) request {
	verb, name, _ := strings.Cut(strings.TrimPrefix(m.Subject(), a.cfg.Prefix+".api."), ".")
	return request{op: e.op, verb: verb, name: name, body: m.Data(), room: int(a.cfg.Conn.MaxPayload()) - replyMargin}
}

// orderOf parses the headers of a request. It refuses headers that op, nil for none, does not support.
func orderOf(m micro.Request, op *api.Operation) (order, error) {
	if m.Headers().Get(traceHeader) != "" { // the audit log would lack the caller, whom only the trace would have
		return order{}, scheduler.Invalid(traceHeader, "is not allowed in requests; remove the header")
	}
	how, err := readOrder(m.Headers())
	if err == nil && op != nil {
		err = how.checkFor(op)
	}
	return how, err
}

// asking stores the caller in the context.
func asking(ctx context.Context, m micro.Request) context.Context {
	header := func(name string) string { return m.Headers().Get(name) }
	return withCaller(control.WithCaller(ctx, caller(m.Reply())), m.Reply(), header)
}

// caller identifies callers by their reply subjects: a connection has one inbox, with a subject below it for each
// request.
func caller(reply string) string {
	if at := strings.LastIndexByte(reply, '.'); at > 0 {
		return reply[:at]
	}
	return reply
}

// errPanicked replaces a panic, which has been logged.
var errPanicked = errors.New("panic")

// replyMargin is the space for the envelope of a page's values in a reply.
const replyMargin = 4 << 10

// statusHeader has the status of the REST API.
const statusHeader = "Carillon-Status"

// reply sends the answer, if the request has a reply subject.
func (a *API) reply(m micro.Request, ans answer) {
	if m.Reply() == "" {
		return
	}
	out := &nats.Msg{Subject: m.Reply(), Data: ans.body, Header: nats.Header{statusHeader: {strconv.Itoa(ans.code())}}}
	if failed, ok := errors.AsType[*scheduler.PreconditionError](ans.err); ok {
		ans.etag = failed.ETag
	}
	if ans.etag != "" {
		out.Header.Set(etagHeader, ans.etag)
	}
	if ans.err != nil {
		d := v1.DescribeError(ans.err)
		if d.Status == 500 {
			a.log.Error("request failed because of a defect", "subject", m.Subject(), "err", ans.err)
		}
		out.Data = v1.JSON(d.Document())
		out.Header.Set(micro.ErrorCodeHeader, strconv.Itoa(d.Status))
		out.Header.Set(micro.ErrorHeader, oneLine(d.Message))
	}
	if err := a.cfg.Conn.PublishMsg(out); err != nil {
		a.log.Warn("reply not sent", "subject", m.Subject(), "err", err)
	}
}

// oneLine makes a text valid in a header.
func oneLine(s string) string {
	return clip(strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, s))
}
