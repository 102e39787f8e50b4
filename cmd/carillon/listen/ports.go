package listen

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
)

// Ports is where the parts of a process can be reached, as --ports-file tells
// other programs.
type Ports struct {
	HTTP string `json:"http,omitempty"` // of the scheduler or, without one, of the Service Bus emulator
	NATS string `json:"nats,omitempty"`

	Pprof   string `json:"pprof,omitempty"`   // URL of the process's profiles, where they are served
	Metrics string `json:"metrics,omitempty"` // URL of its metrics, where they have an address of their own
	Console string `json:"console,omitempty"` // URL of the web console, where it has an address of its own

	AMQP            string `json:"amqp,omitempty"`            // host:port
	Queue           string `json:"queue,omitempty"`           // URL
	ServiceBus      string `json:"serviceBus,omitempty"`      // connection strings from here on
	ServiceBusAdmin string `json:"serviceBusAdmin,omitempty"` // for admin clients
	StorageQueue    string `json:"storageQueue,omitempty"`
}

// Write writes the file, if there is to be one.
func (p Ports) Write(file string) error {
	if file == "" {
		return nil
	}
	data, err := json.Marshal(p)
	if err == nil {
		err = replaceFile(file, append(data, '\n'))
	}
	if err != nil {
		return terminal.Unavailablef("ports file: %w", err)
	}
	return nil
}

// replaceFile writes a file as a whole or not at all: who waits for it may read
// it as soon as it is there.
func replaceFile(file string, data []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(file), ".ports-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) //nolint:errcheck // it is gone when all went well
	_, err = tmp.Write(data)
	if err := errors.Join(err, tmp.Chmod(0o644), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), file)
}

// RemovePorts removes the file: what it says is not, or no longer, so.
func RemovePorts(file string) error {
	if file == "" {
		return nil
	}
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return terminal.Unavailablef("ports file: %w", err)
	}
	return nil
}
