package servicebus

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/listen/connlimit"
	"github.com/carillon-sched/carillon/integration/emulator/internal/listen"
	"github.com/carillon-sched/carillon/integration/emulator/internal/wal"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/auth"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
)

// Config configures an emulator and its listeners. The zero value listens on the ports of Microsoft's emulator, without
// entities.
type Config struct {
	// Addr is where AMQP is served. Default 127.0.0.1:5672; port 0 takes a free one.
	Addr string
	// HTTPAddr is where administration, health and AMQP over WebSocket are served. Default 127.0.0.1:5300; port 0 takes a free one.
	HTTPAddr string
	// TLS holds the certificate for clients that begin with a TLS handshake, on both ports. Other clients use plain
	// connections. Default: none; TLS is refused.
	TLS *tls.Config
	// Keys are the shared access keys by name. Default: the key of Microsoft's emulator.
	Keys map[string]string
	// Rights are what keys may be used for, by their names: some of Send, Listen and Manage, which has the others in it. Default:
	// everything.
	Rights map[string][]string
	// Auth is the strictness of key checks. Default [Lenient]: any key will do.
	Auth Auth
	// Entities are made at the start, or brought up to date if the data has them already. ReadConfig reads them.
	Entities Entities
	// AutoCreate creates queues, topics and subscriptions at their first use. Default: unknown entities are refused.
	AutoCreate bool
	// Data is a folder for what should survive a restart. Default: none, everything is in memory.
	Data string
	// Sync waits for the disk, not only for the operating system, before anything is acknowledged.
	Sync bool
	// Tier applies the limits of a namespace's tier to entities, sizes and counts, so that a program that would fail
	// there fails here. Default: only technical limits.
	Tier Tier
	// MaxMessageSize limits the bytes of a message or batch. Default 1 MiB, and with tiers 256 KiB but for [Premium].
	MaxMessageSize int64
	// AllowHost decides which values of the header Host the HTTP port accepts, so that no web page whose name resolves
	// to the emulator gets an answer. Default: all.
	AllowHost func(host string) bool
	// Explain has the Logger take, as warnings, what clients did wrong too: a line for each refusal, with a hint.
	Explain bool
	// MaxConnections is the maximum number of clients on each port. A further one replaces the client that has been
	// silent longest before authentication, or between requests. Default: an eighth of the process's file limit, at
	// most 4,096.
	MaxConnections int
	// Logger receives messages for operators. Default: none.
	Logger *slog.Logger
}

// withDefaults validates the config and sets defaults.
func (c Config) withDefaults() (Config, error) {
	c.Addr = cmp.Or(c.Addr, "127.0.0.1:5672")
	c.HTTPAddr = cmp.Or(c.HTTPAddr, "127.0.0.1:5300")
	c.MaxConnections = cmp.Or(max(c.MaxConnections, 0), connlimit.Share(connlimit.Files()))
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	if len(c.Keys) == 0 {
		c.Keys = map[string]string{DefaultKeyName: DefaultKey}
	}
	var problems []error
	mode, err := ParseAuth(string(c.Auth))
	if err != nil {
		problems = append(problems, fmt.Errorf("auth: %w", err))
	}
	c.Auth = mode
	if _, err := ParseTier(string(c.Tier)); err != nil {
		problems = append(problems, err)
	}
	for name, key := range c.Keys {
		if name == "" || key == "" {
			problems = append(problems, errors.New("keys: a key needs a name and a text"))
		}
	}
	for name, names := range c.Rights {
		if _, known := c.Keys[name]; !known {
			problems = append(problems, fmt.Errorf("rights: there is no key %q", name))
		}
		if _, err := auth.ParseRights(names); err != nil {
			problems = append(problems, fmt.Errorf("rights: key %q: %w", name, err))
		}
	}
	return c, errors.Join(problems...)
}

// ErrDataInUse is wrapped by the error of [Start] when another process uses the folder of the data.
var ErrDataInUse = wal.ErrLocked

// A ListenError reports an address on which Start cannot listen. Its port is "AMQP" for Config.Addr, or "HTTP" for
// Config.HTTPAddr.
type ListenError = listen.Error

// An EntityError reports an entity of the config that cannot be created.
type EntityError struct {
	Entity string // such as: topic "events": subscription "all"
	Err    error
}

// Error names the entity and the reason, without its condition.
func (e *EntityError) Error() string {
	if refused, ok := errors.AsType[*amqp.Error](e.Err); ok && refused.Description != "" {
		return e.Entity + ": " + refused.Description
	}
	return e.Entity + ": " + e.Err.Error()
}

// Unwrap returns the reason.
func (e *EntityError) Unwrap() error { return e.Err }

// A Tier is what kind of namespace is emulated.
type Tier = broker.Tier

// The tiers, with their limits from the service's page on quotas. All tiers limit the size of an entity (1024 MB by
// default, up to 5 times that), properties to 32 KB each and 64 KB together, a topic to 2,000 subscriptions and SQL
// filters, and a transaction to 100 messages.
const (
	// Basic has queues without sessions, duplicate detection, forwarding and deletion when idle. Messages have 256 KB and live 14
	// days.
	Basic = broker.Basic
	// Standard has messages of 256 KB, and 10,000 queues and topics.
	Standard = broker.Standard
	// Premium has messages of 1 MB, or up to 100 MB where an entity says so, 1,000 queues and topics, and neither express nor
	// partitioned ones.
	Premium = broker.Premium
)

// ParseTier returns the tier of a name, in any letter case; an empty name returns no tier.
func ParseTier(name string) (Tier, error) { return broker.ParseTier(name) }

// Auth is the strictness of the checks of keys, and of tokens signed with them. The zero value is [Lenient].
type Auth = auth.Mode

const (
	// Off checks nothing.
	Off = auth.Off
	// Lenient accepts every well-formed token that has not expired, signed with any key.
	Lenient = auth.Lenient
	// Strict accepts tokens that are signed with a configured key and that grant access to the entity.
	Strict = auth.Strict
)

// ParseAuth returns the mode of a name: off, lenient or strict in any case; the empty name is [Lenient].
func ParseAuth(name string) (Auth, error) { return auth.ParseMode(name) }

// CheckRights checks the names of rights: Send, Listen and Manage, case-insensitive.
func CheckRights(names []string) error {
	_, err := auth.ParseRights(names)
	return err
}

// keyring returns the keys of the config and the current keys of the entities.
func keyring(config Config, b *broker.Broker) auth.Keyring {
	ring := auth.Keyring{Mode: config.Auth, Keys: config.Keys, Rights: map[string]auth.Rights{}}
	for name, names := range config.Rights {
		ring.Rights[name], _ = auth.ParseRights(names) // checked with the config
	}
	ring.Entities = func() []auth.Key {
		var keys []auth.Key
		for path, rules := range b.AuthorizationRules() {
			keys = append(keys, entityKeys(path, rules)...)
		}
		return keys
	}
	return ring
}

// entityKeys returns the keys that the authorization rules of an entity are. A rule without rights, or with unknown ones, opens nothing.
func entityKeys(path string, rules []broker.AuthorizationRule) []auth.Key {
	var keys []auth.Key
	for _, rule := range rules {
		rights, err := auth.ParseRights(rule.Rights)
		if err != nil || len(rule.Rights) == 0 {
			continue
		}
		texts := slices.DeleteFunc([]string{rule.PrimaryKey, rule.SecondaryKey}, func(text string) bool { return text == "" })
		keys = append(keys, auth.Key{Name: rule.KeyName, Texts: texts, Entity: auth.Path(path), Rights: rights})
	}
	return keys
}

// The key of Microsoft's emulator, which is no secret.
const (
	DefaultKeyName = auth.DefaultName
	DefaultKey     = auth.DefaultKey
)

// SignToken returns a shared access signature for a resource such as sb://host/queue, made with the key of a name and
// good until its expiry.
func SignToken(name, key, resource string, expiry time.Time) string {
	return auth.Sign(name, key, resource, expiry)
}
