package listen

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/listen/connlimit"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler"
)

// The bounds of a side server.
const (
	// SideConnections is how many a side server has: the next one takes the place of the one that has been silent longest.
	SideConnections = 64

	sideTimeout = 10 * time.Second
)

// Side is an HTTP server on an address of its own, beside the API. The nil one does nothing.
type Side struct {
	url    string
	server *http.Server
}

// Serve serves h on the address of a flag until the server is closed; nil when the flag has none. It answers to names as [Hosts] has
// them for that address. path is where h is to be asked.
func Serve(ctx context.Context, f Flag, path string, h http.Handler, log *slog.Logger) (*Side, error) {
	return ServeAny(ctx, f, path, guarded(Hosts(ctx, f.Addr, nil), h), log)
}

// ServeAny serves a handler that looks at names itself.
func ServeAny(ctx context.Context, f Flag, path string, h http.Handler, log *slog.Logger) (*Side, error) {
	if f.Addr == "" {
		return nil, nil //nolint:nilnil // nothing is asked for, as usual
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", f.Addr)
	if err != nil {
		if op, ok := errors.AsType[*net.OpError](err); ok {
			err = op.Err
		}
		return nil, Error(f.Name, f.Name, f.Addr, err)
	}
	s := &Side{url: "http://" + Reachable(l.Addr().String()) + path, server: &http.Server{
		Handler: h, ReadHeaderTimeout: sideTimeout,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}}
	clients := connlimit.New(SideConnections)
	clients.Watch(s.server, sideTimeout)
	go func() { _ = s.server.Serve(clients.Listen(l)) }() // until Close
	return s, nil
}

// URL is where the handler is; "" when nothing is served.
func (s *Side) URL() string {
	if s == nil {
		return ""
	}
	return s.url
}

// Close ends the server, and what it is just answering.
func (s *Side) Close() {
	if s != nil {
		_ = s.server.Close()
	}
}

// guarded serves those who call the server by one of its names, which no page of the web can; nil allows all.
func guarded(allowed func(host string) bool, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if allowed != nil && !allowed(r.Host) {
			http.Error(w, "not the name of this machine", http.StatusMisdirectedRequest)
			return
		}
		if r.Header[scheduler.JobHeader] != nil {
			http.Error(w, "jobs do not reach this listener", http.StatusForbidden)
			return
		}
		h.ServeHTTP(w, r)
	})
}

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
