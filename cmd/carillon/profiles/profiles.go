// Package profiles serves Go profiles for `go tool pprof` on a separate address. Profiles reveal the process's
// memory and cost it time, so they are off by default and reachable only from this machine.
package profiles

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/pprof"
	"os"
	"path/filepath"

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
	return terminal.Hinted(terminal.Usagef("--pprof %s: not a loopback address; profiles expose the memory of the process", addr),
		"write 127.0.0.1:PORT, and reach it from another machine through ssh -L or kubectl port-forward")
}

// Start serves the profiles of this process on the address that --pprof has; nil when it has none.
func Start(ctx context.Context, addr string, log *slog.Logger) (*listen.Side, error) {
	mux := http.NewServeMux()
	mux.HandleFunc(Path, pprof.Index)
	mux.HandleFunc(Path+"cmdline", program)
	mux.HandleFunc(Path+"profile", pprof.Profile)
	mux.HandleFunc(Path+"symbol", pprof.Symbol)
	mux.HandleFunc(Path+"trace", pprof.Trace)
	s, err := listen.Serve(ctx, listen.Flag{Name: "pprof", Addr: addr}, Path, mux, log)
	if s != nil {
		log.Info("profiles are served", "pprof", s.URL())
	}
	return s, err
}

// program returns the program's name without its arguments, which may contain passwords.
func program(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte(filepath.Base(os.Args[0]))) //nolint:gosec // plain text, and not from a caller
}
