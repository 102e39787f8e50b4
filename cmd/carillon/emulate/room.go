package emulate

import (
	"strings"

	"github.com/carillon-sched/carillon/integration/emulator/queues"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/browse"
	"github.com/carillon-sched/carillon/integration/emulator/storagequeue"
)

// Room is what the console shows of the emulators. command prints their connection strings.
func (e *Servers) Room(command string) queues.Config {
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

// publicAccount reports whether the only account is the one whose key everybody knows.
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

// publicKey reports whether the keys of Service Bus are the one that everybody knows.
func publicKey(keys map[string]string) bool {
	return len(keys) == 0 || len(keys) == 1 && keys[servicebus.DefaultKeyName] == servicebus.DefaultKey
}
