package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/scheduler"
)

// Config says where and how Carillon's data is kept. The zero value is usable.
type Config struct {
	// Prefix begins every subject, bucket and stream name, so that several
	// schedulers can share one NATS account. Default "carillon".
	Prefix string

	// Lanes is how many partitions the batons are spread over. It is fixed
	// at the first start: one lane is a stream of its own, with its own
	// leader and file. 0 takes the stored number, or 1 at the first start.
	Lanes int

	// Replicas of every stream and bucket, 1 to 5. Those that have fewer are
	// brought up to it, and a store that has more is refused. 0 takes the
	// stored number, or 1 at the first start.
	Replicas int

	// ReduceReplicas lets Replicas lower the number that is stored.
	ReduceReplicas bool

	// Storage is file (the default) or memory. Memory is for tests: nothing
	// survives the server.
	Storage jetstream.StorageType

	// HistoryAge is how long history records are kept. Default 60 days.
	HistoryAge time.Duration

	// HistoryPerJob is how many records of each outcome a job keeps, if they
	// are not older than HistoryAge. [Unlimited] keeps them all. Default 1000.
	HistoryPerJob int64

	// FinalAge is how long completed and faulted jobs are kept. Default 60 days.
	FinalAge time.Duration

	// ResultAge is how long the results of published specs are kept.
	// Default 7 days.
	ResultAge time.Duration

	// AuditAge is how long audit records are kept. Default 400 days.
	AuditAge time.Duration

	// SyncAlways says that the server waits for the disk at every write: records
	// are then written in groups under load, each with one such wait, and a herd
	// is fired earlier. It changes nothing about what survives. Default: the
	// server does not.
	SyncAlways bool

	// Progress is told what an [Open] makes, in words such as "creating stream
	// CARILLON_HISTORY with 3 replicas". Default: nobody is.
	Progress func(what string)

	// Restarts says that this process restarts the server when streams are
	// shut. Errors do not advise it then.
	Restarts bool

	// Logger takes what cannot be returned. Default: discard.
	Logger *slog.Logger
}

// The defaults of a [Config].
const (
	DefaultPrefix        = "carillon"
	DefaultHistoryAge    = 60 * 24 * time.Hour
	DefaultHistoryPerJob = 90_000 // a record a minute for DefaultHistoryAge
	DefaultFinalAge      = 60 * 24 * time.Hour
	DefaultResultAge     = 7 * 24 * time.Hour
	DefaultAuditAge      = 400 * 24 * time.Hour // a year, and the month in which it is looked at
	MaxLanes             = 256
	MaxReplicas          = 5
)

// Unlimited is a HistoryPerJob without limit.
const Unlimited = -1

var validPrefix = regexp.MustCompile(`^[A-Za-z][-_A-Za-z0-9]{0,31}(\.[A-Za-z][-_A-Za-z0-9]{0,31}){0,3}$`)

// CheckPrefix says what is wrong with a prefix; "" when nothing is.
func CheckPrefix(prefix string) string {
	if validPrefix.MatchString(prefix) {
		return ""
	}
	return fmt.Sprintf("%q is not one to four words, with dots between them, that begin with a letter and have at most "+
		"32 letters, digits, - and _", prefix)
}

func (c Config) withDefaults() (Config, error) {
	if c.Prefix == "" {
		c.Prefix = DefaultPrefix
	}
	if CheckPrefix(c.Prefix) != "" {
		return c, &SettingError{Setting: "prefix", Message: CheckPrefix(c.Prefix)}
	}
	if c.Lanes < 0 || c.Lanes > MaxLanes {
		return c, &SettingError{Setting: "lanes", Message: fmt.Sprintf("%d is not in 1-%d", c.Lanes, MaxLanes)}
	}
	if c.Replicas < 0 || c.Replicas > MaxReplicas {
		return c, &SettingError{Setting: "replicas", Message: fmt.Sprintf("%d is not in 1-%d", c.Replicas, MaxReplicas)}
	}
	if c.HistoryAge == 0 {
		c.HistoryAge = DefaultHistoryAge
	}
	if c.HistoryPerJob == 0 {
		c.HistoryPerJob = DefaultHistoryPerJob
	}
	c.HistoryPerJob = max(c.HistoryPerJob, Unlimited)
	if c.FinalAge == 0 {
		c.FinalAge = DefaultFinalAge
	}
	if c.ResultAge == 0 {
		c.ResultAge = DefaultResultAge
	}
	if c.AuditAge == 0 {
		c.AuditAge = DefaultAuditAge
	}
	if c.Progress == nil {
		c.Progress = func(string) {}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, nil
}

// stream returns a stream's name: CARILLON_HISTORY.
func (c Config) stream(name string) string {
	return strings.ToUpper(strings.ReplaceAll(c.Prefix, ".", "_")) + "_" + name
}

// bucket returns a key-value bucket's name: carillon-jobs.
func (c Config) bucket(name string) string {
	return strings.ReplaceAll(c.Prefix, ".", "_") + "-" + name
}

// Schema is the form of what is stored. It grows when this version could not read, or would spoil, what a later one writes,
// which then refuses an earlier one.
const Schema = 1

// DataSetting is the Setting of a [SettingError] for which what is stored is to blame.
const DataSetting = "store"

// schemaKey is the setting that holds it.
const schemaKey = "schema"

// takeSchema refuses a store of another form, and notes the form of a new one.
func takeSchema(ctx context.Context, settings jetstream.KeyValue) error {
	mine := strconv.Itoa(Schema)
	e, err := settings.Get(ctx, schemaKey)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		if _, err = settings.Create(ctx, schemaKey, []byte(mine)); !errors.Is(err, jetstream.ErrKeyExists) {
			return translate(err)
		}
		e, err = settings.Get(ctx, schemaKey) // another replica was quicker
	}
	if err != nil {
		return translate(err)
	}
	if stored := string(e.Value()); stored != mine {
		return &SettingError{Setting: DataSetting, Conflict: true, Message: fmt.Sprintf(
			"a later version of Carillon has written it (form %q; this version knows form %s): start that version", stored, mine,
		)}
	}
	return nil
}

// OpenBeside opens a store for a tool beside the schedulers. Of one that is there nothing is changed: it keeps its lanes,
// its replicas, its kind of storage, and the ages of what is kept, whatever the Config says. One that is not there is
// created with the Config, or, with create false, is scheduler.ErrNotFound.
func OpenBeside(ctx context.Context, nc *nats.Conn, cfg Config, create bool) (*Store, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	js, err := jetstream.New(nc, jetstream.WithDefaultTimeout(publishTimeout))
	if err != nil {
		return nil, err
	}
	s := &Store{cfg: cfg, nc: nc, js: js}
	if err := s.checkServer(ctx); err != nil {
		return nil, err
	}
	jobs := "KV_" + cfg.bucket(jobsBucket) // the tool for access tokens creates the settings
	st, err := js.Stream(ctx, jobs)
	switch {
	case errors.Is(err, jetstream.ErrStreamNotFound) && create:
		return Open(ctx, nc, cfg)
	case errors.Is(err, jetstream.ErrStreamNotFound):
		return nil, fmt.Errorf("a scheduler's store with the prefix %s: %w", cfg.Prefix, scheduler.ErrNotFound)
	case err != nil:
		return nil, s.openError("stream "+jobs, err)
	}
	have := st.CachedInfo().Config
	cfg.Lanes, cfg.Replicas, cfg.Storage = 0, 0, have.Storage
	for _, kept := range []struct {
		stream string
		take   func(jetstream.StreamConfig)
	}{
		{"HISTORY", func(c jetstream.StreamConfig) {
			cfg.HistoryAge, cfg.HistoryPerJob = c.MaxAge, bound(c.MaxMsgsPerSubject)
		}},
		{"SPEC_RESULTS", func(c jetstream.StreamConfig) { cfg.ResultAge = c.MaxAge }},
		{auditStream, func(c jetstream.StreamConfig) { cfg.AuditAge = c.MaxAge }},
	} {
		st, err := js.Stream(ctx, cfg.stream(kept.stream))
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			continue // lost
		}
		if err != nil {
			return nil, s.openError("stream "+cfg.stream(kept.stream), err)
		}
		kept.take(st.CachedInfo().Config)
	}
	return Open(ctx, nc, cfg)
}

// Prefix begins every name of the store.
func (s *Store) Prefix() string { return s.cfg.Prefix }
