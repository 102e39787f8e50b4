package natsapi

import (
	"context"
	"errors"
	"hash/maphash"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/flow"
	"github.com/carillon-sched/carillon/scheduler/tracing"
)

// Source delivers published specs and stores their results. Package store implements it.
type Source interface { //nolint:interfacebloat // all that specs need
	// DeliverSpecs passes specs to take until ctx is done, at most room at a time. wake signals new room. take must not
	// block.
	DeliverSpecs(ctx context.Context, wake <-chan struct{}, room func() int, take func(scheduler.PublishedSpec)) error

	// PublishResult stores a result event.
	PublishResult(ctx context.Context, verdict, name string, body []byte) error

	// EraseSpec overwrites and removes a spec.
	EraseSpec(ctx context.Context, sequence uint64) error

	// IsFirstSpec reports whether the spec with that sequence is the first unprocessed one of its name, in any process.
	IsFirstSpec(ctx context.Context, name string, sequence uint64) (bool, error)

	// FirstSpec returns the sequence of the first unprocessed spec, or of the next one to be published.
	FirstSpec(ctx context.Context) (uint64, error)

	// ClaimSpec claims the ID for a spec, or returns the result of the spec on the same subject that has it.
	ClaimSpec(ctx context.Context, subject, id string, sequence uint64) (result []byte, err error)

	// SettleClaim stores the result of a spec that has claimed its ID.
	SettleClaim(ctx context.Context, subject, id string, sequence uint64, result []byte) error

	// MarkSpec records that a process has started a spec alone, and returns how many have.
	MarkSpec(ctx context.Context, sequence uint64) (marks int, err error)

	// UnmarkSpec removes the mark of this process.
	UnmarkSpec(ctx context.Context, sequence uint64) error
}

// IngestConfig configures an Ingest. Service and Source are required.
type IngestConfig struct {
	Service *control.Service
	Source  Source

	// Concurrency limits the specs in progress; specs of one job run one after the other. Increase it if the store is
	// far away. Default: 256.
	Concurrency int

	// Hold limits the specs in memory, of up to 16 KB each. Beyond 16 MB of bodies, this process requests no more.
	// Default: 4096.
	Hold int

	// Observe is called after each spec with its verb ("other" for an unknown one) and its verdict, accepted or
	// rejected. It must not block. Default: no-op.
	Observe func(verb, verdict string)

	// Tracer creates spans for specs. Default: no tracing.
	Tracer *tracing.Tracer

	// Logger receives errors that no result reports. Default: discard.
	Logger *slog.Logger
}

// Ingest processes published specs. Any number of processes share the work.
type Ingest struct {
	cfg    IngestConfig
	log    *slog.Logger
	buffer *flow.Buffer[*item]
	queues []queue
	seed   maphash.Seed
	slots  *semaphore.Weighted // for specs in progress
	eraser *eraser
	writes *flow.RetryWriter

	owned ownedRange // specs that were delivered to this process only

	workers  sync.WaitGroup     // one goroutine for each queue that has specs
	work     context.Context    //nolint:containedctx // of what a spec does; outlives a stop by the grace
	abandon  context.CancelFunc // ends work
	stopping context.Context    //nolint:containedctx // ended by a stop
	halt     context.CancelFunc // ends stopping
}

// holdBytes limits the bytes of held specs before the process requests no more.
const holdBytes = 16 << 20

// stopGrace limits how long a shutdown waits for specs in progress.
const stopGrace = 10 * time.Second

// NewIngest returns an ingest that is idle until Run.
func NewIngest(cfg IngestConfig) *Ingest {
	if cfg.Concurrency <= 0 {
		cfg.Concurrency = 256
	}
	if cfg.Hold <= 0 {
		cfg.Hold = 4096
	}
	if cfg.Observe == nil {
		cfg.Observe = func(string, string) {}
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return &Ingest{
		cfg: cfg, log: cfg.Logger, seed: maphash.MakeSeed(), queues: make([]queue, cfg.Concurrency),
		buffer: flow.NewBuffer[*item](cfg.Hold, min(256, max(1, cfg.Hold/8)), 1).Bound(holdBytes, 1),
		slots:  semaphore.NewWeighted(int64(cfg.Concurrency)), eraser: newEraser(), writes: flow.NewRetryWriter(cfg.Logger),
	}
}

// Run processes specs until ctx is done. Then it releases queued specs, finishes those in progress, and returns nil.
// Call it once.
func (n *Ingest) Run(ctx context.Context) error {
	n.work, n.abandon = context.WithCancel(control.WithCaller(context.WithoutCancel(ctx), "published specs"))
	defer n.abandon()
	n.stopping, n.halt = context.WithCancel(context.WithoutCancel(ctx))
	defer n.halt()
	err := n.cfg.Source.DeliverSpecs(ctx, n.buffer.Wake(0), n.buffer.Ask, func(s scheduler.PublishedSpec) { n.take(ctx, s) })
	n.stop()
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// stop releases queued specs and finishes those in progress.
func (n *Ingest) stop() {
	n.halt()
	for i := range n.queues {
		for _, it := range n.queues[i].drain() {
			n.nak(it)
		}
	}
	late := time.AfterFunc(stopGrace, n.abandon)
	defer late.Stop()
	n.workers.Wait()
}

// take receives a spec. It runs on the connection's goroutine and must not block.
func (n *Ingest) take(ctx context.Context, s scheduler.PublishedSpec) {
	it := newItem(s)
	n.owned.came(it.Sequence, it.Deliveries)
	n.buffer.KeepSized(it, len(it.Body))
	if ctx.Err() != nil {
		n.nak(it)
		return
	}
	q := &n.queues[maphash.String(n.seed, s.Name)%uint64(len(n.queues))]
	if q.push(it) {
		n.workers.Go(func() { n.empty(q) }) //nolint:contextcheck // specs under way outlive a stop
	}
}

// empty processes a queue until it is empty.
func (n *Ingest) empty(q *queue) {
	for it := q.next(); it != nil; it = q.next() {
		n.handle(q, it)
	}
}

// handle carries out a spec, stores the result, and removes the spec.
func (n *Ingest) handle(q *queue, it *item) {
	defer n.leave(it)
	var r result
	ctx, span := n.cfg.Tracer.Spec(n.work, it.knownVerb(), it.trace)
	err := n.writes.Persist(ctx, n.stopping, it.Name, func(ctx context.Context) (err error) {
		r, err = n.decide(ctx, q, it)
		return err
	})
	switch {
	case errors.Is(err, errOvertakes):
		q.push(it) // a new attempt has a new span
		return
	case errors.Is(err, errLost):
		span.End(err)
		n.drop(it)
		return
	case err != nil:
		span.End(err)
	default:
		span.Verdict(r.verdict(), r.err != nil)
		body := v1.JSON(r.event(n.cfg.Service.Now()))
		err = n.persist(it, func(ctx context.Context) error {
			if it.claimed {
				if err := n.cfg.Source.SettleClaim(ctx, it.subject(), it.id, it.Sequence, body); err != nil {
					return err
				}
			}
			return n.cfg.Source.PublishResult(ctx, r.verdict(), resultName(it.Name), body)
		})
	}
	if err != nil {
		n.nak(it) // stopping, or not its turn
		return
	}
	n.cfg.Observe(it.knownVerb(), r.verdict())
	if r.delicate() {
		n.erase(it)
	}
	if err := it.Lease.Ack(); err != nil {
		n.log.Warn("spec not acknowledged", "job", it.Name, "err", err)
	}
	n.buffer.Release(it)
}

func (n *Ingest) nak(it *item) {
	n.owned.gaveBack()
	if err := it.Lease.Nak(0); err != nil {
		n.log.Warn("spec not returned", "job", it.Name, "err", err)
	}
	n.buffer.Release(it)
}

// drop leaves a spec to the process that received it since.
func (n *Ingest) drop(it *item) {
	n.owned.gaveBack()
	n.buffer.Release(it)
	it.Lease.Drop()
}

// persist retries f while the store is unavailable, until the ingest stops.
func (n *Ingest) persist(it *item, f func(context.Context) error) error {
	return n.writes.Persist(n.work, n.stopping, it.Name, f)
}
