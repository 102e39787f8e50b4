package main

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/nats-io/nats.go"
	"golang.org/x/sync/errgroup"

	"github.com/carillon-sched/carillon/actions"
	"github.com/carillon-sched/carillon/actions/builtin"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/natsapi"
	"github.com/carillon-sched/carillon/scheduler/secrets"
	"github.com/carillon-sched/carillon/scheduler/secrets/seal"
	"github.com/carillon-sched/carillon/scheduler/service"
	"github.com/carillon-sched/carillon/scheduler/worker"
	"github.com/carillon-sched/carillon/store"
)

// localPutters is how many jobs are put at once through the service in this process.
const localPutters = 256

// local is a scheduler in this process: a connection, the store, the
// service and a worker.
type local struct {
	nc      *nats.Conn
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

// startLocal connects to e, opens the store and lets the worker run.
func startLocal(ctx context.Context, e *engine, log *slog.Logger, options ...option) (*local, error) {
	nc, err := e.connect()
	if err != nil {
		return nil, err
	}
	s := &local{nc: nc, log: log}
	if err = s.openActions(options); err == nil {
		err = s.open(ctx, e)
	}
	if err != nil {
		s.close()
		return nil, err
	}
	s.start(ctx)
	return s, nil
}

// openActions makes the actions of all types.
func (s *local) openActions(options []option) error {
	config := builtin.Config{Conn: s.nc}
	for _, set := range options {
		if err := set(&config); err != nil {
			return err
		}
	}
	s.actions = builtin.New(config)
	return nil
}

func (s *local) open(ctx context.Context, e *engine) (err error) {
	if s.store, err = store.Open(ctx, s.nc, store.Config{Logger: s.log, SyncAlways: e.waits}); err != nil {
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

func (s *local) start(ctx context.Context) {
	ctx, s.end = context.WithCancel(context.WithoutCancel(ctx)) // stop ends it, whatever ctx does
	worker := worker.New(worker.Config{Store: s.store, Actions: s.actions, Secrets: s.vault, Logger: s.log})
	s.running.Go(func() error { return s.service.Run(ctx) })
	s.running.Go(func() error { return worker.Run(ctx) })
}

// stop ends the worker and the connection.
func (s *local) stop() error {
	s.end()
	err := s.running.Wait()
	s.close()
	return err
}

// close closes all connections.
func (s *local) close() {
	if s.actions != nil {
		s.actions.Close()
	}
	s.nc.Close()
}

func (s *local) ingest(ctx context.Context) (stop func() error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var g errgroup.Group
	in := natsapi.NewIngest(natsapi.IngestConfig{Service: s.service, Source: s.store, Logger: s.log})
	g.Go(func() error { return in.Run(ctx) })
	return func() error {
		cancel()
		return g.Wait()
	}
}

func (s *local) put(ctx context.Context, key scheduler.Key, document []byte) error {
	v, created, err := s.service.Put(ctx, service.Edit{Key: key, Body: document})
	if err == nil && (!created || v.Job.State != scheduler.Enabled) {
		err = fmt.Errorf("created %t, %s", created, v.Job.State)
	}
	return err
}

func (s *local) completed(ctx context.Context, key scheduler.Key) (bool, error) {
	v, err := s.service.Get(ctx, key)
	if err != nil {
		return false, err
	}
	return v.Job.State == scheduler.Completed, nil
}

func (s *local) audit(ctx context.Context) (*service.AuditReport, error) {
	return s.service.Audit(ctx, false)
}
