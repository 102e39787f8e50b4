package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/engine"
)

// hooked is a store whose operations go through a hook, which may delay or refuse them, or lose their answers.
type hooked struct {
	scheduler.Store

	hook func(o op, do func() error) error
}

// op is an operation of a store.
type op struct {
	name   string // of the method
	slot   scheduler.BatonKey
	at     uint64 // revision or sequence that it replaces or goes up to
	record *scheduler.Record
}

func (o op) String() string {
	if o.record != nil {
		return fmt.Sprintf("%s %s %s", o.name, o.record.Outcome, o.record.ID)
	}
	return fmt.Sprintf("%s %s %s at %d", o.name, o.slot.Job, o.slot.Detached, o.at)
}

// on hooks f into the operations of these names.
func on(st scheduler.Store, names string, f func(do func() error) error) *hooked {
	return &hooked{st, func(o op, do func() error) error {
		if slices.Contains(strings.Fields(names), o.name) {
			return f(do)
		}
		return do()
	}}
}

// slow is a store that takes so long for each operation of these names.
func slow(st scheduler.Store, d time.Duration, names string) *hooked {
	return on(st, names, func(do func() error) error { time.Sleep(d); return do() })
}

// without is a store that refuses operations of these names while it is away.
func without(st scheduler.Store, names string) (h *hooked, away *atomic.Bool) {
	away = &atomic.Bool{}
	away.Store(true)
	return on(st, names, func(do func() error) error {
		if away.Load() {
			return scheduler.ErrUnavailable
		}
		return do()
	}), away
}

// refusing is a store that refuses operations of these names.
func refusing(st scheduler.Store, names string) *hooked {
	h, _ := without(st, names)
	return h
}

// hanging is the store of a process that hangs after its first operation of a name, until then has been done.
func hanging(st scheduler.Store, name string, then func()) *hooked {
	return on(st, name, func(do func() error) error {
		err := do()
		if f := then; f != nil {
			then = nil
			f()
		}
		return err
	})
}

// doubtful is a store that records what is skipped for a reason and says that it did not, once for each job.
func doubtful(st scheduler.Store, reason scheduler.Reason) *hooked {
	failed := &sync.Map{}
	return &hooked{st, func(o op, do func() error) error {
		err := do()
		if err != nil || o.name != "Append" || o.record.Reason != reason {
			return err
		}
		if _, again := failed.LoadOrStore(o.record.Job, true); !again {
			return scheduler.ErrConflict
		}
		return nil
	}}
}

func (h *hooked) LoadJob(ctx context.Context, k scheduler.Key) (st scheduler.Stored, err error) {
	err = h.hook(op{name: "LoadJob", slot: scheduler.BatonKey{Key: k}}, func() error { st, err = h.Store.LoadJob(ctx, k); return err })
	return st, err
}

func (h *hooked) LoadJobs(ctx context.Context, keys []scheduler.Key, each func(scheduler.Stored)) error {
	return h.hook(op{name: "LoadJobs"}, func() error { return h.Store.LoadJobs(ctx, keys, each) })
}

func (h *hooked) SaveJob(ctx context.Context, k scheduler.Key, data []byte, replaces uint64, final bool) (rev uint64, err error) {
	err = h.hook(op{name: "SaveJob", slot: scheduler.BatonKey{Key: k}, at: replaces}, func() error {
		rev, err = h.Store.SaveJob(ctx, k, data, replaces, final)
		return err
	})
	return rev, err
}

func (h *hooked) EndJobs(ctx context.Context, jobs []scheduler.JobEnd) (errs []error) {
	if err := h.hook(op{name: "EndJobs"}, func() error { errs = h.Store.EndJobs(ctx, jobs); return nil }); err != nil {
		return slices.Repeat([]error{err}, len(jobs))
	}
	return errs
}

func (h *hooked) RemoveJob(ctx context.Context, k scheduler.Key, revision, spec uint64) error {
	return h.hook(op{name: "RemoveJob", slot: scheduler.BatonKey{Key: k}, at: revision}, func() error { return h.Store.RemoveJob(ctx, k, revision, spec) })
}

func (h *hooked) Waiting(ctx context.Context, slot scheduler.BatonKey) (st scheduler.Stored, err error) {
	err = h.hook(op{name: "Waiting", slot: slot}, func() error { st, err = h.Store.Waiting(ctx, slot); return err })
	return st, err
}

func (h *hooked) ScheduleAt(ctx context.Context, slot scheduler.BatonKey, body []byte, at time.Time, waiting uint64) error {
	return h.hook(op{name: "ScheduleAt", slot: slot, at: waiting}, func() error { return h.Store.ScheduleAt(ctx, slot, body, at, waiting) })
}

func (h *hooked) PublishOnce(ctx context.Context, slot scheduler.BatonKey, body []byte, at time.Time, id string) error {
	name := "ScheduleAt"
	if at.IsZero() {
		name = "Fire"
	}
	return h.hook(op{name: name, slot: slot}, func() error { return h.Store.PublishOnce(ctx, slot, body, at, id) })
}

func (h *hooked) Fire(ctx context.Context, slot scheduler.BatonKey, body []byte, waiting uint64) error {
	return h.hook(op{name: "Fire", slot: slot, at: waiting}, func() error { return h.Store.Fire(ctx, slot, body, waiting) })
}

func (h *hooked) Reschedule(ctx context.Context, slot scheduler.BatonKey, body []byte, at time.Time, running uint64) error {
	return h.hook(op{name: "Reschedule", slot: slot, at: running}, func() error { return h.Store.Reschedule(ctx, slot, body, at, running) })
}

func (h *hooked) Cancel(ctx context.Context, slot scheduler.BatonKey, waiting uint64) error {
	return h.hook(op{name: "Cancel", slot: slot, at: waiting}, func() error { return h.Store.Cancel(ctx, slot, waiting) })
}

func (h *hooked) Clear(ctx context.Context, k scheduler.Key, of func(*scheduler.Baton) bool) error {
	return h.hook(op{name: "Clear", slot: scheduler.BatonKey{Key: k}}, func() error { return h.Store.Clear(ctx, k, of) })
}

func (h *hooked) Append(ctx context.Context, r *scheduler.Record) error {
	return h.hook(op{name: "Append", slot: scheduler.BatonKey{Key: r.Job}, record: r}, func() error { return h.Store.Append(ctx, r) })
}

func (h *hooked) Forget(ctx context.Context, k scheduler.Key, through uint64) error {
	return h.hook(op{name: "Forget", slot: scheduler.BatonKey{Key: k}, at: through}, func() error { return h.Store.Forget(ctx, k, through) })
}

func (h *hooked) Recent(ctx context.Context, k scheduler.Key, before uint64, outcomes []scheduler.Outcome, f func(*scheduler.Record) bool) error {
	return h.hook(op{name: "Recent", slot: scheduler.BatonKey{Key: k}, at: before}, func() error { return h.Store.Recent(ctx, k, before, outcomes, f) })
}

// mortal is a store as a process sees it that dies at one point: from then on
// nothing it does reaches the server, and nothing comes back. Its connection is
// closed, too, so that its leases are not renewed.
type mortal struct {
	*hooked

	nc     *nats.Conn
	dead   atomic.Bool
	last   sync.WaitGroup // the operation at which it dies, while it takes effect
	point  string         // operation at which the process dies
	before bool           // dies before it takes effect, otherwise right after
	skip   int32          // operations of that name to let pass
}

// startMortal starts a worker with a connection and a store of its own, which die where m says.
func (w *harness) startMortal(m *mortal, change ...func(*engine.Config)) *mortal {
	w.t.Helper()
	nc, st := w.open()
	m.nc, m.hooked = nc, &hooked{st, func(o op, do func() error) error {
		switch o.name {
		case "Append":
			return m.do("record "+string(o.record.Outcome), do)
		case "Reschedule":
			return m.do("pass on", do)
		case "SaveJob", "EndJobs":
			return m.do("end", do)
		}
		return do()
	}}
	w.startWorker(append([]func(*engine.Config){func(c *engine.Config) { c.Store, c.Logger = m, nil }}, change...)...)
	return m
}

// die reports whether the operation takes effect, and whether its caller
// learns of it.
func (m *mortal) die(op string) (effect, answer bool) {
	if m.dead.Load() {
		return false, false
	}
	if op != m.point || atomic.AddInt32(&m.skip, -1) >= 0 {
		return true, true
	}
	if !m.before {
		m.last.Add(1)
	}
	m.dead.Store(true)
	return !m.before, false
}

// awaitDeath waits until the process has died.
func (m *mortal) awaitDeath(t *testing.T) {
	t.Helper()
	for !m.dead.Load() {
		time.Sleep(10 * time.Millisecond)
		if time.Since(epoch) > time.Hour {
			t.Fatal("the worker never came to the point where it dies")
		}
	}
}

// bury ends what a process does on its own.
func (m *mortal) bury() {
	if m.dead.Load() {
		m.last.Wait()
		m.nc.Close()
	}
}

func (m *mortal) do(op string, f func() error) error {
	effect, answer := m.die(op)
	var err error
	if effect {
		err = f()
		if !answer {
			m.last.Done()
		}
	}
	m.bury()
	if !answer {
		return fmt.Errorf("%w: this process is dead", scheduler.ErrUnavailable)
	}
	return err
}

// WatchJobs waits instead of failing once a second, for as long as a test lasts, once the process is dead.
func (m *mortal) WatchJobs(ctx context.Context, ready func(), changed func(scheduler.Key, uint64)) error {
	err := m.Store.WatchJobs(ctx, ready, changed)
	if m.dead.Load() {
		<-ctx.Done()
	}
	return err
}

func (m *mortal) Deliver(ctx context.Context, lane int, wake <-chan struct{}, room func() int, take func(*scheduler.Delivery)) error {
	open := func() int {
		if m.dead.Load() {
			return 0
		}
		return room()
	}
	return m.Store.Deliver(ctx, lane, wake, open, func(d *scheduler.Delivery) {
		effect, answer := m.die("take")
		if effect && !answer {
			m.last.Done()
		}
		if !effect {
			go m.bury() // the connection calls
			return
		}
		d.Lease = mortalLease{d.Lease, m}
		take(d)
	})
}

type mortalLease struct {
	scheduler.Lease

	m *mortal
}

func (l mortalLease) Stands() bool { return !l.m.dead.Load() && l.Lease.Stands() } // the dead begin nothing

func (l mortalLease) Ack() error { return l.m.do("ack", l.Lease.Ack) }

func (l mortalLease) Nak(after time.Duration) error {
	return l.m.do("nak", func() error { return l.Lease.Nak(after) })
}
