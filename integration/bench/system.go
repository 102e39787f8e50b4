package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"github.com/carillon-sched/carillon/actions"
	"github.com/carillon-sched/carillon/actions/builtin"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/secrets"
	"github.com/carillon-sched/carillon/scheduler/secrets/seal"
	"github.com/carillon-sched/carillon/scheduler/service"
	"github.com/carillon-sched/carillon/scheduler/worker"
	"github.com/carillon-sched/carillon/store"
)

// system is Carillon as one process runs it: a connection, the store, the
// service and a worker, with their default settings.
type system struct {
	nc      *nats.Conn
	js      jetstream.JetStream
	log     *slog.Logger
	store   *store.Store
	vault   *secrets.Vault
	service *service.Service
	actions *actions.Registry
	end     context.CancelFunc
	running errgroup.Group
}

// option changes where actions find their targets. The scheduler's connection is
// there already.
type option func(*builtin.Config) error

// startSystem connects to e, opens the store and lets the worker run.
func startSystem(ctx context.Context, e *engine, log *slog.Logger, options ...option) (*system, error) {
	nc, err := e.connect()
	if err != nil {
		return nil, err
	}
	s := &system{nc: nc, log: log}
	if err = s.openActions(options); err == nil {
		err = s.open(ctx)
	}
	if err != nil {
		s.close()
		return nil, err
	}
	s.start(ctx)
	return s, nil
}

// withSystem lets a system run on a stage while use does what is measured.
func (b *bench) withSystem(
	ctx context.Context, st *stage, use func(*system) (figures, error), options ...option,
) (fs figures, err error) {
	sys, err := startSystem(ctx, st.engine, b.progress.log(), options...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, sys.stop()) }()
	return use(sys)
}

// openActions makes the actions of all types.
func (s *system) openActions(options []option) error {
	config := builtin.Config{Conn: s.nc}
	for _, set := range options {
		if err := set(&config); err != nil {
			return err
		}
	}
	s.actions = builtin.New(config)
	return nil
}

func (s *system) open(ctx context.Context) (err error) {
	if s.js, err = jetstream.New(s.nc); err != nil {
		return err
	}
	if s.store, err = store.Open(ctx, s.nc, store.Config{Logger: s.log}); err != nil {
		return err
	}
	key, err := seal.NewKey("bench")
	if err != nil {
		return err
	}
	s.vault = secrets.NewVault(secrets.Config{Store: s.store.Secrets(), Keys: seal.NewKeyring(key)})
	s.service = service.New(service.Config{Store: s.store, Actions: s.actions, Secrets: s.vault, Logger: s.log})
	return s.service.EnsureDefault(ctx)
}

func (s *system) start(ctx context.Context) {
	ctx, s.end = context.WithCancel(context.WithoutCancel(ctx)) // stop ends it, whatever ctx does
	worker := worker.New(worker.Config{Store: s.store, Actions: s.actions, Secrets: s.vault, Logger: s.log})
	s.running.Go(func() error { return s.service.Run(ctx) })
	s.running.Go(func() error { return worker.Run(ctx) })
}

// stop ends the worker and the connection.
func (s *system) stop() error {
	s.end()
	err := s.running.Wait()
	s.close()
	return err
}

// close closes all connections.
func (s *system) close() {
	if s.actions != nil {
		s.actions.Close()
	}
	s.nc.Close()
}

// putters is how many jobs are put at once.
const putters = 256

// putAll puts the jobs of a calendar and returns how long that took.
func (s *system) putAll(ctx context.Context, p *progress, c calendar, url string) (time.Duration, error) {
	var done atomic.Int64
	began := time.Now()
	stop := p.follow("put", c.jobs, func() int { return int(done.Load()) })
	defer stop()
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(putters)
	for i := range c.jobs {
		g.Go(func() error {
			defer done.Add(1)
			return s.put(ctx, c, i, url)
		})
	}
	err := g.Wait()
	return time.Since(began), err
}

// put puts job i of a calendar, which must be new.
func (s *system) put(ctx context.Context, c calendar, i int, url string) error {
	v, created, err := s.service.Put(ctx, service.Edit{Key: c.job(i), Body: c.document(i, url)})
	if err != nil {
		return fmt.Errorf("job %s: %w", c.job(i), err)
	}
	if !created || v.Job.State != scheduler.Enabled {
		return fmt.Errorf("job %s: created %t, %s", c.job(i), created, v.Job.State)
	}
	return nil
}

// The streams whose messages are counted.
const (
	historyStream = "CARILLON_HISTORY"
	timersStream  = "CARILLON_TIMERS_0"
	resultStream  = "CARILLON_SPEC_RESULTS"
)

// state returns what a stream holds.
func (s *system) state(ctx context.Context, stream string) (jetstream.StreamState, error) {
	st, err := s.js.Stream(ctx, stream)
	if err != nil {
		return jetstream.StreamState{}, fmt.Errorf("stream %s: %w", stream, err)
	}
	return st.CachedInfo().State, nil
}

// messages returns how many messages a stream holds.
func (s *system) messages(ctx context.Context, stream string) (int, error) {
	state, err := s.state(ctx, stream)
	return int(state.Msgs), err
}

// reach waits until a stream is as done wants it, and no longer than until. It
// returns when it was, and what it holds then.
func (s *system) reach(
	ctx context.Context, stream string, until time.Time, done func(jetstream.StreamState) bool,
) (at time.Time, state jetstream.StreamState, err error) {
	tick := time.Tick(20 * time.Millisecond)
	for {
		state, err = s.state(ctx, stream)
		at = time.Now()
		if err != nil || done(state) || at.After(until) {
			return at, state, err
		}
		select {
		case <-tick:
		case <-ctx.Done():
			return at, state, context.Cause(ctx)
		}
	}
}
