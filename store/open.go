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

	"github.com/carillon-sched/carillon/store/failover"
)

// Store stores Carillon's data in JetStream. It is safe for concurrent use, and any number of processes can share a
// NATS account.
type Store struct {
	cfg         Config
	nc          *nats.Conn
	js          jetstream.JetStream
	lanes       int
	replicas    int // of new streams
	settings    jetstream.KeyValue
	jobs        jetstream.KeyValue
	jobStream   jetstream.Stream
	collections jetstream.KeyValue
	secrets     jetstream.KeyValue
	tokens      jetstream.KeyValue
	operations  jetstream.KeyValue
	history     jetstream.Stream
	records     *batcher // appends to history
	results     *batcher // appends to the spec results
	trail       jetstream.Stream
	entries     *batcher    // appends to trail
	trailSent   atomic.Bool // entries were sent without waiting for acknowledgement
	specs       jetstream.Stream
	pulse       string // stream name; "": none
	timers      []jetstream.Stream
	opened      []string     // names of all streams, in the order they were opened
	asked       atomic.Int64 // batons requested but not delivered, in all lanes
	failover    *failover.Failover
	publisher   *publisher
	unasked     names  // streams that the NATS user may not purge
	deaf        names  // buckets whose changes are not announced to this process
	indexPage   uint64 // page size of the subject index
	suspicions  chan struct{}
	shut        atomic.Pointer[Shuts] // result of the last check
	spreadSeen  uint64                // revision of spreadKey at the last look; see [Store.Spread]
	clock       clock
}

// maxAckPending is the maximum number of batons of a lane that all workers together hold.
const maxAckPending = 1 << 18

// minAPILevel is the JetStream API level with message scheduling (nats-server 2.12).
const minAPILevel = 2

// Open opens the store on a connection, and creates missing streams and buckets. Processes may open it concurrently, in
// any order. Open returns a [*SettingError] if a setting is the cause.
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
	if err := s.checkServer(ctx); err != nil {
		return nil, err
	}
	if err := s.openPublisher(); err != nil {
		return nil, err
	}
	for _, open := range []func(context.Context) error{
		s.openSettings, s.openBuckets, s.openTimers, s.openStreams, s.openTrail, s.openPulse, s.replicate, s.checkSubjects, s.openFailover,
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

// Lanes returns the number of lanes.
func (s *Store) Lanes() int { return s.lanes }

// Waits reports whether the server syncs every write.
func (s *Store) Waits() bool { return s.cfg.SyncAlways }

// clusterAhead covers most of a leader election in a cluster, which starts after 4 to 9 s.
const clusterAhead = 5 * time.Second

// Ahead returns how much earlier than on a single server batons are fired. Batons that workers hold when a stream loses
// its leader then run on time.
func (s *Store) Ahead() time.Duration {
	if s.replicas == 1 {
		return 0
	}
	return clusterAhead
}

// checkServer makes sure that JetStream is enabled and supports message scheduling.
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

// openSettings reads the settings shared by all processes, or writes them at the first start.
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

// jobRevisions is the number of retained revisions of a definition, for occurrences that started under an earlier one.
const jobRevisions = 8

// Buckets with a watch.
const (
	jobsBucket        = "jobs"
	collectionsBucket = "collections"
	secretsBucket     = "secrets"
	tokensBucket      = "tokens"
	operationsBucket  = "operations"
)

// operationAge is how long an operation is retained after its last change.
const operationAge = 7 * 24 * time.Hour

// markerAge is how long the store retains the marker of a deleted job.
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

// openBucket opens a key-value bucket, and creates it if necessary.
func (s *Store) openBucket(ctx context.Context, cfg jetstream.KeyValueConfig) (jetstream.KeyValue, error) {
	cfg.Replicas, cfg.Storage = s.replicas, s.cfg.Storage
	kv, err := s.js.KeyValue(ctx, cfg.Bucket)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		s.cfg.Progress(fmt.Sprintf("creating bucket %s with %d replicas", cfg.Bucket, s.replicas))
		kv, err = s.js.CreateKeyValue(ctx, cfg)
		if errors.Is(err, jetstream.ErrBucketExists) { // another process has created it
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

// openTimers opens the baton streams, one for each lane.
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
		if err := s.consumer(ctx, st, s.laneConsumer(lane, failover.AckWait)); err != nil {
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
	if err := s.consumer(ctx, s.specs, s.specConsumer(failover.AckWait)); err != nil {
		return err
	}
	_, s.results, err = s.batched(ctx, jetstream.StreamConfig{
		Name: s.cfg.stream("SPEC_RESULTS"), Description: "Carillon: what became of each published spec",
		Subjects: []string{s.cfg.Prefix + ".spec-result.>", s.cfg.Prefix + ".spec-id.*"}, AllowDirect: true, AllowMsgTTL: true,
		MaxAge: s.cfg.ResultAge, Duplicates: time.Second,
	})
	return err
}

// noDuplicates disables the duplicate window of the specs stream, which would compare IDs across subjects; see
// [Store.ClaimSpec]. The shortest window is 100 ms, except for a stream with a source, so the stream gets a source that
// never matches a message.
func (s *Store) noDuplicates() []*jetstream.StreamSource {
	return []*jetstream.StreamSource{{Name: s.cfg.stream("SPECS"), FilterSubject: s.cfg.Prefix + ".none"}}
}

// stream opens a stream, and creates it if necessary. It refuses a stream whose settings would lose or withhold
// messages. It updates retention and limits to those in want.
func (s *Store) stream(ctx context.Context, want jetstream.StreamConfig) (jetstream.Stream, error) {
	want.Replicas, want.Storage = s.replicas, s.cfg.Storage
	st, err := s.js.Stream(ctx, want.Name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		s.cfg.Progress(fmt.Sprintf("creating stream %s with %d replicas", want.Name, s.replicas))
		st, err = s.js.CreateStream(ctx, want)
		if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) { // another process has created it
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
		have.Duplicates = min(have.Duplicates, want.MaxAge) // the server refuses a longer window
		if st, err = s.js.UpdateStream(ctx, have); err != nil {
			return nil, s.openError("stream "+want.Name, err)
		}
	}
	return st, nil
}

// bound normalizes a limit like the server: -1 for none.
func bound(n int64) int64 {
	if n <= 0 {
		return -1
	}
	return n
}

// mismatch returns why an existing stream cannot be used, or "".
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

// limited reports whether a stream drops messages.
func limited(cfg jetstream.StreamConfig) bool {
	return cfg.MaxAge != 0 || cfg.MaxMsgs > 0 || cfg.MaxBytes > 0 || cfg.MaxMsgsPerSubject > 0
}

// consumer creates or updates a durable consumer.
func (s *Store) consumer(ctx context.Context, st jetstream.Stream, cfg jetstream.ConsumerConfig) error {
	cfg.Replicas, cfg.MaxWaiting = 0, 4096
	if _, err := st.CreateOrUpdateConsumer(ctx, cfg); err != nil {
		return s.openError("consumer "+cfg.Durable+" of stream "+st.CachedInfo().Config.Name, err)
	}
	return nil
}
