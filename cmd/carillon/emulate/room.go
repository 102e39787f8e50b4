package emulate

import (
	"strings"

	"github.com/carillon-sched/carillon/integration/emulator/storagequeue"
	"github.com/carillon-sched/carillon/scheduler/console/queues"
)

// Room is what the console shows of the emulators. command prints their connection strings.
func (e *Servers) Room(command string) queues.Config {
	cfg := queues.Config{Connect: queues.Connect{Command: command}}
	if e.cfg.Bus != nil {
		cfg.Bus = busRoom{e}
		cfg.Connect.Bus = func() string {
			bus, _ := e.running()
			return without(bus.ConnectionString(), publicKey(e.keys), "SharedAccessKey")
		}
	}
	if e.cfg.Queue != nil {
		cfg.Storage = storageRoom{e}
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
