package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Store keeps Carillon's data in JetStream. It is safe for concurrent use, and
// any number of processes may use one account at once.
type Store struct {
	cfg         Config
	nc          *nats.Conn
	js          jetstream.JetStream
	lanes       int
	replicas    int // of what is created
	settings    jetstream.KeyValue
	jobs        jetstream.KeyValue
	jobStream   jetstream.Stream
	collections jetstream.KeyValue
	secrets     jetstream.KeyValue
	tokens      jetstream.KeyValue
	operations  jetstream.KeyValue
	history     jetstream.Stream
	records     *batcher // of the history
	results     *batcher // of specs
	trail       jetstream.Stream
	entries     *batcher    // of the audit trail
	trailSent   atomic.Bool // something was, and not waited for
	specs       jetstream.Stream
	pulse       string // the stream; "": there is none
	timers      []jetstream.Stream
	opened      []string     // the streams behind all these, in the order in which they were opened
	leases      *leases      // of batons and specs
	asked       atomic.Int64 // batons of all lanes that were asked for, and have not come
	presence    *presence
	publisher   *publisher
	unasked     names  // streams whose purge the NATS user may not ask for
	deaf        names  // buckets whose changes cannot be heard
	indexPage   uint64 // subjects that the index gives at once
	suspicions  chan struct{}
	shut        atomic.Pointer[Shuts] // what the last check found
	spreadSeen  uint64                // the revision of spreadKey at the last look; see [Store.Spread]
	clock       clock
	stall       stall
}

// ackWait is how long the server waits for a sign of life before it gives a
// running baton to another worker: the delay of a dead worker's jobs.
const ackWait = 10 * time.Second

// maxAckPending bounds the batons of one lane that all workers together hold.
const maxAckPending = 1 << 18

// minAPILevel is the JetStream API level of message scheduling (nats-server 2.12).
const minAPILevel = 2

// Open opens the store on a connection, and creates the streams and buckets
// that are missing. Replicas may open it at the same time, in any order. What
// a setting is to blame for is a [*SettingError].
func Open(ctx context.Context, nc *nats.Conn, cfg Config) (*Store, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	js, err := jetstream.New(nc, jetstream.WithDefaultTimeout(publishTimeout))
	if err != nil {
		return nil, err
	}
	s := &Store{cfg: cfg, nc: nc, js: js, replicas: max(1, cfg.Replicas), suspicions: make(chan struct{}, 1), indexPage: indexPage}
	s.presence = newPresence(s)
	s.leases = &leases{
		nc:      nc,
		lost:    func(err error) { cfg.Logger.Warn("leases are not renewed; trying again each second", "err", err) },
		renewed: func(after time.Duration) { cfg.Logger.Info("leases are renewed again", "after", after.String()) },
		taken:   s.presence.taken, emptied: s.presence.emptied, dropped: s.presence.suspect,
		cut: func() bool { return s.publisher.other.cutOff(time.Now()) },
	}
	if err := s.checkServer(ctx); err != nil {
		return nil, err
	}
	if s.publisher, err = newPublisher(nc, cfg.Logger); err != nil {
		return nil, err
	}
	for _, open := range []func(context.Context) error{
		s.openSettings, s.openBuckets, s.openTimers, s.openStreams, s.openTrail, s.openPulse, s.replicate, s.checkSubjects, s.presence.open,
	} {
		if err := open(ctx); err != nil {
			return nil, err
		}
	}
	if s.replicas > 1 {
		s.publisher.patience.Store(int64(clusterTimeout))
	}
	s.askClock(ctx)
	return s, nil
}

// Lanes returns the number of partitions.
func (s *Store) Lanes() int { return s.lanes }

// Waits reports whether the server waits for the disk at every write.
func (s *Store) Waits() bool { return s.cfg.SyncAlways }

// clusterAhead is most of the time in which the servers of a cluster choose another
// leader: they wait for four to nine seconds before they do.
const clusterAhead = 5 * time.Second

// Ahead is how much sooner than by a single server batons are to be fired. Those that
// workers hold when a stream loses its leader are run on time.
func (s *Store) Ahead() time.Duration {
	if s.replicas == 1 {
		return 0
	}
	return clusterAhead
}

// checkServer makes sure that JetStream is on and knows message scheduling.
func (s *Store) checkServer(ctx context.Context) error {
	const what = "JetStream of the NATS server"
	if err := s.probe(ctx, "$JS.API.INFO"); err != nil {
		return translate(asked(what, err))
	}
	info, err := s.js.AccountInfo(ctx)
	switch {
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled):
		return &SettingError{
			Setting: "jetstream", Message: "the NATS server has JetStream off; start it with -js or a jetstream {} block", Cause: err,
		}
	case errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
		return &SettingError{
			Setting: "jetstream", Message: "JetStream is off for this account; enable it in the account's configuration", Cause: err,
		}
	case err != nil:
		return translate(denied(s.nc, asked(what, err)))
	case info.API.Level < minAPILevel:
		return &SettingError{Setting: "nats-url", Message: fmt.Sprintf(
			"nats-server %s is too old: message scheduling needs 2.12 or later (JetStream API level %d, this one has %d)",
			s.nc.ConnectedServerVersion(), minAPILevel, info.API.Level,
		)}
	}
	return nil
}

// openSettings reads the settings every replica shares, or writes them at the
// first start.
func (s *Store) openSettings(ctx context.Context) error {
	if err := s.openSettingsBucket(ctx); err != nil {
		return err
	}
	kv := s.settings
	if err := takeSchema(ctx, kv); err != nil {
		return err
	}
	if err := s.takeReplicas(ctx); err != nil {
		return err
	}
	return s.takeLanes(ctx, kv)
}

func (s *Store) openSettingsBucket(ctx context.Context) (err error) {
	s.settings, err = s.openBucket(ctx, jetstream.KeyValueConfig{
		Bucket: s.cfg.bucket("settings"), Description: "Carillon: settings shared by all replicas",
	})
	return err
}

// jobRevisions is how many revisions of a definition are kept, for occurrences
// that started under an earlier one.
const jobRevisions = 8

// The buckets whose changes are watched.
const (
	jobsBucket        = "jobs"
	collectionsBucket = "collections"
	secretsBucket     = "secrets"
	tokensBucket      = "tokens"
	operationsBucket  = "operations"
)

// operationAge is how long an operation is kept after its last change.
const operationAge = 7 * 24 * time.Hour

// markerAge is how long the store remembers that a job was deleted.
const markerAge = time.Hour

func (s *Store) openBuckets(ctx context.Context) (err error) {
	s.jobs, err = s.openBucket(ctx, jetstream.KeyValueConfig{
		Bucket: s.cfg.bucket(jobsBucket), Description: "Carillon: job definitions",
		History: jobRevisions, LimitMarkerTTL: markerAge, RePublish: s.cfg.tells(jobsBucket),
	})
	if err != nil {
		return err
	}
	s.jobStream, err = s.js.Stream(ctx, "KV_"+s.cfg.bucket(jobsBucket))
	if err != nil {
		return translate(err)
	}
	s.collections, err = s.openBucket(ctx, jetstream.KeyValueConfig{
		Bucket: s.cfg.bucket(collectionsBucket), Description: "Carillon: job collections", History: jobRevisions,
		RePublish: s.cfg.tells(collectionsBucket),
	})
	if err != nil {
		return err
	}
	s.secrets, err = s.openBucket(ctx, jetstream.KeyValueConfig{
		Bucket: s.cfg.bucket(secretsBucket), Description: "Carillon: shared secrets, sealed", History: 1,
		RePublish: s.cfg.tells(secretsBucket),
	})
	if err != nil {
		return err
	}
	s.operations, err = s.openBucket(ctx, jetstream.KeyValueConfig{
		Bucket: s.cfg.bucket(operationsBucket), Description: "Carillon: operations on many jobs", History: 1, TTL: operationAge,
		RePublish: s.cfg.tells(operationsBucket),
	})
	if err != nil {
		return err
	}
	s.tokens, err = s.openTokens(ctx)
	return err
}

// openTokens opens the bucket of access tokens.
func (s *Store) openTokens(ctx context.Context) (jetstream.KeyValue, error) {
	return s.openBucket(ctx, jetstream.KeyValueConfig{
		Bucket: s.cfg.bucket(tokensBucket), Description: "Carillon: hashes of access tokens, and what they may do", History: 1,
		RePublish: s.cfg.tells(tokensBucket),
	})
}

// openBucket opens a key-value bucket, or creates it.
func (s *Store) openBucket(ctx context.Context, cfg jetstream.KeyValueConfig) (jetstream.KeyValue, error) {
	cfg.Replicas, cfg.Storage = s.replicas, s.cfg.Storage
	kv, err := s.js.KeyValue(ctx, cfg.Bucket)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		s.cfg.Progress(fmt.Sprintf("creating bucket %s with %d replicas", cfg.Bucket, s.replicas))
		kv, err = s.js.CreateKeyValue(ctx, cfg)
		if errors.Is(err, jetstream.ErrBucketExists) { // another replica was quicker
			kv, err = s.js.KeyValue(ctx, cfg.Bucket)
		}
	}
	if err != nil {
		return nil, s.openError("bucket "+cfg.Bucket, err)
	}
	s.opened = append(s.opened, "KV_"+cfg.Bucket)
	return kv, s.checkBucket(ctx, cfg)
}

func (s *Store) checkBucket(ctx context.Context, cfg jetstream.KeyValueConfig) error {
	st, err := s.js.Stream(ctx, "KV_"+cfg.Bucket)
	if err != nil {
		return s.openError("bucket "+cfg.Bucket, err)
	}
	have := st.CachedInfo().Config
	var wrong string
	switch {
	case have.Storage != s.cfg.Storage:
		wrong = fmt.Sprintf("is kept in %s storage, %s was asked for", have.Storage, s.cfg.Storage)
	case have.MaxAge != cfg.TTL:
		wrong = fmt.Sprintf("drops its values after %s (max_age)", have.MaxAge)
	case have.MaxMsgsPerSubject < int64(cfg.History):
		wrong = fmt.Sprintf("keeps %d revisions of a key, %d are needed", have.MaxMsgsPerSubject, cfg.History)
	case cfg.LimitMarkerTTL > 0 && !have.AllowMsgTTL:
		wrong = "does not allow a time to live per key (allow_msg_ttl)"
	default:
		return nil
	}
	return incompatible("bucket "+cfg.Bucket, wrong)
}

func incompatible(what, wrong string) error {
	return &SettingError{
		Setting: "prefix", Conflict: true,
		Message: fmt.Sprintf("%s exists and %s; remove it, change it, or use another --prefix", what, wrong),
	}
}

// openError explains why a stream or bucket cannot be opened.
func (s *Store) openError(what string, err error) error {
	if api, ok := errors.AsType[*jetstream.APIError](err); ok {
		return &SettingError{Setting: blame(api), Message: fmt.Sprintf(
			"%s cannot be created with %d replicas in %s storage%s", what, s.replicas, s.cfg.Storage, whyNot(api),
		), Cause: err}
	}
	return translate(denied(s.nc, asked(what, err)))
}

// openTimers opens the streams of the batons, one for each lane.
func (s *Store) openTimers(ctx context.Context) error {
	for lane := range s.lanes {
		n := strconv.Itoa(lane)
		st, err := s.stream(ctx, jetstream.StreamConfig{
			Name: s.cfg.stream(timersStream(lane)), Description: "Carillon: batons of lane " + n,
			Subjects:  []string{s.cfg.Prefix + ".timer." + n + ".>", s.cfg.Prefix + ".fire." + n + ".>"},
			Retention: jetstream.WorkQueuePolicy, AllowMsgSchedules: true, AllowDirect: true,
		})
		if err != nil {
			return err
		}
		s.timers = append(s.timers, st)
		if err := s.consumer(ctx, st, s.laneConsumer(lane, ackWait)); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) openStreams(ctx context.Context) (err error) {
	s.history, s.records, err = s.batched(ctx, jetstream.StreamConfig{
		Name: s.cfg.stream("HISTORY"), Description: "Carillon: history of every job",
		Subjects: []string{s.cfg.Prefix + ".history.>"}, AllowDirect: true,
		MaxAge: s.cfg.HistoryAge, MaxMsgsPerSubject: s.cfg.HistoryPerJob, Duplicates: s.recordWindow(),
	})
	if err != nil {
		return err
	}
	s.history = s.knowRepeated(ctx, s.history)
	s.specs, err = s.stream(ctx, jetstream.StreamConfig{
		Name: s.cfg.stream("SPECS"), Description: "Carillon: published job specs",
		Subjects: []string{s.cfg.Prefix + ".spec.>"}, Retention: jetstream.WorkQueuePolicy, AllowDirect: true,
		Sources: s.noDuplicates(),
	})
	if err != nil {
		return err
	}
	if err := s.consumer(ctx, s.specs, s.specConsumer(ackWait)); err != nil {
		return err
	}
	_, s.results, err = s.batched(ctx, jetstream.StreamConfig{
		Name: s.cfg.stream("SPEC_RESULTS"), Description: "Carillon: what became of each published spec",
		Subjects: []string{s.cfg.Prefix + ".spec-result.>", s.cfg.Prefix + ".spec-id.*"}, AllowDirect: true, AllowMsgTTL: true,
		MaxAge: s.cfg.ResultAge, Duplicates: time.Second,
	})
	return err
}

// noDuplicates turns off the duplicate window of the specs stream, which would compare the IDs of all subjects: see [Store.ClaimSpec].
// The server has no window shorter than 100 ms, except for a stream with a source. This one never matches a message.
func (s *Store) noDuplicates() []*jetstream.StreamSource {
	return []*jetstream.StreamSource{{Name: s.cfg.stream("SPECS"), FilterSubject: s.cfg.Prefix + ".none"}}
}

// stream opens a stream, or creates it, and refuses one whose settings would
// lose or withhold messages. Ages and counts are brought up to the config.
func (s *Store) stream(ctx context.Context, want jetstream.StreamConfig) (jetstream.Stream, error) {
	want.Replicas, want.Storage = s.replicas, s.cfg.Storage
	st, err := s.js.Stream(ctx, want.Name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		s.cfg.Progress(fmt.Sprintf("creating stream %s with %d replicas", want.Name, s.replicas))
		st, err = s.js.CreateStream(ctx, want)
		if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) { // another replica was quicker
			st, err = s.js.Stream(ctx, want.Name)
		}
	}
	if err != nil {
		return nil, s.openError("stream "+want.Name, err)
	}
	s.opened = append(s.opened, want.Name)
	have := st.CachedInfo().Config
	if wrong := mismatch(have, want); wrong != "" {
		return nil, incompatible("stream "+want.Name, wrong)
	}
	if want.MaxAge != 0 && (have.MaxAge != want.MaxAge || bound(have.MaxMsgsPerSubject) != bound(want.MaxMsgsPerSubject)) {
		have.MaxAge, have.MaxMsgsPerSubject = want.MaxAge, want.MaxMsgsPerSubject
		have.Duplicates = min(have.Duplicates, want.MaxAge) // more is refused
		if st, err = s.js.UpdateStream(ctx, have); err != nil {
			return nil, s.openError("stream "+want.Name, err)
		}
	}
	return st, nil
}

// bound is a bound as the server keeps it: -1 is none.
func bound(n int64) int64 {
	if n <= 0 {
		return -1
	}
	return n
}

// mismatch says why a stream that exists cannot be used.
func mismatch(have, want jetstream.StreamConfig) string {
	covers := map[string]bool{}
	for _, subject := range have.Subjects {
		covers[subject] = true
	}
	for _, subject := range want.Subjects {
		if !covers[subject] {
			return fmt.Sprintf("does not take the subject %s (subjects)", subject)
		}
	}
	switch {
	case have.Retention != want.Retention:
		return fmt.Sprintf("has %s retention, %s is needed (retention)", have.Retention, want.Retention)
	case have.Storage != want.Storage:
		return fmt.Sprintf("is kept in %s storage, %s was asked for (storage)", have.Storage, want.Storage)
	case want.AllowMsgSchedules && !have.AllowMsgSchedules:
		return "does not allow message schedules (allow_msg_schedules)"
	case want.AllowMsgTTL && !have.AllowMsgTTL:
		return "does not allow a time to live per message (allow_msg_ttl)"
	case !have.AllowDirect:
		return "does not allow direct get (allow_direct)"
	case want.Retention == jetstream.WorkQueuePolicy && limited(have):
		return "drops messages by age, count or size (max_age, max_msgs, max_bytes, max_msgs_per_subject)"
	}
	return ""
}

// limited reports whether a stream drops messages of its own accord.
func limited(cfg jetstream.StreamConfig) bool {
	return cfg.MaxAge != 0 || cfg.MaxMsgs > 0 || cfg.MaxBytes > 0 || cfg.MaxMsgsPerSubject > 0
}

// consumer opens a durable consumer, or creates it.
func (s *Store) consumer(ctx context.Context, st jetstream.Stream, cfg jetstream.ConsumerConfig) error {
	cfg.Replicas, cfg.MaxWaiting = 0, 4096
	if _, err := st.CreateOrUpdateConsumer(ctx, cfg); err != nil {
		return s.openError("consumer "+cfg.Durable+" of stream "+st.CachedInfo().Config.Name, err)
	}
	return nil
}
