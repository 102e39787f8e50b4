package engine_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/actions"
	"github.com/carillon-sched/carillon/actions/web"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/engine"
	"github.com/carillon-sched/carillon/scheduler/secrets"
)

// process is a scheduler with a connection of its own, which may die between any two writes.
type process struct {
	w        *harness
	store    *brittle
	service  *control.Service
	takeover chan struct{}
	stop     context.CancelFunc
	ended    sync.WaitGroup
}

// newProcess starts a process: a worker, and audits as the program has them. sayf takes what it writes, and saved the definitions
// among it that took effect.
func newProcess(w *harness, sink *tally, saved func(scheduler.Key, []byte), sayf func(string, ...any)) *process {
	nc, st := w.open()
	fragile := &brittle{sayf: sayf, nc: nc, died: make(chan struct{})}
	fragile.hooked = &hooked{keeping{st, saved}, func(o op, do func() error) error {
		switch o.name {
		case "LoadJob", "LoadJobs", "Waiting", "Recent":
			return do()
		}
		return fragile.do(o.String(), do)
	}}
	p := &process{w: w, store: fragile, takeover: make(chan struct{}, 1)}
	of := actions.New(web.New(web.Config{Transport: sink.of(p)}))
	vault := secrets.NewVault(secrets.Config{Store: p.store.Secrets()})
	p.service = control.New(control.Config{
		Store: p.store, Actions: of, Limits: scheduler.Limits{MinRetryInterval: time.Second}, Secrets: vault,
	})
	work := engine.New(engine.Config{Store: p.store, Actions: of, Secrets: vault, OnTakeover: func() {
		select {
		case p.takeover <- struct{}{}:
		default:
		}
	}})
	ctx, cancel := context.WithCancel(context.WithoutCancel(w.t.Context()))
	p.stop = cancel
	p.ended.Go(func() { _ = work.Run(ctx) })
	p.ended.Go(func() { p.audits(ctx) })
	return p
}

// audits looks for what is wrong and mends it at the start, after a takeover, and from time to time.
func (p *process) audits(ctx context.Context) {
	for ctx.Err() == nil {
		if rep, err := p.service.Audit(ctx, true); err == nil {
			_ = p.service.Finish(ctx, rep)
		}
		select {
		case <-time.After(40 * time.Second):
		case <-p.takeover:
			select {
			case <-time.After(15 * time.Second):
			case <-ctx.Done():
			}
		case <-ctx.Done():
		}
	}
}

// dead says when the process died; false while it lives.
func (p *process) dead() (time.Time, bool) {
	p.store.mu.Lock()
	defer p.store.mu.Unlock()
	return p.store.deadAt, !p.store.deadAt.IsZero()
}

// cut is what becomes of a write that is cut short.
type cut int

const (
	dieBefore  cut = iota // the process dies, and it has no effect
	dieAfter              // the process dies, and it has its effect
	loseWrite             // the process gets no answer, and it has no effect
	loseAnswer            // the process gets no answer, and it has its effect
)

func (c cut) String() string {
	return [...]string{"dies before", "dies after", "loses", "gets no answer to"}[c]
}

// fault cuts short the write that comes after so many others.
type fault struct {
	after int
	how   cut
}

// brittle is a store whose writes are cut short at will. Where its process dies, nothing that it does reaches the server from then
// on, and nothing comes back.
type brittle struct {
	*hooked

	sayf func(format string, args ...any)
	nc   *nats.Conn
	died chan struct{}

	mu     sync.Mutex
	faults []fault
	deadAt time.Time
}

// strike has a write of the process cut short.
func (b *brittle) strike(f fault) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.faults = append(b.faults, f)
}

// spare forgets the faults that have not come.
func (b *brittle) spare() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.faults = nil
}

// kill ends the process.
func (b *brittle) kill() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.deadAt.IsZero() {
		return
	}
	b.deadAt = time.Now()
	close(b.died)
	go b.nc.Close() // it may be the connection that calls
}

// errDead is what a dead process gets, which nobody hears of.
var errDead = fmt.Errorf("%w: this process is dead", scheduler.ErrUnavailable)

// next returns how the write that comes now is cut short, nil when it is not.
func (b *brittle) next() (how *cut, dead bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.deadAt.IsZero() {
		return nil, true
	}
	for i := range b.faults {
		if b.faults[i].after > 0 {
			b.faults[i].after--
			continue
		}
		how := b.faults[i].how
		b.faults = slices.Delete(b.faults, i, i+1)
		return &how, false
	}
	return nil, false
}

// do carries out a write, or less than that.
func (b *brittle) do(name string, write func() error) error {
	how, dead := b.next()
	if dead {
		return errDead
	}
	if how == nil {
		err := write()
		b.sayf("%s: %v", name, err)
		if b.dead() {
			return errDead
		}
		return err
	}
	b.sayf("%s: the process %s it", name, *how)
	if *how == dieAfter || *how == loseAnswer {
		_ = write() // nobody learns of it
	}
	if *how == dieBefore || *how == dieAfter {
		b.kill()
	}
	return fmt.Errorf("%w: cut short", scheduler.ErrUnavailable)
}

// dead reports whether the process has died.
func (b *brittle) dead() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return !b.deadAt.IsZero()
}

func (b *brittle) Deliver(ctx context.Context, lane int, wake <-chan struct{}, room func() int, take func(*scheduler.Delivery)) error {
	return b.Store.Deliver(ctx, lane, wake, room, func(d *scheduler.Delivery) {
		if !b.dead() {
			d.Lease = brittleLease{d.Lease, b, fmt.Sprintf("%s %s (message %d, delivery %d)", d.BatonKey.Job, d.BatonKey.Detached, d.Sequence, d.Deliveries)}
			take(d)
		}
	})
}

func (b *brittle) DeliverEvents(
	ctx context.Context, wake <-chan struct{}, room func() int, take func(scheduler.DeliveredEvent),
) error {
	return b.Store.DeliverEvents(ctx, wake, room, b.takes(take))
}

func (b *brittle) DeliverRecords(
	ctx context.Context, since time.Time, wake <-chan struct{}, room func() int, take func(scheduler.DeliveredEvent),
) error {
	return b.Store.DeliverRecords(ctx, since, wake, room, b.takes(take))
}

func (b *brittle) takes(take func(scheduler.DeliveredEvent)) func(scheduler.DeliveredEvent) {
	return func(d scheduler.DeliveredEvent) {
		if !b.dead() {
			d.Lease = brittleLease{d.Lease, b, fmt.Sprintf("event %d (delivery %d)", d.Event.Sequence, d.Deliveries)}
			take(d)
		}
	}
}

// brittleLease is the lease of a message that a process has which may die.
type brittleLease struct {
	scheduler.Lease

	store *brittle
	of    string
}

func (l brittleLease) Stands() bool {
	return !l.store.dead() && l.Lease.Stands() // the dead begin nothing
}

// Ack and Nak end the lease also when their word to the server is lost.
func (l brittleLease) Ack() error { return l.answer("ack", l.Lease.Ack) }

func (l brittleLease) Nak(after time.Duration) error {
	return l.answer("nak", func() error { return l.Lease.Nak(after) })
}

func (l brittleLease) answer(name string, say func() error) error {
	said := false
	err := l.store.do(name+" "+l.of, func() error {
		said = true
		return say()
	})
	if !said {
		l.Yield()
	}
	return err
}

// keeping is a store that reports the definitions that are written.
type keeping struct {
	scheduler.Store

	saved func(scheduler.Key, []byte)
}

func (s keeping) SaveJob(ctx context.Context, k scheduler.Key, data []byte, replaces uint64, final bool) (uint64, error) {
	rev, err := s.Store.SaveJob(ctx, k, data, replaces, final)
	if err == nil {
		s.saved(k, data)
	}
	return rev, err
}

func (s keeping) EndJobs(ctx context.Context, jobs []scheduler.JobEnd) []error {
	errs := s.Store.EndJobs(ctx, jobs)
	for i, err := range errs {
		if err == nil {
			s.saved(jobs[i].Key, jobs[i].Data)
		}
	}
	return errs
}
