// Package profiles serves Go's profiles of a process, for `go tool pprof`, on an
// address of their own. They tell what is in the process's memory, and taking
// one costs it time, so nobody but this machine reaches them, and they are off
// unless asked for.
package profiles

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"path/filepath"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/listen"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
)

// Path is where the profiles are; their names follow.
const Path = "/debug/pprof/"

// CheckAddress makes sure that the value of --pprof, if it has one, is an address that only this machine reaches.
func CheckAddress(ctx context.Context, addr string) error {
	if addr == "" {
		return nil
	}
	flag := listen.Flag{Name: "pprof", Addr: addr}
	if err := listen.Check(flag); err != nil {
		return err
	}
	if len(listen.Exposed(ctx, flag)) == 0 {
		return nil
	}
	return terminal.Hinted(terminal.Usagef("--pprof %s: not a loopback address; profiles tell what is in the memory of the process", addr),
		"write 127.0.0.1:PORT, and reach it from another machine through ssh -L or kubectl port-forward")
}

// Server serves the profiles of this process. The nil one does nothing.
type Server struct {
	addr   string
	server *http.Server
}

// Start listens on the address that --pprof has; nil when it has none.
func Start(ctx context.Context, addr string, log *slog.Logger) (*Server, error) {
	if addr == "" {
		return nil, nil //nolint:nilnil // no profiles, as usual
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		if op, ok := errors.AsType[*net.OpError](err); ok {
			err = op.Err
		}
		return nil, listen.Error("pprof", "pprof", addr, err)
	}
	s := &Server{addr: l.Addr().String(), server: &http.Server{
		Handler: guarded(listen.Hosts(ctx, addr, nil)), ReadHeaderTimeout: 10 * time.Second,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}}
	go func() { _ = s.server.Serve(l) }() // until Close
	log.Info("profiles are served", "pprof", s.URL())
	return s, nil
}

// URL is where the profiles are; "" when they are not served.
func (s *Server) URL() string {
	if s == nil {
		return ""
	}
	return "http://" + s.addr + Path
}

// Close ends the server, and profiles that are just taken.
func (s *Server) Close() {
	if s != nil {
		_ = s.server.Close()
	}
}

// guarded serves the profiles to those who call this machine by a name of its own, which no page of the web can.
func guarded(allowed func(host string) bool) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc(Path, pprof.Index)
	mux.HandleFunc(Path+"cmdline", program)
	mux.HandleFunc(Path+"profile", pprof.Profile)
	mux.HandleFunc(Path+"symbol", pprof.Symbol)
	mux.HandleFunc(Path+"trace", pprof.Trace)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if allowed != nil && !allowed(r.Host) {
			http.Error(w, "not the name of this machine", http.StatusMisdirectedRequest)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// program tells the program without its arguments, which may hold passwords.
func program(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte(filepath.Base(os.Args[0]))) //nolint:gosec // plain text, and not from a caller
}
