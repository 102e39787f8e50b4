package node

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/carillon-sched/carillon/scheduler/api/v1"
)

// StartupServer serves requests until its [Node] is open: /healthz reports that the process is alive; all other paths return
// 503 with the reason of the wait. Afterwards the node takes over its listener.
type StartupServer struct {
	listener net.Listener
	server   *http.Server
	ended    chan struct{}
	closed   sync.Once
	waits    atomic.Pointer[string]
}

// OpenDoor serves on a TCP listener, with the TLS, AllowHost and MaxConnections of the Config.
func OpenDoor(cfg Config) *StartupServer {
	cfg = cfg.withDefaults()
	d := &StartupServer{listener: cfg.Listener, ended: make(chan struct{})}
	d.SetReason("starting")
	server, l := cfg.server(d.handler(cfg.AllowHost), lent{d.listener})
	server.SetKeepAlivesEnabled(false) // the node serves the next request
	d.server = server
	go func() {
		defer close(d.ended)
		if err := d.server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			cfg.Logger.Warn("serving the startup state failed", "err", err)
		}
	}()
	return d
}

// SetReason sets the reason of the wait.
func (d *StartupServer) SetReason(what string) { d.waits.Store(&what) }

// Close stops serving but keeps the listener open, with its pending connections. Close is idempotent.
func (d *StartupServer) Close() { d.closed.Do(d.close) }

func (d *StartupServer) close() {
	ctx, cancel := context.WithTimeout(context.Background(), doorGrace)
	defer cancel()
	if d.server.Shutdown(ctx) != nil {
		_ = d.server.Close()
	}
	<-d.ended
	if l, ok := d.listener.(deadliner); ok {
		_ = l.SetDeadline(time.Time{})
	}
}

func (d *StartupServer) handler(allowHost func(string) bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status, body := http.StatusServiceUnavailable, v1.JSON(v1.Error{Code: "NotReady", Message: *d.waits.Load()}.Document())
		switch {
		case allowHost != nil && !allowHost(r.Host):
			status, body = http.StatusMisdirectedRequest, nil
		case r.URL.Path == "/healthz":
			status, body = http.StatusOK, []byte(`{"status":"ok"}`)
		}
		h := w.Header()
		h.Set("Content-Type", "application/json; charset=utf-8")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		if status == http.StatusServiceUnavailable {
			h.Set("Retry-After", "1")
		}
		w.WriteHeader(status)
		_, _ = w.Write(body)
	})
}

// doorGrace is the time for requests in progress when the node takes over.
const doorGrace = 250 * time.Millisecond

// deadliner is a listener whose Accept can be interrupted and resumed.
type deadliner interface{ SetDeadline(t time.Time) error }

// lent is a listener that stays open when its user closes it.
type lent struct{ net.Listener }

// Close interrupts an Accept.
func (l lent) Close() error {
	if d, ok := l.Listener.(deadliner); ok {
		return d.SetDeadline(time.Unix(1, 0))
	}
	return l.Listener.Close()
}
