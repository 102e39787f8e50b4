package conn

import (
	"cmp"
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

// Config configures a [Conn], and the stores on it. The zero value is usable.
type Config struct {
	// Prefix is the prefix of all subjects, buckets and streams, so several schedulers can share one NATS account.
	// Default: "carillon".
	Prefix string

	// Lanes is the number of partitions of the batons, fixed at the first start. Each lane is a stream with its own
	// leader and file. Default: the stored number, or 1 at the first start. At most 256.
	Lanes int

	// Replicas is the number of replicas of every stream and bucket, 1 to 5. Open adds missing replicas, and refuses a
	// store that has more. Default: the stored number, or 1 at the first start.
	Replicas int

	// ReduceReplicas allows Replicas to be lower than the stored number.
	ReduceReplicas bool

	// Storage is file or memory. Memory is for tests: no data survives the server. Default: file.
	Storage jetstream.StorageType

	// HistoryAge is the retention of history records. Default: 60 days.
	HistoryAge time.Duration

	// HistoryPerJob is the maximum number of records per job and outcome, within HistoryAge. [Unlimited] removes the
	// limit. Default: 90,000.
	HistoryPerJob int64

	// FinalAge is the retention of completed and faulted jobs. Default: 60 days.
	FinalAge time.Duration

	// ResultAge is the retention of the results of published specs. Default: 7 days.
	ResultAge time.Duration

	// AuditAge is the retention of the audit log. Default: 400 days.
	AuditAge time.Duration

	// EventAge and EventBytes limit how long and in how many bytes published events are stored. A full stream refuses new
	// events. Defaults: 7 days, 1 GiB.
	EventAge   time.Duration
	EventBytes int64

	// SyncAlways states that the server syncs every write. Under load, records are then written in batches with one
	// sync each, and a herd is fired earlier. It does not affect durability. Default: false.
	SyncAlways bool

	// Progress is called with each step of an [Open], such as "creating stream CARILLON_HISTORY with 3 replicas".
	// Default: none.
	Progress func(what string)

	// Restarts states that this process restarts the server when streams are read-only, so errors do not advise a
	// restart.
	Restarts bool

	// Logger logs problems that no call returns. Default: discard.
	Logger *slog.Logger
}

// Defaults and limits of a [Config].
const (
	DefaultPrefix        = "carillon"
	DefaultHistoryAge    = 60 * 24 * time.Hour
	DefaultHistoryPerJob = 90_000 // one record per minute for DefaultHistoryAge
	DefaultFinalAge      = 60 * 24 * time.Hour
	DefaultResultAge     = 7 * 24 * time.Hour
	DefaultAuditAge      = 400 * 24 * time.Hour // a year plus a month to review it
	DefaultEventAge      = 7 * 24 * time.Hour
	DefaultEventBytes    = 1 << 30
	MaxLanes             = 256
	MaxReplicas          = 5
)

// Unlimited is a HistoryPerJob without a limit.
const Unlimited = -1

var validPrefix = regexp.MustCompile(`^[A-Za-z][-_A-Za-z0-9]{0,31}(\.[A-Za-z][-_A-Za-z0-9]{0,31}){0,3}$`)

// CheckPrefix returns the problem with a prefix, or "".
func CheckPrefix(prefix string) string {
	if validPrefix.MatchString(prefix) {
		return ""
	}
	return fmt.Sprintf("%q is not one to four words, with dots between them, that begin with a letter and have at most "+
		"32 letters, digits, - and _", prefix)
}

func (c Config) withDefaults() (Config, error) {
	c.Prefix = cmp.Or(c.Prefix, DefaultPrefix)
	if CheckPrefix(c.Prefix) != "" {
		return c, &SettingError{Setting: "prefix", Message: CheckPrefix(c.Prefix)}
	}
	if c.Lanes < 0 || c.Lanes > MaxLanes {
		return c, &SettingError{Setting: "lanes", Message: fmt.Sprintf("%d is not in 1-%d", c.Lanes, MaxLanes)}
	}
	if c.Replicas < 0 || c.Replicas > MaxReplicas {
		return c, &SettingError{Setting: "replicas", Message: fmt.Sprintf("%d is not in 1-%d", c.Replicas, MaxReplicas)}
	}
	c.HistoryAge = cmp.Or(c.HistoryAge, DefaultHistoryAge)
	c.HistoryPerJob = max(cmp.Or(c.HistoryPerJob, DefaultHistoryPerJob), Unlimited)
	c.FinalAge = cmp.Or(c.FinalAge, DefaultFinalAge)
	c.ResultAge = cmp.Or(c.ResultAge, DefaultResultAge)
	c.AuditAge = cmp.Or(c.AuditAge, DefaultAuditAge)
	c.EventAge = cmp.Or(c.EventAge, DefaultEventAge)
	c.EventBytes = cmp.Or(c.EventBytes, DefaultEventBytes)
	if c.Progress == nil {
		c.Progress = func(string) {}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, nil
}

// AnnouncementPrefix returns the subject prefix of a bucket's announcements.
func (c Config) AnnouncementPrefix(bucket string) string { return c.Prefix + ".changed." + bucket }

// Republish returns the republish setting of a bucket's stream.
func (c Config) Republish(bucket string) *jetstream.RePublish {
	return &jetstream.RePublish{
		Source: "$KV." + c.Bucket(bucket) + ".>", Destination: c.AnnouncementPrefix(bucket) + ".>", HeadersOnly: true,
	}
}

// Stream returns the name of a stream, such as CARILLON_HISTORY.
func (c Config) Stream(name string) string {
	return strings.ToUpper(strings.ReplaceAll(c.Prefix, ".", "_")) + "_" + name
}

// Bucket returns the name of a key-value bucket, such as carillon-jobs.
func (c Config) Bucket(name string) string {
	return strings.ReplaceAll(c.Prefix, ".", "_") + "-" + name
}

// Schema is the version of the stored data. It increases when an older version could not read new data, or would damage
// it; older versions then refuse the store.
const Schema = 1

// DataSetting is the Setting of a [SettingError] that the stored data causes.
const DataSetting = "store"

// schemaKey is the settings key of the schema version.
const schemaKey = "schema"

// takeSchema refuses a store with another schema version, and records the version of a new store.
func (s *Conn) takeSchema(ctx context.Context) error {
	mine := strconv.Itoa(Schema)
	e, err := s.Settings.Get(ctx, schemaKey)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		if _, err = s.Settings.Create(ctx, schemaKey, []byte(mine)); !errors.Is(err, jetstream.ErrKeyExists) {
			return Translate(err)
		}
		e, err = s.Settings.Get(ctx, schemaKey) // another process has created it
	}
	if err != nil {
		return Translate(err)
	}
	if stored := string(e.Value()); stored != mine {
		return &SettingError{Setting: DataSetting, Conflict: true, Message: fmt.Sprintf(
			"a later version of Carillon has written it (form %q; this version knows form %s): start that version", stored, mine,
		)}
	}
	return nil
}

// Existing returns cfg with the lanes, replicas, storage type and retention of the store on a connection.
// scheduler.ErrNotFound if it does not exist.
func Existing(ctx context.Context, nc *nats.Conn, cfg Config) (Config, error) {
	s, err := New(nc, cfg)
	if err != nil {
		return cfg, err
	}
	if err := s.checkServer(ctx); err != nil {
		return cfg, err
	}
	cfg = s.Config
	jobs := "KV_" + cfg.Bucket("jobs") // not the settings, which the tool for access tokens creates
	st, err := s.JS.Stream(ctx, jobs)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return cfg, fmt.Errorf("a scheduler's store with the prefix %s: %w", cfg.Prefix, scheduler.ErrNotFound)
	}
	if err != nil {
		return cfg, s.openError("stream "+jobs, err)
	}
	cfg.Lanes, cfg.Replicas, cfg.Storage = 0, 0, st.CachedInfo().Config.Storage
	for _, kept := range []struct {
		stream string
		take   func(jetstream.StreamConfig)
	}{
		{"HISTORY", func(c jetstream.StreamConfig) {
			cfg.HistoryAge, cfg.HistoryPerJob = c.MaxAge, bound(c.MaxMsgsPerSubject)
		}},
		{"SPEC_RESULTS", func(c jetstream.StreamConfig) { cfg.ResultAge = c.MaxAge }},
		{"AUDIT", func(c jetstream.StreamConfig) { cfg.AuditAge = c.MaxAge }},
		{"EVENTS", func(c jetstream.StreamConfig) { cfg.EventAge, cfg.EventBytes = c.MaxAge, c.MaxBytes }},
	} {
		st, err := s.JS.Stream(ctx, cfg.Stream(kept.stream))
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			continue // the stream was lost
		}
		if err != nil {
			return cfg, s.openError("stream "+cfg.Stream(kept.stream), err)
		}
		kept.take(st.CachedInfo().Config)
	}
	return cfg, nil
}

// TimersStream returns the name of the stream of a lane, without its prefix.
func TimersStream(lane int) string { return "TIMERS_" + strconv.Itoa(lane) }
