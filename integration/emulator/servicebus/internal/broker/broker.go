package broker

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/carillon-sched/carillon/integration/emulator/internal/wal"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/fault"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/index"
)

// journalMagic begins the files of the journal.
const journalMagic = "carillon journal 1\n"

// Config configures a broker. The zero value keeps everything in memory and does not create entities automatically.
type Config struct {
	// Dir is the directory of the journal. Default: none, everything is in memory.
	Dir string
	// Sync syncs the disk before each acknowledgement, so that even a power cut loses nothing. Default: false, which
	// survives the process but perhaps not the machine.
	Sync bool
	// SnapshotAfter is the journal size in bytes after which the broker writes a snapshot, to keep the journal short.
	// The next one follows when the journal is twice as large as the snapshot, but not before. Default: 64 MiB.
	SnapshotAfter int64
	// AutoCreate creates queues, topics and subscriptions at their first use.
	AutoCreate bool
	// MaxMessageSize is the maximum size of a message in bytes. Default: the limit of the tier, or 1 MiB.
	MaxMessageSize int64
	// Tier determines the limits of the service. Default: only technical limits.
	Tier Tier
	// Logger receives messages for operators. Default: none.
	Logger *slog.Logger
}

// A Broker has all entities of a namespace.
type Broker struct {
	config    Config
	limits    limits
	faults    fault.List
	tally     tally
	timetable *index.Timetable[*entity]
	salt      uint64 // scrambles sequence numbers in tokens
	log       *wal.Log

	snapshotDue chan struct{}

	mu       sync.RWMutex
	entities map[string]*entity // by path in lower case
	lastID   uint64
}

// New returns a broker without entities. It is usable immediately; expiry and scheduling start with [Broker.Run].
func New(config Config) *Broker {
	limits := tiers[config.Tier]
	config.MaxMessageSize = cmp.Or(max(config.MaxMessageSize, 0), limits.message)
	config.Logger = cmp.Or(config.Logger, slog.New(slog.DiscardHandler))
	return &Broker{
		config: config, limits: limits, timetable: index.NewTimetable[*entity](), salt: newNonce(), tally: newTally(),
		snapshotDue: make(chan struct{}, 1), entities: map[string]*entity{},
	}
}

// Load restores the journal. Call it first, and only once. Call [Broker.Run] after it, which closes the journal.
func (b *Broker) Load() error {
	if b.config.Dir == "" {
		return nil
	}
	r := newRestorer(b)
	log, err := wal.Open(wal.Config{
		Dir: b.config.Dir, Magic: journalMagic, Sync: b.config.Sync, SnapshotAfter: b.config.SnapshotAfter,
		Restore: r.Restore, Replay: r.Replay, Damaged: r.Damaged,
	})
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	b.log = log
	if log.Salvaged() {
		r.tellOrphans()
	}
	b.considerSnapshot(log.Next())
	for _, e := range b.all() {
		e.revive()
	}
	return nil
}

// Run serves locks, expiries and schedules until ctx ends or the journal cannot be written any more, and then closes the journal.
func (b *Broker) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var group sync.WaitGroup
	if b.log != nil {
		group.Go(func() { b.runSnapshots(ctx) })
		group.Go(func() {
			select {
			case <-ctx.Done():
			case <-b.log.Ended():
				cancel()
			}
		})
	}
	b.timetable.Run(ctx, func(e *entity, now int64) { e.see(now) })
	group.Wait()
	if b.log == nil {
		return nil
	}
	if err := b.log.Close(); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	return nil
}

// runSnapshots writes snapshots when the journal has become long.
func (b *Broker) runSnapshots(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-b.snapshotDue:
		}
		if err := b.snapshot(); err != nil {
			b.config.Logger.Error("snapshot of the journal", slog.Any("err", err))
		}
	}
}

// Faults returns the configured faults.
func (b *Broker) Faults() *fault.List { return &b.faults }

// MaxMessageSize is the default maximum size of a message in bytes.
func (b *Broker) MaxMessageSize() int64 { return b.config.MaxMessageSize }

// Tier is the tier of the namespace, or "".
func (b *Broker) Tier() Tier { return b.config.Tier }

// all returns all entities, by id: topics come before their subscriptions.
func (b *Broker) all() []*entity {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return slices.SortedFunc(maps.Values(b.entities), func(x, y *entity) int { return cmp.Compare(x.id, y.id) })
}

// insert adds an entity. b.mu is held, or the broker does not run yet.
func (b *Broker) insert(e *entity) {
	b.entities[lower(e.path)] = e
	if e.topic != nil {
		subscriptions := append(slices.Clone(*e.topic.subscriptions.Load()), e)
		e.topic.subscriptions.Store(&subscriptions)
	}
}

// drop removes an entity. b.mu is held, or the broker does not run yet.
func (b *Broker) drop(e *entity) {
	delete(b.entities, lower(e.path))
	if e.topic != nil {
		subscriptions := slices.DeleteFunc(slices.Clone(*e.topic.subscriptions.Load()), func(s *entity) bool { return s == e })
		e.topic.subscriptions.Store(&subscriptions)
	}
}

// A place is the target of a path.
type place struct {
	entity string // the path of a queue, topic or subscription
	part   part
}

const subscriptionsInfix = "/subscriptions/"

func lower(path string) string { return strings.ToLower(path) }

// parsePath splits a path. It ignores surrounding slashes and a trailing "/$management".
func parsePath(path string) place {
	path = strings.Trim(path, "/")
	path, _ = CutSuffix(path, "/$management")
	if rest, ok := CutSuffix(path, "/$transfer/$deadletterqueue"); ok {
		return place{rest, transferPart}
	}
	if rest, ok := CutSuffix(path, "/$deadletterqueue"); ok {
		return place{rest, deadPart}
	}
	return place{path, mainPart}
}

// CutSuffix cuts a suffix off a path that may have it in any case, unless it is the whole path.
func CutSuffix(path, suffix string) (string, bool) {
	if n := len(path) - len(suffix); n > 0 && strings.EqualFold(path[n:], suffix) {
		return path[:n], true
	}
	return path, false
}

// CutSubscription splits the path of a subscription, in any case. It returns empty names for other paths.
func CutSubscription(path string) (topic, name string, ok bool) {
	i := strings.LastIndex(lower(path), subscriptionsInfix)
	if i <= 0 || len(lower(path)) != len(path) {
		return path, "", false
	}
	return path[:i], path[i+len(subscriptionsInfix):], true
}

// entity returns the entity at a path, or nil.
func (b *Broker) entity(path string) *entity {
	if path == "" {
		return nil
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.entities[lower(path)]
}

// Exists reports whether a path belongs to an entity, a sub-queue or, with AutoCreate, an entity that its first use
// creates. It ignores a trailing "/$management", as tokens name such paths.
func (b *Broker) Exists(path string) bool {
	at := parsePath(path)
	if b.entity(at.entity) != nil {
		return true
	}
	if !b.config.AutoCreate {
		return false
	}
	topic, name, ok := CutSubscription(at.entity)
	return checkName(topic, maxName) == nil && (!ok || checkName(name, maxSubscriptionName) == nil)
}

// Target returns the queue or topic at a path. It fails with NotFound; with AutoCreate it creates a queue instead.
func (b *Broker) Target(path string) (*Target, error) {
	at := parsePath(path)
	e := b.entity(at.entity)
	if e == nil && b.config.AutoCreate && at.part == mainPart {
		if _, _, ok := CutSubscription(at.entity); !ok {
			e = b.autoCreate(at.entity)
		}
	}
	if e == nil {
		return nil, ErrNotFound(path)
	}
	if e.is(SubscriptionKind) || at.part != mainPart {
		return nil, fail(NotAllowed, "'%s' cannot be sent to.", path)
	}
	return &Target{e}, nil
}

// Source returns the queue, subscription or sub-queue at a path: "queue", "topic/Subscriptions/name", and either with
// the suffix "/$DeadLetterQueue" or "/$Transfer/$DeadLetterQueue", in any case. It fails with NotFound; with AutoCreate
// it creates a queue, or a topic and a subscription, instead.
func (b *Broker) Source(path string) (*Source, error) {
	at := parsePath(path)
	e := b.entity(at.entity)
	if e == nil && b.config.AutoCreate {
		e = b.autoCreate(at.entity)
	}
	if e == nil {
		return nil, ErrNotFound(path)
	}
	if e.is(TopicKind) {
		return nil, fail(NotAllowed, "'%s' is a topic: receive from one of its subscriptions.", path)
	}
	return &Source{&e.queues[at.part]}, nil
}
