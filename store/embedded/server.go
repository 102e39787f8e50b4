package embedded

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/store/wire"
)

// Server is a running NATS server.
type Server struct {
	cfg     Config
	options *server.Options
	lock    *os.File

	restarting sync.Mutex // serializes restarts, and prevents one after Close
	closed     bool

	mu   sync.Mutex
	nats *server.Server
}

// Start starts a server and waits until JetStream answers, which takes a few seconds with a million waiting jobs.
func Start(ctx context.Context, cfg Config) (*Server, error) {
	cfg = cfg.withDefaults()
	options, err := cfg.options(ctx)
	if err != nil {
		return nil, err
	}
	lock, err := lockDir(cfg.Dir)
	if err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg, options: options, lock: lock}
	if n, _, known := space(cfg.Dir); known && n < MinFreeSpace {
		s.Close()
		return nil, dirError(cfg.Dir, syscall.ENOSPC)
	}
	if err := s.start(ctx); err != nil {
		s.Close()
		return nil, err
	}
	if addr, ok := s.current().Addr().(*net.TCPAddr); ok {
		s.options.Port = addr.Port // a restart reuses the port
	}
	return s, nil
}

// maxStore disables the server's storage limit. The server's default is three quarters of the space that is free at the
// start, even if little is free then and more later.
const maxStore = 1 << 50

// Config configures an embedded server. Dir is required.
type Config struct {
	// Dir is the data directory. It is created if necessary, with its parents; only its owner can read it.
	Dir string

	// Addr is the listen address for other processes, as host:port. Port 0 selects a free port; see [Server.URL].
	// Default: no listener, only [Server.Connect].
	Addr string

	// SyncInterval is the maximum time before written data is synced, and so the data that a power failure can lose.
	// Raise it for throughput on slow disks. Default: 1s.
	SyncInterval time.Duration

	// SyncAlways syncs every write, so that no acknowledged write is lost in a power failure. An ordinary disk then
	// takes hundreds of writes per second instead of tens of thousands.
	SyncAlways bool

	// MaxConnections is the maximum number of clients, including in-process ones. Further clients are refused. Default:
	// 65,536.
	MaxConnections int

	// Logger logs the server's warnings and errors, and its notices at debug level. Default: discard.
	Logger *slog.Logger
}

// options returns the server's options. It first checks that the port is free, because a busy port is the most common
// mistake.
func (c Config) options(ctx context.Context) (*server.Options, error) {
	o := &server.Options{
		ServerName: "carillon-embedded", DontListen: true, NoSigs: true, MaxPayload: maxPayload,
		JetStream: true, StoreDir: c.Dir, SyncInterval: c.SyncInterval, SyncAlways: c.SyncAlways,
		MaxConn: c.MaxConnections, JetStreamMaxStore: maxStore, DisableJetStreamBanner: true,
	}
	host, port, listen, err := c.splitAddr()
	if err != nil {
		return nil, portError(c.Addr, err)
	}
	if !listen {
		return o, nil
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", c.Addr)
	if err != nil {
		return nil, portError(c.Addr, err)
	}
	l.Close()
	o.DontListen, o.Host, o.Port = false, host, port
	if port == 0 {
		o.Port = server.RANDOM_PORT
	}
	return o, nil
}

func (s *Server) start(ctx context.Context) error {
	n, err := server.NewServer(s.options.Clone())
	if err != nil {
		return startError(s.cfg.Dir, err.Error())
	}
	log := &logger{log: s.cfg.Logger}
	n.SetLoggerV2(log, false, false, false)
	s.mu.Lock()
	s.nats = n
	s.mu.Unlock()
	n.Start()
	if reason := log.failure(); reason != "" {
		return startError(s.cfg.Dir, reason)
	}
	return s.await(ctx)
}

func (s *Server) current() *server.Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.nats
}

// await waits until JetStream answers, which is shortly after the server reports that it is running.
func (s *Server) await(ctx context.Context) error {
	nc, err := s.Connect()
	if err != nil {
		return &StartError{err.Error()}
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return &StartError{err.Error()}
	}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		_, err := js.AccountInfo(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return errors.Join(&StartError{"JetStream does not answer: " + err.Error()}, context.Cause(ctx))
		}
	}
}

// Space returns the free and total bytes for the data directory; known is false if the system does not report them.
func (s *Server) Space() (free, total uint64, known bool) { return space(s.cfg.Dir) }

// Connect opens an in-process connection with [ConnectOptions], then opts.
func (s *Server) Connect(opts ...nats.Option) (*nats.Conn, error) {
	all := append(ConnectOptions(), nats.InProcessServer(s), nats.ReconnectWait(reconnectWait))
	return nats.Connect("", append(all, opts...)...)
}

// reconnectWait is the pause between attempts to reach a restarting server, which is local.
const reconnectWait = 100 * time.Millisecond

// InProcessConn implements [nats.InProcessConnProvider]. It connects to the current server.
func (s *Server) InProcessConn() (net.Conn, error) { return s.current().InProcessConn() }

// URL returns the address for clients on this machine, such as nats://127.0.0.1:4222, or "" without a listener.
func (s *Server) URL() string {
	addr, ok := s.current().Addr().(*net.TCPAddr)
	if !ok {
		return ""
	}
	host := addr.IP.String()
	if addr.IP.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "nats://" + net.JoinHostPort(host, strconv.Itoa(addr.Port))
}

// Close stops the server, closes its connections and unlocks the directory. You can call it more than once.
func (s *Server) Close() {
	s.restarting.Lock()
	defer s.restarting.Unlock()
	if s.closed {
		return
	}
	s.closed = true
	s.stop()
	s.lock.Close()
}

func (s *Server) stop() {
	if n := s.current(); n != nil {
		n.Shutdown()
		n.WaitForShutdown()
	}
}

// ConnectOptions returns the options for a scheduler's connection to any NATS server. It reconnects without a limit of
// attempts, and quickly, because other processes consider a process dead that is disconnected for more than about a
// second. It buffers nothing while disconnected: a buffered write would time out and be stored later nevertheless.
func ConnectOptions() []nats.Option {
	return []nats.Option{
		nats.Name("carillon"), nats.MaxReconnects(-1), nats.IgnoreAuthErrorAbort(), nats.ReconnectBufSize(-1),
		nats.ReconnectWait(250 * time.Millisecond), nats.ReconnectJitter(100*time.Millisecond, 250*time.Millisecond),
		nats.SetCustomDialer(wire.Dialer{Timeout: nats.DefaultTimeout}),
	}
}

// DefaultSyncInterval is the default of [Config.SyncInterval].
const DefaultSyncInterval = time.Second

// maxPayload is the maximum message size in bytes. It is far above the maximum job document, so that an oversized
// document is accepted and rejected with an event instead of breaking the sender's connection.
const maxPayload = 4 << 20

func (c Config) withDefaults() Config {
	if c.SyncInterval <= 0 {
		c.SyncInterval = DefaultSyncInterval
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

// splitAddr parses Addr. listen is false if Addr is empty.
func (c Config) splitAddr() (host string, port int, listen bool, err error) {
	if c.Addr == "" {
		return "", 0, false, nil
	}
	host, service, err := net.SplitHostPort(c.Addr)
	if err != nil {
		return "", 0, false, err
	}
	n, err := strconv.ParseUint(service, 10, 16)
	if err != nil {
		return "", 0, false, &net.AddrError{Err: "port is not a number from 0 to 65535", Addr: c.Addr}
	}
	return host, int(n), true, nil
}

// MinFreeSpace is the minimum free space in bytes in the data directory for a start: a few blocks, and the data written at
// shutdown.
const MinFreeSpace = 8 << 20

// errClosed is returned by Restart after Close.
var errClosed = errors.New("the embedded NATS server was closed")

// Healthy returns nil while the server accepts writes. It returns an error after a failed write, which makes the stream
// read-only until [Server.Restart].
func (s *Server) Healthy() error {
	status := s.current().Healthz(&server.HealthzOptions{})
	if status.Error == "" {
		return nil
	}
	return &StartError{Reason: status.Error}
}

// Restart restarts the server, which makes read-only streams writable after a failed write. It does nothing and returns
// a [*DirError] while the directory has less than [MinFreeSpace]. Addresses stay the same, and all connections reconnect. A
// failed restart leaves no server running; you can repeat it.
func (s *Server) Restart(ctx context.Context) error {
	s.restarting.Lock()
	defer s.restarting.Unlock()
	if s.closed {
		return errClosed
	}
	if err := CheckRoom(s.cfg.Dir); err != nil {
		return err
	}
	s.stop()
	return s.start(ctx)
}

// CheckRoom returns a [*DirError] if a directory has less than [MinFreeSpace]. It writes that amount, because the reported free
// space ignores quotas.
func CheckRoom(dir string) error {
	f, err := os.CreateTemp(dir, ".probe-*")
	if err != nil {
		return dirError(dir, err)
	}
	defer os.Remove(f.Name()) //nolint:errcheck // what is left of it does no harm
	block := make([]byte, 1<<20)
	for left := MinFreeSpace; left > 0 && err == nil; left -= len(block) {
		_, err = f.Write(block[:min(left, len(block))])
	}
	if err == nil {
		err = f.Sync() // some file systems report errors only now
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return dirError(dir, err)
	}
	return nil
}
