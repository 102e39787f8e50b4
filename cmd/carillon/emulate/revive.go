package emulate

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus"
	"github.com/carillon-sched/carillon/integration/emulator/storagequeue"
	"github.com/carillon-sched/carillon/store/embedded"
)

// reviveEvery is the pause between tries to start an emulator again.
const reviveEvery = 2 * time.Second

func isPassing(err error) bool {
	return slices.ContainsFunc(passing, func(p error) bool { return errors.Is(err, p) })
}

// Wait waits for the end of ctx. It restarts an emulator that could not write, with the same address and all
// acknowledged data, as soon as possible. Another failure of an emulator ends the wait; Close returns it.
func (e *Servers) Wait(ctx context.Context) {
	for {
		bus, queue := e.running()
		var busDone, queueDone <-chan struct{}
		if bus != nil {
			busDone = bus.Done()
		}
		if queue != nil {
			queueDone = queue.Done()
		}
		var back bool
		select {
		case <-ctx.Done():
			return
		case <-busDone:
			failed := bus.Close()
			start := func() error { return e.startBus(ctx, bus.Addr(), bus.HTTPAddr()) }
			back = e.revive(ctx, e.cfg.Bus.Logger, "Service Bus", failed, start)
		case <-queueDone:
			failed := queue.Close() //nolint:contextcheck // as above
			back = e.revive(ctx, e.cfg.Queue.Logger, "storage queue", failed, func() error { return e.startQueue(ctx, queue.Addr()) })
		}
		if !back {
			return
		}
	}
}

// revive starts an emulator again that has failed, as soon as that is possible; false when it never will be, or ctx ends.
func (e *Servers) revive(ctx context.Context, log *slog.Logger, name string, failed error, start func() error) bool {
	if e.cfg.Data == "" || !isPassing(failed) {
		return false
	}
	log.Error("the emulator cannot store its data; it restarts when it can", "emulator", name, "err", failed)
	tick := time.NewTicker(reviveEvery)
	defer tick.Stop()
	for said := ""; ; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false
		}
		err := embedded.CheckRoom(e.cfg.Data)
		if err == nil {
			err = start()
		}
		if err == nil {
			log.Warn("the emulator works again", "emulator", name)
			return true
		}
		if err.Error() != said {
			said = err.Error()
			log.Error("the emulator cannot be restarted yet; retrying", "emulator", name, "err", err)
		}
	}
}

// startBus starts Service Bus on its two addresses.
func (e *Servers) startBus(ctx context.Context, addr, httpAddr string) error {
	cfg := *e.cfg.Bus
	cfg.Addr, cfg.HTTPAddr = addr, httpAddr
	s, err := servicebus.Start(context.WithoutCancel(ctx), cfg)
	if err != nil {
		return e.cfg.busError(err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.bus = s
	return nil
}

// startQueue starts the storage queues on an address.
func (e *Servers) startQueue(ctx context.Context, addr string) error {
	cfg := *e.cfg.Queue
	cfg.Addr = addr
	s, err := storagequeue.Start(context.WithoutCancel(ctx), cfg)
	if err != nil {
		return e.cfg.queueError(err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.queue = s
	return nil
}
