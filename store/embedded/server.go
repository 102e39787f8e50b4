package embedded

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/store/embedded/disk"
)

// Server is a running NATS server.
type Server struct {
	nats   *server.Server
	dir    string
	lock   *os.File
	log    *slog.Logger
	damage []disk.Damage
	close  sync.Once
}

// Start starts a server and waits until JetStream answers. It checks what the
// directory holds, takes out what is damaged, which the log tells of, and reads the
// rest back, a few seconds for a million waiting jobs.
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
	damage, err := disk.Check(ctx, cfg.Dir)
	for _, d := range damage {
		cfg.Logger.Error("the data directory is damaged", "stream", d.Stream, "file", d.File, "problem", d.Problem,
			"lost", strings.Join(d.Messages, " "), "kept", d.Kept)
	}
	if err != nil {
		lock.Close()
		return nil, &DirError{cfg.Dir, err}
	}
	n, err := server.NewServer(options)
	if err != nil {
		lock.Close()
		return nil, &StartError{err.Error()}
	}
	s := &Server{nats: n, dir: cfg.Dir, lock: lock, log: cfg.Logger, damage: damage}
	if err := s.start(ctx, cfg); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// options translates the config. It makes sure that the port is free before
// anything else is done: a busy one is the common mistake.
func (c Config) options(ctx context.Context) (*server.Options, error) {
	o := &server.Options{
		ServerName: "carillon-embedded", DontListen: true, NoSigs: true, MaxPayload: maxPayload,
		JetStream: true, StoreDir: c.Dir, SyncInterval: c.SyncInterval, SyncAlways: c.SyncAlways,
		DisableJetStreamBanner: true,
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

func (s *Server) start(ctx context.Context, cfg Config) error {
	log := &logger{log: cfg.Logger}
	s.nats.SetLoggerV2(log, false, false, false)
	s.nats.Start()
	if reason := log.failure(); reason != "" {
		return &StartError{reason}
	}
	return s.await(ctx)
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

// Connect opens a connection inside the process, with [ConnectOptions] and
// then opts.
func (s *Server) Connect(opts ...nats.Option) (*nats.Conn, error) {
	all := append(ConnectOptions(), nats.InProcessServer(s.nats))
	return nats.Connect("", append(all, opts...)...)
}

// URL is where clients on this machine connect, such as nats://127.0.0.1:4222;
// "" when the server does not listen.
func (s *Server) URL() string {
	addr, ok := s.nats.Addr().(*net.TCPAddr)
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
	s.close.Do(func() {
		s.nats.Shutdown()
		s.nats.WaitForShutdown()
		if err := disk.Seal(s.dir); err != nil {
			s.log.Warn("checksums not written: the next start cannot tell whether files were changed", "err", err)
		}
		s.lock.Close()
	})
}

// Damage is what the start has found wrong with the directory.
func (s *Server) Damage() []disk.Damage { return s.damage }

// ConnectOptions are the options that a scheduler's connection to any NATS
// server needs: it reconnects for ever, and it buffers nothing meanwhile, as a
// write that waits in a buffer would be reported as one that timed out and
// happen all the same.
func ConnectOptions() []nats.Option {
	return []nats.Option{nats.Name("carillon"), nats.MaxReconnects(-1), nats.ReconnectBufSize(-1)}
}
