package storagequeue

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/carillon-sched/carillon/cmd/carillon/listen/connlimit"
	"github.com/carillon-sched/carillon/integration/emulator/internal/exposition"
	"github.com/carillon-sched/carillon/integration/emulator/internal/listen"
	"github.com/carillon-sched/carillon/integration/emulator/internal/spelling"
	"github.com/carillon-sched/carillon/integration/emulator/internal/wal"
	"github.com/carillon-sched/carillon/integration/emulator/storagequeue/internal/wire"
)

// closeGrace limits the wait of Close for requests in progress.
const closeGrace = 500 * time.Millisecond

// A Server is an emulator that listens.
type Server struct {
	handler *Handler
	http    *listen.Server
	addr    net.Addr
	scheme  string
	// everywhere states that the configured address has no host.
	everywhere bool
	served     chan struct{} // closed when the server accepts no more connections
	done       chan struct{} // closed when it does not work any more
	failed     error         // of taking connections; read after served
	release    func() bool   // ends the watch over the context of Start
	closing    sync.Once
	closeErr   error
}

// Start returns an emulator that listens. It is closed when the context ends, or by [Server.Close].
func Start(ctx context.Context, cfg Config) (*Server, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	cfg.Addr = cmp.Or(cfg.Addr, DefaultAddr)
	handler, err := Open(cfg)
	if err != nil {
		return nil, err
	}
	listener, err := listen.TCP(ctx, "storage queue", cfg.Addr)
	if err != nil {
		return nil, errors.Join(err, handler.Close())
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
	s.http = listen.NewServer(handler, handler.cfg.Logger)
	s.http.WriteTimeout = time.Minute
	if cfg.Certificate != nil {
		s.http.ConnContext = secureContext
	}
	clients.Watch(&s.http.Server, 0)
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
			handler.cfg.Logger.Error("storage queue emulator cannot keep its data any more")
		}
	}()
	s.release = context.AfterFunc(ctx, func() { _ = s.Close() }) //nolint:contextcheck // that context has ended
	return s, nil
}

// Done is closed when the emulator has stopped: after Close, or after a failure such as a full disk. Close must
// be called in both cases; it returns the failure.
func (s *Server) Done() <-chan struct{} { return s.done }

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
		s.http.Wait()
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

// ConnectionString returns the connection string of the default account or, without it, of the first account.
func (s *Server) ConnectionString() string {
	name := DefaultAccount
	if _, ok := s.handler.cfg.Accounts[name]; !ok && len(s.handler.cfg.Accounts) > 0 {
		name = slices.Min(slices.Collect(maps.Keys(s.handler.cfg.Accounts)))
	}
	return s.ConnectionStringFor(name)
}

// ConnectionStringFor returns the connection string of an account. An account that is not configured has the
// default key, which is accepted only with Lenient keys.
func (s *Server) ConnectionStringFor(account string) string {
	key, ok := s.handler.cfg.Accounts[account]
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

// secureContext marks the contexts of TLS requests, because net/http recognizes only its own TLS connections.
func secureContext(ctx context.Context, socket net.Conn) context.Context {
	return spelling.ConnContext(context.WithValue(ctx, secureKey{}, true), socket)
}

// ErrDataInUse is wrapped by the error of [Start] and [Open] when another process uses the folder of the data.
var ErrDataInUse = wal.ErrLocked

// A ListenError reports an address on which Start cannot listen.
type ListenError = listen.Error

const metricPrefix = "carillon_emulator_storagequeue_"

var messagesMetric = exposition.Gauge(metricPrefix+"messages", "Messages in a queue, visible or not.", "account", "queue")

// isMetrics reports whether a request is for the metrics. A request for an account named metrics has a query.
func (c *call) isMetrics() bool {
	return c.r.Method == http.MethodGet && c.r.URL.Path == "/metrics" && c.r.URL.RawQuery == ""
}

// metrics serves Prometheus metrics, without authentication.
func (c *call) metrics() error {
	if !c.isMine() {
		return wire.UnknownHost
	}
	c.status = http.StatusOK
	c.handler.metrics.ServeHTTP(c.w, c.r)
	return nil
}

// collect reports the messages in each queue.
func (h *Handler) collect(to chan<- prometheus.Metric) {
	for name, messages := range h.store.Counts(time.Now()) {
		to <- messagesMetric(float64(messages), name.Account, name.Queue)
	}
}

// The account that every storage emulator has, and its key, which is no secret.
const (
	DefaultAccount = "devstoreaccount1"
	DefaultKey     = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)

// DefaultAddr is where storage emulators serve queues.
const DefaultAddr = "127.0.0.1:10001"

// Keys selects how requests are authenticated.
type Keys int

const (
	// Strict verifies every signature and its permissions.
	Strict Keys = iota
	// Lenient takes every account and any key, signature or token, or none.
	Lenient
)

// Config configures an emulator. The zero value runs the default account at the default address, in memory.
type Config struct {
	// Addr is where to listen. Port 0 takes a free one. Default [DefaultAddr].
	Addr string
	// Accounts are the accounts by name, with their keys in base64. Default: [DefaultAccount] with [DefaultKey].
	Accounts map[string]string
	// Keys says whether signatures are verified. Default [Strict].
	Keys Keys
	// AutoCreate creates a queue when a client sends, receives, peeks or clears messages in it. Default false:
	// QueueNotFound.
	AutoCreate bool
	// Data is the directory of persistent data. One process at a time can use it. Default: memory only.
	Data string
	// Sync flushes each change to the disk before it is answered, against loss of power. Default false.
	Sync bool
	// MaxConnections limits the clients. A new one replaces the one that has been silent longest. Default: an eighth
	// of the process's limit of open files, at most 4,096.
	MaxConnections int
	// Certificate makes the server speak HTTPS. Default none.
	Certificate *tls.Certificate
	// AllowHost reports whether a host name in the Host header is accepted, to stop DNS rebinding. Default: all are.
	AllowHost func(host string) bool
	// Logger receives a line per request at debug level, and errors. Default: discard.
	Logger *slog.Logger
}

// keyring returns the keys of the accounts.
func (c *Config) keyring() (map[string][]byte, error) {
	accounts := c.Accounts
	if len(accounts) == 0 {
		accounts = map[string]string{DefaultAccount: DefaultKey}
	}
	keys := map[string][]byte{}
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(accounts)) {
		if err := CheckAccount(name, accounts[name]); err != nil {
			problems = append(problems, fmt.Errorf("accounts: %w", err))
		}
		key, _ := base64.StdEncoding.DecodeString(accounts[name])
		keys[name] = key
	}
	if c.Keys != Strict && c.Keys != Lenient {
		problems = append(problems, fmt.Errorf("keys: %d is neither Strict nor Lenient", c.Keys))
	}
	return keys, errors.Join(problems...)
}

// CheckAccount checks the name and the key of an account.
func CheckAccount(name, key string) error {
	raw, err := base64.StdEncoding.DecodeString(key)
	switch {
	case !isAccount(name):
		return fmt.Errorf("%q: a name has up to 63 lower-case letters, digits and dashes", name)
	case err != nil:
		return fmt.Errorf("the key of %s: %w", name, err)
	case len(raw) == 0:
		return fmt.Errorf("the key of %s is empty", name)
	}
	return nil
}

// isAccount reports whether a name is valid for an account. The service permits 3 to 24 letters and digits.
func isAccount(name string) bool {
	return accountName.MatchString(name) && !strings.HasSuffix(name, secondarySuffix)
}

var accountName = regexp.MustCompile(`^[a-z0-9-]{1,63}$`)
