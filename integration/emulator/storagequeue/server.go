package storagequeue

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/listen/connlimit"
	"github.com/carillon-sched/carillon/integration/emulator/internal/listen"
	"github.com/carillon-sched/carillon/integration/emulator/internal/spelling"
)

// How long a client may take, and how long Close waits for requests that are being carried out.
const (
	headerTimeout = 10 * time.Second
	readTimeout   = time.Minute
	writeTimeout  = time.Minute
	idleTimeout   = 2 * time.Minute
	closeGrace    = 500 * time.Millisecond
	maxHeader     = 64 << 10
)

// A Server is an emulator that listens.
type Server struct {
	handler *Handler
	http    *http.Server
	addr    net.Addr
	scheme  string
	// everywhere says that the configured address has no host.
	everywhere bool
	served     chan struct{} // closed when no more connections are taken
	done       chan struct{} // closed when it does not work any more
	failed     error         // of taking connections; read after served
	open       sync.WaitGroup
	release    func() bool // ends the watch over the context of Start
	closing    sync.Once
	closeErr   error
}

// Start returns an emulator that listens. It is closed when the context ends, or by [Server.Close].
func Start(ctx context.Context, cfg Config) (*Server, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if cfg.Addr == "" {
		cfg.Addr = DefaultAddr
	}
	handler, err := Open(cfg)
	if err != nil {
		return nil, err
	}
	listener, err := listen.TCP(ctx, cfg.Addr)
	if err != nil {
		return nil, errors.Join(&ListenError{cfg.Addr, err}, handler.Close())
	}
	s := &Server{
		handler: handler, addr: listener.Addr(), everywhere: strings.HasPrefix(cfg.Addr, ":"), scheme: "http",
		served: make(chan struct{}), done: make(chan struct{}),
	}
	clients := connlimit.New(cmp.Or(max(0, cfg.MaxConnections), connlimit.Share(connlimit.Files())))
	listener = clients.Listen(listener)
	if cfg.Certificate != nil {
		s.scheme = "https"
		listener = tls.NewListener(listener, &tls.Config{
			Certificates: []tls.Certificate{*cfg.Certificate}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"},
		})
	}
	s.http = &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ConnState:         s.count,
		ConnContext:       connContext(cfg.Certificate != nil),
		ErrorLog:          slog.NewLogLogger(handler.logger.Handler(), slog.LevelDebug), // what clients do wrong
	}
	clients.Watch(s.http, 0)
	go func() {
		defer close(s.served)
		if err := s.http.Serve(spelling.Listener{Listener: listener, Prefix: metaPrefix}); !errors.Is(err, http.ErrServerClosed) {
			s.failed = err
		}
	}()
	go func() {
		defer close(s.done)
		select {
		case <-s.served:
		case <-handler.store.Failed():
			handler.logger.Error("storage queue emulator cannot keep its data any more")
		}
	}()
	s.release = context.AfterFunc(ctx, func() { _ = s.Close() }) //nolint:contextcheck // that context has ended
	return s, nil
}

// Done is closed when the emulator does not work any more: after Close, or because it cannot go on, as when the disk is full. Close
// returns what went wrong, and is due in either case.
func (s *Server) Done() <-chan struct{} { return s.done }

// count keeps track of the goroutines of connections.
func (s *Server) count(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		s.open.Add(1)
	case http.StateClosed, http.StateHijacked:
		s.open.Done()
	default:
	}
}

// Close ends the emulator: requests that are being carried out get half a second to end. A second call waits for the first and
// returns the same.
func (s *Server) Close() error {
	s.closing.Do(func() {
		s.release()
		ctx, cancel := context.WithTimeout(context.Background(), closeGrace)
		defer cancel()
		if s.http.Shutdown(ctx) != nil {
			_ = s.http.Close()
		}
		<-s.served
		s.open.Wait()
		<-s.done
		s.closeErr = errors.Join(s.failed, s.handler.Close())
	})
	return s.closeErr
}

// Addr is where the emulator listens, as host:port.
func (s *Server) Addr() string { return s.addr.String() }

// URL is where the emulator serves, without an account: http://127.0.0.1:10001.
func (s *Server) URL() string {
	host, port, err := net.SplitHostPort(s.addr.String())
	if err != nil {
		return s.scheme + "://" + s.addr.String()
	}
	switch ip := net.ParseIP(host); {
	case ip.Equal(net.IPv4zero), ip.Equal(net.IPv6zero) && s.everywhere:
		host = "127.0.0.1"
	case ip.Equal(net.IPv6zero):
		host = "::1"
	}
	return s.scheme + "://" + net.JoinHostPort(host, port)
}

// ConnectionString is what the SDKs take for the default account or, if there are only others, for the first of them.
func (s *Server) ConnectionString() string {
	name := DefaultAccount
	if _, ok := s.handler.accounts[name]; !ok && len(s.handler.accounts) > 0 {
		name = slices.Min(slices.Collect(maps.Keys(s.handler.accounts)))
	}
	return s.ConnectionStringFor(name)
}

// ConnectionStringFor is what the SDKs take for an account. Unless the account is configured it has the default key, which is
// accepted from it only with AnyAccount or Lenient keys.
func (s *Server) ConnectionStringFor(account string) string {
	key, ok := s.handler.accounts[account]
	if !ok {
		key = DefaultKey
	}
	return "DefaultEndpointsProtocol=" + s.scheme + ";AccountName=" + account + ";AccountKey=" + key +
		";QueueEndpoint=" + s.URL() + "/" + account + ";"
}

// ServeHTTP answers a request as the server does, for use behind another one.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.handler.ServeHTTP(w, r)
}

type secureKey struct{}

// connContext has the contexts of requests say whether they came through TLS, which net/http sees only of its own.
func connContext(secure bool) func(context.Context, net.Conn) context.Context {
	return func(ctx context.Context, socket net.Conn) context.Context {
		if secure {
			ctx = context.WithValue(ctx, secureKey{}, true)
		}
		return spelling.ConnContext(ctx, socket)
	}
}
