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

	restarting sync.Mutex // one restart at a time, and none after the end
	closed     bool

	mu   sync.Mutex
	nats *server.Server
}

// Start starts a server and waits until JetStream answers, a few seconds for a
// million waiting jobs.
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
	if n, _, known := space(cfg.Dir); known && n < Room {
		s.Close()
		return nil, dirError(cfg.Dir, syscall.ENOSPC)
	}
	if err := s.start(ctx); err != nil {
		s.Close()
		return nil, err
	}
	if addr, ok := s.current().Addr().(*net.TCPAddr); ok {
		s.options.Port = addr.Port // a restart has the same
	}
	return s, nil
}

// maxStore is no limit in bytes. The server's own would be three quarters of what is free at the start, also if that is
// little and more becomes free.
const maxStore = 1 << 50

// options translates the config. It makes sure that the port is free before
// anything else is done: a busy one is the common mistake.
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

// await returns when JetStream answers, which is a moment after the server
// says that it runs.
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

// Space is how many bytes are free for the data directory, and of how many; false when that is not known.
func (s *Server) Space() (free, total uint64, known bool) { return space(s.cfg.Dir) }

// Connect opens a connection inside the process, with [ConnectOptions] and
// then opts.
func (s *Server) Connect(opts ...nats.Option) (*nats.Conn, error) {
	all := append(ConnectOptions(), nats.InProcessServer(s), nats.ReconnectWait(reconnectWait))
	return nats.Connect("", append(all, opts...)...)
}

// reconnectWait is the pause between tries to reach a server that is restarted,
// which is not far.
const reconnectWait = 100 * time.Millisecond

// InProcessConn makes the connections of [Server.Connect], to the server as it
// runs at the moment.
func (s *Server) InProcessConn() (net.Conn, error) { return s.current().InProcessConn() }

// URL is where clients on this machine connect, such as nats://127.0.0.1:4222;
// "" when the server does not listen.
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

// Close stops the server, which ends its connections, and frees the directory.
// It may be called more than once.
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

// ConnectOptions are the options that a scheduler's connection to any NATS
// server needs: it reconnects for ever, and soon, as others take one that is away for
// more than a second for one that has died; and it buffers nothing meanwhile,
// as a write that waits in a buffer would be reported as one that timed out and
// happen all the same.
func ConnectOptions() []nats.Option {
	return []nats.Option{
		nats.Name("carillon"), nats.MaxReconnects(-1), nats.ReconnectBufSize(-1),
		nats.ReconnectWait(250 * time.Millisecond), nats.ReconnectJitter(100*time.Millisecond, 250*time.Millisecond),
		nats.SetCustomDialer(wire.Dialer{Timeout: nats.DefaultTimeout}),
	}
}

// Config says how an embedded server runs. Dir is required.
type Config struct {
	// Dir is where everything is kept. It is created, with its parents, when
	// it does not exist; only its owner may read it.
	Dir string

	// Addr is where clients outside the process connect, as host:port; port 0
	// takes a free one, which [Server.URL] tells. Default: no listener, and
	// only [Server.Connect] reaches the server.
	Addr string

	// SyncInterval is how long written data may wait for its fsync: what a
	// power cut can cost. Raise it for throughput on slow disks. Default 1 s.
	SyncInterval time.Duration

	// SyncAlways makes every write wait for its own fsync. Nothing that was
	// acknowledged is lost in a power cut then, at hundreds of writes a
	// second on an ordinary disk instead of ten thousands.
	SyncAlways bool

	// MaxConnections is how many clients, those inside the process among them,
	// are served at once; others are refused. Default: 65,536.
	MaxConnections int

	// Logger takes the server's warnings and errors, and at level debug its
	// notices. Default: discard.
	Logger *slog.Logger
}

// DefaultSyncInterval is the default of [Config] SyncInterval.
const DefaultSyncInterval = time.Second

// maxPayload is the largest message in bytes. It is far above the largest job
// document, so that one which is too large is taken and rejected with an
// event that says so, instead of breaking its sender's connection.
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

// splitAddr reads Addr. listen is false when there is none.
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

// Room is how many bytes must be free in the data directory for a start to be
// of use: a few blocks, and what the server writes when it stops.
const Room = 8 << 20

// errClosed says that a server was closed and is not started again.
var errClosed = errors.New("the embedded NATS server was closed")

// Healthy returns nil while the server takes writes, or what is wrong: a write
// has failed, and the stream is shut until a [Server.Restart].
func (s *Server) Healthy() error {
	status := s.current().Healthz(&server.HealthzOptions{})
	if status.Error == "" {
		return nil
	}
	return &StartError{Reason: status.Error}
}

// Restart stops the server and starts it again, as a stream needs that was shut
// because of a failed write. It does nothing but return a [*DirError] as long as
// the directory has no [Room]. The addresses stay; connections, those of
// [Server.Connect] among them, come back by themselves. A restart that fails
// leaves no server running, and can be repeated.
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

// CheckRoom makes sure that a directory has [Room], and returns a [*DirError] if
// not. It writes so much: what a file system has free says nothing of quotas.
func CheckRoom(dir string) error {
	f, err := os.CreateTemp(dir, ".probe-*")
	if err != nil {
		return dirError(dir, err)
	}
	defer os.Remove(f.Name()) //nolint:errcheck // what is left of it does no harm
	block := make([]byte, 1<<20)
	for left := Room; left > 0 && err == nil; left -= len(block) {
		_, err = f.Write(block[:min(left, len(block))])
	}
	if err == nil {
		err = f.Sync() // some file systems find out late
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return dirError(dir, err)
	}
	return nil
}
