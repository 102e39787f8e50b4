package conn

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/store/failover"
)

// Conn is the NATS connection that all stores share. It is safe for concurrent use.
type Conn struct {
	Config         Config
	NC             *nats.Conn
	JS             jetstream.JetStream
	Replicas       int                // of new streams
	Settings       jetstream.KeyValue // shared by all processes
	Failover       *failover.Failover
	Opened         []string // names of the required streams, in the order they were opened
	ActivityStream string   // name of the optional activity stream; "": none
	SnapshotStream string   // name of the optional stream of snapshots; "": none

	// Unasked holds the streams that the NATS user may not purge.
	Unasked sync.Map

	// IndexPage is the server's page size for subjects in a stream info response.
	IndexPage uint64

	publisher  *publisher
	queues     []queue  // fixed when the store is open
	joined     sync.Map // keys: *queue; see [Conn.Join]
	suspicions chan struct{}
	shut       atomic.Pointer[Shuts] // result of the last check
	spreadSeen uint64                // revision of spreadKey at the last look; see [Conn.Spread]
	clock      clock
}

// New returns a connection whose streams have the settings in cfg. It does no I/O.
func New(nc *nats.Conn, cfg Config) (*Conn, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	js, err := jetstream.New(nc, jetstream.WithDefaultTimeout(PublishTimeout))
	if err != nil {
		return nil, err
	}
	return &Conn{
		Config: cfg, NC: nc, JS: js, Replicas: max(1, cfg.Replicas), IndexPage: indexPage, suspicions: make(chan struct{}, 1),
	}, nil
}

// maxAckPending is the maximum number of batons of a lane that all workers together hold.
const maxAckPending = 1 << 18

// maxWaiting is the maximum number of pull requests of all processes that wait at a consumer.
const maxWaiting = 4096

// Open checks the server, and opens the settings. The stores open their streams afterwards.
func (s *Conn) Open(ctx context.Context) error {
	for _, open := range []func(context.Context) error{s.checkServer, s.openPublisher, s.openSettings, s.takeSchema, s.takeReplicas} {
		if err := open(ctx); err != nil {
			return err
		}
	}
	return nil
}

// OpenTool opens the settings for a tool outside the schedulers. It takes replicas, storage and the retention of the
// audit log from an existing store.
func (s *Conn) OpenTool(ctx context.Context) error {
	if err := s.checkServer(ctx); err != nil {
		return err
	}
	if err := s.openPublisher(ctx); err != nil {
		return err
	}
	if info, err := s.Info(ctx, "KV_"+s.Config.Bucket("settings")); err == nil {
		s.Replicas, s.Config.Storage = info.Config.Replicas, info.Config.Storage
	}
	if info, err := s.Info(ctx, s.Config.Stream("AUDIT")); err == nil {
		s.Config.AuditAge = info.Config.MaxAge
	}
	s.askClock(ctx)
	return s.openSettings(ctx)
}

// Start begins the work of the connection when all streams are open: it joins the failover and reads the clock.
func (s *Conn) Start(ctx context.Context) error {
	if err := s.Failover.Open(ctx); err != nil {
		return Translate(err)
	}
	if s.Replicas > 1 {
		s.publisher.ackTimeout.Store(int64(clusterTimeout))
	}
	s.askClock(ctx)
	return nil
}

// minAPILevel is the JetStream API level with message scheduling (nats-server 2.12).
const minAPILevel = 2

// clusterAhead covers most of a leader election in a cluster, which starts after 4 to 9 s.
const clusterAhead = 5 * time.Second

// Ahead returns how much earlier than on a single server batons are fired. Batons that workers hold when a stream loses
// its leader then run on time.
func (s *Conn) Ahead() time.Duration {
	if s.Replicas == 1 {
		return 0
	}
	return clusterAhead
}

// checkServer makes sure that JetStream is enabled and supports message scheduling.
func (s *Conn) checkServer(ctx context.Context) error {
	const what = "JetStream of the NATS server"
	if err := s.Probe(ctx, "$JS.API.INFO"); err != nil {
		return Translate(asked(what, err))
	}
	info, err := s.JS.AccountInfo(ctx)
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
		return Translate(denied(s.NC, asked(what, err)))
	case info.API.Level < minAPILevel:
		return &SettingError{Setting: "nats-url", Message: fmt.Sprintf(
			"nats-server %s is too old: message scheduling needs 2.12 or later (JetStream API level %d, this one has %d)",
			s.NC.ConnectedServerVersion(), minAPILevel, info.API.Level,
		)}
	}
	return nil
}

// Ask sends a request to the JetStream API and decodes its answer. The error may be a [*jetstream.APIError].
func (s *Conn) Ask(ctx context.Context, subject string, req, answer any) error {
	body, err := json.Marshal(req)
	if err != nil {
		return err
	}
	m, err := s.NC.RequestWithContext(ctx, subject, body)
	if err != nil {
		return err
	}
	var failed struct {
		Error *jetstream.APIError `json:"error"`
	}
	if err := json.Unmarshal(m.Data, &failed); err != nil {
		return fmt.Errorf("%s: %w", subject, err)
	}
	if failed.Error != nil {
		return failed.Error
	}
	return json.Unmarshal(m.Data, answer)
}

func (s *Conn) openSettings(ctx context.Context) (err error) {
	s.Settings, err = s.OpenBucket(ctx, jetstream.KeyValueConfig{
		Bucket: s.Config.Bucket("settings"), Description: "Carillon: settings shared by all replicas",
	})
	return err
}

// OpenBucket opens a key-value bucket, and creates it if necessary.
func (s *Conn) OpenBucket(ctx context.Context, cfg jetstream.KeyValueConfig) (jetstream.KeyValue, error) {
	cfg.Replicas, cfg.Storage = s.Replicas, s.Config.Storage
	kv, err := s.JS.KeyValue(ctx, cfg.Bucket)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		s.Config.Progress(fmt.Sprintf("creating bucket %s with %d replicas", cfg.Bucket, s.Replicas))
		kv, err = s.JS.CreateKeyValue(ctx, cfg)
		if errors.Is(err, jetstream.ErrBucketExists) { // another process has created it
			kv, err = s.JS.KeyValue(ctx, cfg.Bucket)
		}
	}
	if err != nil {
		return nil, s.openError("bucket "+cfg.Bucket, err)
	}
	s.Opened = append(s.Opened, "KV_"+cfg.Bucket)
	return kv, s.checkBucket(ctx, cfg)
}

func (s *Conn) checkBucket(ctx context.Context, cfg jetstream.KeyValueConfig) error {
	st, err := s.JS.Stream(ctx, "KV_"+cfg.Bucket)
	if err != nil {
		return s.openError("bucket "+cfg.Bucket, err)
	}
	have := st.CachedInfo().Config
	var wrong string
	switch {
	case have.Storage != s.Config.Storage:
		wrong = fmt.Sprintf("is kept in %s storage, %s was asked for", have.Storage, s.Config.Storage)
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
func (s *Conn) openError(what string, err error) error {
	if api, ok := errors.AsType[*jetstream.APIError](err); ok {
		return &SettingError{Setting: blame(api), Message: fmt.Sprintf(
			"%s cannot be created with %d replicas in %s storage%s", what, s.Replicas, s.Config.Storage, whyNot(api),
		), Cause: err}
	}
	return Translate(denied(s.NC, asked(what, err)))
}

// stream opens a stream, and creates it if necessary. It refuses a stream whose settings would lose or withhold
// messages. It updates retention and limits to those in want.
func (s *Conn) stream(ctx context.Context, want jetstream.StreamConfig) (jetstream.Stream, error) {
	want.Storage = s.Config.Storage
	st, err := s.JS.Stream(ctx, want.Name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		st, err = s.CreateStream(ctx, want)
	}
	if err != nil {
		return nil, s.openError("stream "+want.Name, err)
	}
	have := st.CachedInfo().Config
	if wrong := mismatch(have, want); wrong != "" {
		return nil, incompatible("stream "+want.Name, wrong)
	}
	maxBytes := cmp.Or(want.MaxBytes, have.MaxBytes) // operators may limit a stream that Carillon does not limit
	if want.MaxAge != 0 && (have.MaxAge != want.MaxAge || bound(have.MaxMsgsPerSubject) != bound(want.MaxMsgsPerSubject) ||
		bound(have.MaxBytes) != bound(maxBytes)) {
		have.MaxAge, have.MaxMsgsPerSubject, have.MaxBytes = want.MaxAge, want.MaxMsgsPerSubject, maxBytes
		have.Duplicates = min(have.Duplicates, want.MaxAge) // the server refuses a longer window
		if st, err = s.JS.UpdateStream(ctx, have); err != nil {
			return nil, s.openError("stream "+want.Name, err)
		}
	}
	s.Opened = append(s.Opened, want.Name)
	return st, nil
}

// CreateStream creates a stream, or opens it if another process has created it.
func (s *Conn) CreateStream(ctx context.Context, want jetstream.StreamConfig) (jetstream.Stream, error) {
	want.Replicas, want.Storage = s.Replicas, s.Config.Storage
	s.Config.Progress(fmt.Sprintf("creating stream %s with %d replicas", want.Name, s.Replicas))
	st, err := s.JS.CreateStream(ctx, want)
	if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
		return s.JS.Stream(ctx, want.Name)
	}
	return st, err
}

// Adjust updates the settings of a stream. If it cannot, it logs a warning and returns the stream unchanged.
func (s *Conn) Adjust(ctx context.Context, st jetstream.Stream, want jetstream.StreamConfig, warning string) jetstream.Stream {
	changed, err := s.JS.UpdateStream(ctx, want)
	if err != nil {
		s.Config.Logger.Warn(warning, "stream", want.Name, "err", err) //nolint:sloglint // a literal of the caller
		return st
	}
	return changed
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
	for _, subject := range want.Subjects {
		if !slices.Contains(have.Subjects, subject) {
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
func (s *Conn) consumer(ctx context.Context, st jetstream.Stream, cfg jetstream.ConsumerConfig) error {
	if _, err := st.CreateOrUpdateConsumer(ctx, cfg); err != nil {
		return s.openError("consumer "+cfg.Durable+" of stream "+st.CachedInfo().Config.Name, err)
	}
	return nil
}
