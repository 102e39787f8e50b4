package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/sync/errgroup"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/audit"
	"github.com/carillon-sched/carillon/store/batons"
	"github.com/carillon-sched/carillon/store/buckets"
	"github.com/carillon-sched/carillon/store/conn"
	"github.com/carillon-sched/carillon/store/history"
	"github.com/carillon-sched/carillon/store/specs"
)

// Store stores Carillon's data in JetStream: it is the sum of the stores on one connection. It is safe for concurrent
// use, and any number of processes can share a NATS account.
type Store struct {
	*batons.Batons
	*history.History
	*history.Audit
	*history.Activity
	*history.Events
	*buckets.Buckets
	*specs.Specs

	conn *conn.Conn
}

var (
	_ scheduler.Store = (*Store)(nil)
	_ audit.Store     = (*Store)(nil)
)

// The vocabulary of the connection.
type (
	// Config configures a [Store]. The zero value is usable.
	Config = conn.Config
	// SettingError reports a setting, of Carillon or of the server, that prevents opening the store.
	SettingError = conn.SettingError
	// Shut describes a stream that is read-only or idle.
	Shut = conn.Shut
	// Shuts are the streams that a check found read-only or idle. It is empty if all are healthy.
	Shuts = conn.Shuts
)

// newStore returns a store on a connection. It does no I/O.
func newStore(nc *nats.Conn, cfg Config) (*Store, error) {
	c, err := conn.New(nc, cfg)
	if err != nil {
		return nil, err
	}
	h := history.New(c)
	return &Store{
		Batons: batons.New(c), History: h, Events: history.NewEvents(h), Audit: history.NewAudit(c), Activity: history.NewActivity(c),
		Buckets: buckets.New(c), Specs: specs.New(c), conn: c,
	}, nil
}

// Open opens the store on a connection, and creates missing streams and buckets. Processes may open it concurrently, in
// any order. Open returns a [*SettingError] if a setting is the cause.
func Open(ctx context.Context, nc *nats.Conn, cfg Config) (*Store, error) {
	s, err := newStore(nc, cfg)
	if err != nil {
		return nil, err
	}
	for _, open := range []func(context.Context) error{
		s.conn.Open, s.TakeLanes, s.Buckets.Open, s.Batons.Open, s.History.Open, s.Events.Open, s.Specs.Open, s.Audit.Open, s.Activity.Open,
		s.OpenSnapshot, s.conn.Replicate, s.checkSubjects, s.conn.Start,
	} {
		if err := open(ctx); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// OpenBeside opens a store for a tool that runs alongside the schedulers. An existing store keeps its lanes, replicas,
// storage type and retention, regardless of cfg. If the store does not exist, OpenBeside creates it with cfg if create
// is true, and returns scheduler.ErrNotFound otherwise.
func OpenBeside(ctx context.Context, nc *nats.Conn, cfg Config, create bool) (*Store, error) {
	kept, err := conn.Existing(ctx, nc, cfg)
	switch {
	case create && errors.Is(err, scheduler.ErrNotFound):
		return Open(ctx, nc, cfg)
	case err != nil:
		return nil, err
	}
	return Open(ctx, nc, kept)
}

// OpenTokens opens only the access tokens, their ledger and the audit log, for a tool outside the schedulers. It
// creates nothing else and fixes no setting such as the number of lanes. It takes replicas and the retention of the
// audit log from the existing store, or from cfg before the first start of a scheduler.
func OpenTokens(ctx context.Context, nc *nats.Conn, cfg Config) (*Store, error) {
	s, err := newStore(nc, cfg)
	if err != nil {
		return nil, err
	}
	for _, open := range []func(context.Context) error{s.conn.OpenTool, s.OpenTokens, s.Audit.Open} {
		if err := open(ctx); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Prefix returns the prefix of all names in the store.
func (s *Store) Prefix() string { return s.conn.Config.Prefix }

// Waits reports whether the server syncs every write.
func (s *Store) Waits() bool { return s.conn.Config.SyncAlways }

// Ahead returns how much earlier than on a single server batons are fired.
func (s *Store) Ahead() time.Duration { return s.conn.Ahead() }

// Now returns the time of the store's clock, which is the clock of the server that leads the streams.
func (s *Store) Now() time.Time { return s.conn.Now() }

// ClockAhead returns how far the local clock was ahead of the store's at the last reading.
func (s *Store) ClockAhead() time.Duration { return s.conn.ClockAhead() }

// Check returns the read-only and idle streams. See [conn.Conn.Check].
func (s *Store) Check(ctx context.Context) (Shuts, error) { return s.conn.Check(ctx) }

// Suspicions receives a value when a write was not acknowledged in time, as a hint to run [Store.Check].
func (s *Store) Suspicions() <-chan struct{} { return s.conn.Suspicions() }

// Spread balances the leaders of streams and consumers over the servers of a cluster until ctx is done. See
// [conn.Conn.Spread].
func (s *Store) Spread(ctx context.Context, patience time.Duration) { s.conn.Spread(ctx, patience) }

// Load returns the number of waiting and running batons, of specs and of events. It requests the state of each lane's
// stream and consumer, and reads no message. The two requests are not atomic, so a baton that fires in between may be counted
// twice.
func (s *Store) Load(ctx context.Context) (load scheduler.Load, err error) {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		load.Specs, err = s.Pending(ctx)
		return err
	})
	g.Go(func() (err error) {
		load.Lanes, err = s.LaneLoads(ctx)
		return err
	})
	g.Go(func() (err error) {
		load.Events, err = s.PendingEvents(ctx)
		return err
	})
	return load, g.Wait()
}

// checkSubjects checks the required publish permissions at the start, rather than when a job is due.
func (s *Store) checkSubjects(ctx context.Context) error {
	slot := scheduler.BatonKey{Key: scheduler.Key{Collection: "probe", Job: "probe"}}
	quiet := []string{s.TimerSubject(slot), s.FireSubject(slot), s.JobSubject(slot.Key)}
	if may, ok := s.conn.Permissions(ctx); ok {
		loud := []string{
			s.HistorySubject(slot.Key, scheduler.OutcomeCompleted),
			s.conn.Config.Prefix + ".spec-result.accepted.probe.probe", s.conn.Config.Prefix + ".spec-id.probe",
		}
		if short, long := s.AckSubjects(); !may.Replies && !may.Publish(short) && !may.Publish(long) {
			loud = append(loud, short)
		}
		for _, subject := range append(quiet, loud...) {
			if !may.Publish(subject) {
				return conn.Translate(&conn.SettingError{Setting: "permissions", Message: fmt.Sprintf(
					"the NATS user may not publish to %s, which Carillon needs", subject,
				)})
			}
		}
		if subject := s.PulseSubject("report.probe"); s.conn.ActivityStream != "" && !may.Publish(subject) {
			s.DisableActivity("the NATS user may not publish to " + subject)
		}
		if subject := s.SnapshotSubject(); s.conn.SnapshotStream != "" && !may.Publish(subject) {
			s.DisableSnapshot("the NATS user may not publish to " + subject)
		}
		for _, stream := range s.conn.Opened {
			if !may.Publish(conn.PurgeSubject(stream)) {
				s.conn.Unasked.Store(stream, true)
			}
		}
		return nil
	}
	for _, subject := range quiet { // only the server receives these
		if err := s.conn.Probe(ctx, subject); err != nil {
			return conn.Translate(err)
		}
	}
	return nil
}
