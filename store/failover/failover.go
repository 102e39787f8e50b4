package failover

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"github.com/carillon-sched/carillon/scheduler"
)

// AckWait is the time without a renewal after which the server redelivers a message: the delay of the jobs of a hung
// process.
const AckWait = 10 * time.Second

// Queue is a durable consumer that all processes share.
type Queue interface {
	Consumer(ctx context.Context) (jetstream.Consumer, error)
	SetAckWait(ctx context.Context, wait time.Duration) error
}

// Config configures a [Failover]. All fields are required.
type Config struct {
	Conn   *nats.Conn
	Prefix string // of the subjects; see the package comment
	Logger *slog.Logger
	Queues func() []Queue

	// Unannounced returns the last check of the streams by a process whose NATS user may not use the subjects, and which
	// may hold messages without notice to the others. Zero: none.
	Unannounced func(ctx context.Context) (time.Time, error)
}

// Failover holds the leases of this process and watches the other processes. A process whose NATS user may not use the
// subjects works without notices: its messages are redelivered after AckWait.
type Failover struct {
	*elsewhere
	stall

	cfg    Config
	id     string
	leases *leases
	works  bool // the NATS user may use the subjects; set by Open

	begun  chan struct{} // starts watching
	claims chan struct{} // requests a claim
	first  func()        // called before the first delivery

	delivering atomic.Int64 // number of queues

	mu     sync.Mutex
	peers  peers
	phases map[string]*phase // claims in progress, by claiming process
	held   time.Time         // last time that this process held a message
	pulsed time.Time         // last saysHolds
	told   bool              // the others believe that this process holds messages
}

// New returns a Failover. It does no I/O; see [Failover.Open].
func New(cfg Config) *Failover {
	f := &Failover{
		elsewhere: &elsewhere{nc: cfg.Conn, log: cfg.Logger},
		cfg:       cfg, id: nuid.Next(), peers: peers{}, phases: map[string]*phase{},
		begun: make(chan struct{}, 1), claims: make(chan struct{}, 1),
	}
	f.leases = &leases{
		nc:      cfg.Conn,
		lost:    func(err error) { cfg.Logger.Warn("leases are not renewed; retrying every second", "err", err) },
		renewed: func(after time.Duration) { cfg.Logger.Info("leases are renewed again", "after", after.String()) },
		taken:   func() { wake(f.begun) }, emptied: f.emptied, dropped: f.suspect,
		cut: func() bool { return f.cutOff(time.Now()) },
	}
	f.first = sync.OnceFunc(func() { time.AfterFunc(patience, f.suspect) }) // all holders have been heard by then
	return f
}

// Announces reports whether this process notifies the others while it holds messages.
func (f *Failover) Announces() bool { return f.works }

// Keep renews the lease of a delivered message from now on. reply is its acknowledgement subject.
func (f *Failover) Keep(stream string, sequence uint64, reply string) scheduler.Lease {
	return f.leases.keep(place{stream, sequence}, reply)
}

// Holds reports whether this process holds a message.
func (f *Failover) Holds(stream string, sequence uint64) bool {
	return f.leases.holds(place{stream, sequence})
}

// Pause waits for d. It returns false if ctx is done first.
func Pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}
