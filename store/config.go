package store

import (
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
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
