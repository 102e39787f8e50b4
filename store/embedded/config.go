package embedded

import (
	"log/slog"
	"net"
	"strconv"
	"time"
)

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
