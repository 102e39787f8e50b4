package emulate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/carillon-sched/carillon/cmd/carillon/listen"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/integration/emulator/queues"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/browse"
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
	cfg      Config
	entities servicebus.Entities
	keys     map[string]string // of Service Bus, by name

	mu    sync.Mutex
	bus   *servicebus.Server   // nil: none
	queue *storagequeue.Server // nil: none
}

// Start starts the emulators. They run until they are closed, also when ctx ends before.
func Start(ctx context.Context, cfg Config) (*Servers, error) {
	ctx = context.WithoutCancel(ctx)
	e := &Servers{cfg: cfg}
	if bus := cfg.Bus; bus != nil {
		e.entities, e.keys = bus.Entities, bus.Keys
		bus.Data = cfg.below("servicebus")
		if err := e.startBus(ctx, bus.Addr, bus.HTTPAddr); err != nil {
			return nil, err
		}
	}
	if queue := cfg.Queue; queue != nil {
		queue.Data = cfg.below("storagequeue")
		if err := e.startQueue(ctx, queue.Addr); err != nil {
			return nil, errors.Join(err, e.Close()) //nolint:contextcheck // it does not depend on ctx
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

// Close ends the emulators.
func (e *Servers) Close() error {
	bus, queue := e.running()
	var errs []error
	if queue != nil {
		errs = append(errs, failure("storage queue emulator", queue.Close()))
	}
	if bus != nil {
		errs = append(errs, failure("Service Bus emulator", bus.Close()))
	}
	return errors.Join(errs...)
}

// running returns the emulators as they run at the moment.
func (e *Servers) running() (*servicebus.Server, *storagequeue.Server) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.bus, e.queue
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
	bus, queue := e.running()
	if bus != nil {
		p.HTTP = e.Admin()
		p.AMQP = listen.Reachable(bus.Addr())
		p.ServiceBus, p.ServiceBusAdmin = bus.ConnectionString(), bus.AdminConnectionString()
	}
	if queue != nil {
		p.Queue, p.StorageQueue = queue.URL(), queue.ConnectionString()
	}
	return p
}

// Pasteable returns the connection strings for people to copy, one per line, for each configured key and
// account.
func (e *Servers) Pasteable(keys, accounts map[string]string) string {
	var b strings.Builder
	bus, queue := e.running()
	if bus != nil {
		b.WriteString("Service Bus connection string:\n")
		for _, name := range sortedOr(keys, servicebus.DefaultKeyName) {
			b.WriteString(bus.ConnectionStringFor(name) + "\n")
		}
		b.WriteString("\n")
	}
	if queue != nil {
		b.WriteString("Storage queue connection string:\n")
		for _, name := range sortedOr(accounts, storagequeue.DefaultAccount) {
			b.WriteString(queue.ConnectionStringFor(name) + "\n")
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
func (e *Servers) Admin() string {
	bus, _ := e.running()
	return "http://" + listen.Reachable(bus.HTTPAddr())
}

// readEntities reads a config.json of Microsoft's emulator, if set. Problems contain their position.
func readEntities(file string) (servicebus.Entities, error) {
	if file == "" {
		return servicebus.Entities{}, nil
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return servicebus.Entities{}, terminal.Usagef("--config: %s: %w", file, terminal.WithoutPath(err))
	}
	raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
	entities, err := servicebus.ReadConfig(bytes.NewReader(raw))
	return entities, placed(file, raw, err)
}

// placed says where in a file the problems are.
func placed(file string, raw []byte, err error) error {
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		line, column := position(raw, e.Offset)
		return fmt.Errorf("%s:%d:%d: %w", file, line, column, err)
	}
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		line, _ := position(raw, e.Offset)
		field := e.Field
		if field != "" {
			field += ": "
		}
		return fmt.Errorf("%s:%d: %s%s is not %s", file, line, field, e.Value, kindName(e.Type))
	}
	var problems []error
	for _, problem := range terminal.Split(err) {
		problems = append(problems, fmt.Errorf("%s: %w", file, problem))
	}
	return errors.Join(problems...)
}

// position returns the line and the column, both from 1, of what ends at an offset.
func position(raw []byte, offset int64) (line, column int) {
	before := raw[:min(max(offset-1, 0), int64(len(raw)))]
	return 1 + bytes.Count(before, []byte("\n")), len(before) - bytes.LastIndexByte(before, '\n')
}

// kindName is what JSON calls the values of a type.
func kindName(t reflect.Type) string {
	switch t.Kind() { //nolint:exhaustive // others do not occur
	case reflect.Bool:
		return "true or false"
	case reflect.Int:
		return "a whole number"
	case reflect.String:
		return "a string"
	case reflect.Slice:
		return "an array"
	}
	return "an object"
}

// ConsoleConfig configures the emulators' console pages. command prints their connection strings.
func (e *Servers) ConsoleConfig(command string) queues.Config {
	cfg := queues.Config{Connect: queues.Connect{Command: command}}
	if e.cfg.Bus != nil {
		cfg.Bus = func() queues.Bus {
			bus, _ := e.running()
			return browse.New(bus.Broker())
		}
		cfg.Connect.Bus = func() string {
			bus, _ := e.running()
			return without(bus.ConnectionString(), publicKey(e.keys), "SharedAccessKey")
		}
	}
	if e.cfg.Queue != nil {
		cfg.Storage = func() queues.Storage {
			_, queue := e.running()
			return queue
		}
		cfg.Connect.Storage = func() string {
			_, queue := e.running()
			return without(queue.ConnectionString(), publicAccount(e.cfg.Queue.Accounts), "AccountKey")
		}
	}
	return cfg
}

// publicAccount reports whether the only account is the one with the well-known key.
func publicAccount(accounts map[string]string) bool {
	return len(accounts) == 0 || len(accounts) == 1 && accounts[storagequeue.DefaultAccount] == storagequeue.DefaultKey
}

// without returns a connection string without its key, unless that is public.
func without(connection string, public bool, key string) string {
	if public {
		return connection
	}
	fields := strings.Split(connection, ";")
	for i, f := range fields {
		if name, _, _ := strings.Cut(f, "="); name == key {
			fields[i] = name + "=…"
		}
	}
	return strings.Join(fields, ";")
}

// publicKey reports whether Service Bus has only the well-known key.
func publicKey(keys map[string]string) bool {
	return len(keys) == 0 || len(keys) == 1 && keys[servicebus.DefaultKeyName] == servicebus.DefaultKey
}
