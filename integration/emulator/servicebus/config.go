package servicebus

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// Config says what an emulator has and where it listens. The zero value is one on the ports of Microsoft's emulator, without
// entities.
type Config struct {
	// Addr is where AMQP is served. Default 127.0.0.1:5672; port 0 takes a free one.
	Addr string
	// HTTPAddr is where administration, health and AMQP over WebSocket are served. Default 127.0.0.1:5300; port 0 takes a free one.
	HTTPAddr string
	// TLS has the certificate with which both ports serve clients that begin with a TLS handshake. Others are served without.
	// Default: none, and TLS is refused.
	TLS *tls.Config
	// Keys are the shared access keys by name. Default: that of Microsoft's emulator.
	Keys map[string]string
	// Auth says how strictly keys are checked. Default [Lenient]: any key will do.
	Auth Auth
	// Entities are made at the start, or brought up to date if the data has them already. ReadConfig reads them.
	Entities Entities
	// AutoCreate makes queues, topics and subscriptions when they are first used. Default: what is unknown is refused.
	AutoCreate bool
	// Data is a folder for what should survive a restart. Default: none, everything is in memory.
	Data string
	// Sync waits for the disk, not only for the operating system, before anything is acknowledged.
	Sync bool
	// MaxMessageSize is how many bytes a message or batch may have. Default 1 MiB.
	MaxMessageSize int64
	// IdleTimeout is half of how long a client may be silent. Default one minute.
	IdleTimeout time.Duration
	// AllowHost decides which names the HTTP port answers to, as they stand in the header Host, so that no page of the web whose
	// name leads here gets an answer. Default: all.
	AllowHost func(host string) bool
	// Logger takes what an operator should know. Default: nothing is logged.
	Logger *slog.Logger
}

// withDefaults checks the config and fills in what it does not say.
func (c Config) withDefaults() (Config, error) {
	if c.Addr == "" {
		c.Addr = "127.0.0.1:5672"
	}
	if c.HTTPAddr == "" {
		c.HTTPAddr = "127.0.0.1:5300"
	}
	if c.MaxMessageSize <= 0 {
		c.MaxMessageSize = 1 << 20
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if len(c.Keys) == 0 {
		c.Keys = map[string]string{DefaultKeyName: DefaultKey}
	}
	var problems []error
	mode, err := ParseAuth(string(c.Auth))
	if err != nil {
		problems = append(problems, fmt.Errorf("auth: %w", err))
	}
	c.Auth = mode
	for name, key := range c.Keys {
		if name == "" || key == "" {
			problems = append(problems, errors.New("keys: a key needs a name and a text"))
		}
	}
	return c, errors.Join(problems...)
}
