package emulate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/cmd/carillon/listen"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus"
	"github.com/carillon-sched/carillon/integration/emulator/storagequeue"
	"github.com/carillon-sched/carillon/store/embedded"
)

// Config says which emulators to run.
type Config struct {
	Bus   *servicebus.Config   // nil: none. Its Data is not looked at.
	Queue *storagequeue.Config // nil: none. Its Data is not looked at.
	Data  string               // directory of both, each below it; "": memory

	file string // that the entities of Bus were read from, if they were
}

// Servers are the emulators that run in this process.
type Servers struct {
	bus      *servicebus.Server   // nil: none
	queue    *storagequeue.Server // nil: none
	entities servicebus.Entities
	keys     map[string]string // of Service Bus, by name
}

// Start starts the emulators. They run until they are closed, also when ctx ends before.
func Start(ctx context.Context, cfg Config) (*Servers, error) {
	ctx = context.WithoutCancel(ctx)
	e := &Servers{}
	if bus := cfg.Bus; bus != nil {
		e.entities, e.keys = bus.Entities, bus.Keys
		bus.Data = cfg.below("servicebus")
		var err error
		if e.bus, err = servicebus.Start(ctx, *bus); err != nil {
			return nil, cfg.busError(err)
		}
	}
	if queue := cfg.Queue; queue != nil {
		queue.Data = cfg.below("storagequeue")
		var err error
		if e.queue, err = storagequeue.Start(ctx, *queue); err != nil {
			return nil, errors.Join(cfg.queueError(err), e.Close()) //nolint:contextcheck // it does not depend on ctx
		}
	}
	return e, nil
}

// below is the directory of one emulator.
func (cfg Config) below(name string) string {
	if cfg.Data == "" {
		return ""
	}
	return filepath.Join(cfg.Data, name)
}

// busError says which flag or file is to blame for a start that went wrong.
func (cfg Config) busError(err error) error {
	if e, ok := errors.AsType[*servicebus.ListenError](err); ok {
		return listen.Error(e.Port, strings.ToLower(e.Port), e.Addr, e.Err)
	}
	if e, ok := errors.AsType[*servicebus.EntityError](err); ok && cfg.file != "" {
		return fmt.Errorf("%s: %w", cfg.file, e)
	}
	return cfg.dataError(err)
}

// queueError is like busError.
func (cfg Config) queueError(err error) error {
	if e, ok := errors.AsType[*storagequeue.ListenError](err); ok {
		return listen.Error("storage queue", "queue", e.Addr, e.Err)
	}
	return cfg.dataError(err)
}

// dataError is about the data directory, if there is one.
func (cfg Config) dataError(err error) error {
	switch {
	case cfg.Data == "":
		return err
	case errors.Is(err, servicebus.ErrDataInUse), errors.Is(err, storagequeue.ErrDataInUse):
		return &embedded.InUseError{Dir: cfg.Data}
	}
	if p, ok := errors.AsType[*os.PathError](err); ok && p.Path == cfg.Data {
		err = p.Err // the message names the directory already
	}
	return &embedded.DirError{Dir: cfg.Data, Err: err}
}

// Wait waits for the end of ctx, or until an emulator cannot go on; then Close says why.
func (e *Servers) Wait(ctx context.Context) {
	var bus, queue <-chan struct{}
	if e.bus != nil {
		bus = e.bus.Done()
	}
	if e.queue != nil {
		queue = e.queue.Done()
	}
	select {
	case <-ctx.Done():
	case <-bus:
	case <-queue:
	}
}

// Close ends the emulators.
func (e *Servers) Close() error {
	var queue, bus error
	if e.queue != nil {
		queue = failure("storage queue emulator", e.queue.Close())
	}
	if e.bus != nil {
		bus = failure("Service Bus emulator", e.bus.Close())
	}
	return errors.Join(queue, bus)
}

// failure says which emulator an error is of; nil stays nil.
func failure(name string, err error) error {
	if err == nil {
		return nil
	}
	return terminal.Unavailablef("%s: %w", name, err)
}

// Ports is where the emulators can be reached.
func (e *Servers) Ports() listen.Ports {
	var p listen.Ports
	if e.bus != nil {
		p.HTTP = e.Admin()
		p.AMQP = listen.Reachable(e.bus.Addr())
		p.ServiceBus, p.ServiceBusAdmin = e.bus.ConnectionString(), e.bus.AdminConnectionString()
	}
	if e.queue != nil {
		p.Queue, p.StorageQueue = e.queue.URL(), e.queue.ConnectionString()
	}
	return p
}

// Pasteable returns the connection strings for people to copy, each on a line of its own: one for each configured
// key and account.
func (e *Servers) Pasteable(keys, accounts map[string]string) string {
	var b strings.Builder
	if e.bus != nil {
		b.WriteString("Service Bus connection string:\n")
		for _, name := range sortedOr(keys, servicebus.DefaultKeyName) {
			b.WriteString(e.bus.ConnectionStringFor(name) + "\n")
		}
		b.WriteString("\n")
	}
	if e.queue != nil {
		b.WriteString("Storage queue connection string:\n")
		for _, name := range sortedOr(accounts, storagequeue.DefaultAccount) {
			b.WriteString(e.queue.ConnectionStringFor(name) + "\n")
		}
	}
	return strings.TrimSuffix(b.String(), "\n\n") + "\n"
}

// sortedOr returns the names of a map, or one name if there are none.
func sortedOr(m map[string]string, name string) []string {
	if len(m) == 0 {
		return []string{name}
	}
	return slices.Sorted(maps.Keys(m))
}

// Admin is where Service Bus is administered.
func (e *Servers) Admin() string { return "http://" + listen.Reachable(e.bus.HTTPAddr()) }
