package listen

import (
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/internal/spelling"
)

// A Server serves HTTP with limits of size and time. It remembers how clients spell headers if its listener is a
// [spelling.Listener], and knows when its last connection has ended.
type Server struct {
	http.Server

	open sync.WaitGroup // goroutines of connections
}

// NewServer returns a server. The logger gets, at debug level, what clients do wrong.
func NewServer(handler http.Handler, logger *slog.Logger) *Server {
	s := &Server{}
	s.Server = http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       time.Minute,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ConnState:         s.count,
		ConnContext:       spelling.ConnContext,
		ErrorLog:          slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
	}
	return s
}

// count tracks the goroutines of connections, but for hijacked ones.
func (s *Server) count(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		s.open.Add(1)
	case http.StateClosed, http.StateHijacked:
		s.open.Done()
	default:
	}
}

// Wait returns when no connection is served any more. Close or shut the server down first.
func (s *Server) Wait() { s.open.Wait() }
