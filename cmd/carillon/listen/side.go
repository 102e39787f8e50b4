package listen

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/listen/connlimit"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler"
)

// The bounds of a side server.
const (
	// SideConnections limits the connections of a side server; a new one replaces the connection that has been silent
	// longest.
	SideConnections = 64

	sideTimeout = 10 * time.Second
)

// Side is an HTTP server with an address separate from the API's. A nil Side does nothing.
type Side struct {
	url    string
	server *http.Server
}

// Serve serves h on the address of a flag until the server is closed; it returns nil if the flag is empty. It
// accepts the host names that [Hosts] returns for the address. path is where clients find h.
func Serve(ctx context.Context, f Flag, path string, h http.Handler, log *slog.Logger) (*Side, error) {
	return ServeAny(ctx, f, path, guarded(Hosts(ctx, f.Addr, nil), h), log)
}

// ServeAny serves a handler that looks at names itself.
func ServeAny(ctx context.Context, f Flag, path string, h http.Handler, log *slog.Logger) (*Side, error) {
	if f.Addr == "" {
		return nil, nil //nolint:nilnil // nothing is asked for, as usual
	}
	l, err := open(ctx, f.Name, f.Name, f.Addr)
	if err != nil {
		return nil, err
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

// Close closes the server and its requests in progress.
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

// Ports lists the addresses of a process, as --ports-file reports them to other programs.
type Ports struct {
	HTTP string `json:"http,omitempty"` // of the scheduler or, without one, of the Service Bus emulator
	NATS string `json:"nats,omitempty"`

	Pprof   string `json:"pprof,omitempty"`   // URL of the process's profiles, where they are served
	Metrics string `json:"metrics,omitempty"` // URL of the metrics, if on a separate address
	Console string `json:"console,omitempty"` // URL of the web console, if on a separate address

	AMQP            string `json:"amqp,omitempty"`            // host:port
	Queue           string `json:"queue,omitempty"`           // URL
	ServiceBus      string `json:"serviceBus,omitempty"`      // connection strings from here on
	ServiceBusAdmin string `json:"serviceBusAdmin,omitempty"` // for admin clients
	StorageQueue    string `json:"storageQueue,omitempty"`
}

// Write writes the file, if one is configured: a program that waits for it can read it as soon as it exists.
func (p Ports) Write(file string) error {
	if file == "" {
		return nil
	}
	err := terminal.ReplaceFile(file, 0o644, func(w io.Writer) error { return json.NewEncoder(w).Encode(p) })
	if err != nil {
		return terminal.Unavailablef("ports file: %w", err)
	}
	return nil
}

// RemovePorts removes the file, whose content is outdated.
func RemovePorts(file string) error {
	if file == "" {
		return nil
	}
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return terminal.Unavailablef("ports file: %w", err)
	}
	return nil
}
