package emulate

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus"
	"github.com/carillon-sched/carillon/integration/emulator/storagequeue"
	"github.com/carillon-sched/carillon/store/embedded"
)

// reviveEvery is the pause between tries to start an emulator again.
const reviveEvery = 2 * time.Second

func isPassing(err error) bool {
	for _, p := range passing {
		if errors.Is(err, p) {
			return true
		}
	}
	return false
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
			back = e.revive(ctx, e.cfg.Bus.Logger, "Service Bus", failed, func() error { return e.startBus(ctx, bus) })
		case <-queueDone:
			failed := queue.Close() //nolint:contextcheck // as above
			back = e.revive(ctx, e.cfg.Queue.Logger, "storage queue", failed, func() error { return e.startQueue(ctx, queue) })
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

// startBus starts Service Bus where it was before.
func (e *Servers) startBus(ctx context.Context, before *servicebus.Server) error {
	cfg := *e.cfg.Bus
	cfg.Addr, cfg.HTTPAddr = before.Addr(), before.HTTPAddr()
	s, err := servicebus.Start(context.WithoutCancel(ctx), cfg)
	if err != nil {
		return e.cfg.busError(err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.bus = s
	return nil
}

// startQueue starts the storage queues where they were before.
func (e *Servers) startQueue(ctx context.Context, before *storagequeue.Server) error {
	cfg := *e.cfg.Queue
	cfg.Addr = before.Addr()
	s, err := storagequeue.Start(context.WithoutCancel(ctx), cfg)
	if err != nil {
		return e.cfg.queueError(err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.queue = s
	return nil
}
