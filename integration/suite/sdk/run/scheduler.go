package main

import (
	"context"
	"crypto/tls"
	_ "embed" // for entities.json
	"errors"
	"os"
	"strings"
	"sync"

	"github.com/carillon-sched/carillon/integration/emulator/emulatortest"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus"
	"github.com/carillon-sched/carillon/integration/emulator/storagequeue"
	"github.com/carillon-sched/carillon/integration/testkit/dev"
)

// scheduler is a process of the scheduler, with all that it needs, for one suite.
type scheduler struct {
	*dev.Process

	dir string
}

// schedulerPackage is the scheduler's main package.
const schedulerPackage = "github.com/carillon-sched/carillon/cmd/carillon"

// onceBuilt returns a function that builds the scheduler into a file when it is first called.
func onceBuilt(file string) func(ctx context.Context) (string, error) {
	var once sync.Once
	var failed error
	return func(ctx context.Context) (string, error) {
		once.Do(func() { failed = build(ctx, "go", "build", "-o", file, schedulerPackage) })
		return file, failed
	}
}

// startScheduler starts the scheduler on free ports, with its data below a folder.
func startScheduler(ctx context.Context, program, below string) (*scheduler, error) {
	dir, err := os.MkdirTemp(below, "scheduler-")
	if err != nil {
		return nil, err
	}
	p, err := dev.Start(ctx, program, dir)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return &scheduler{p, dir}, nil
}

// environment returns the addresses of the scheduler and of a target for jobs.
func (s *scheduler) environment() []string {
	return []string{"SCHEDULER_ENDPOINT=" + s.HTTP, "TARGET_ENDPOINT=" + s.HTTP + "/echo", "NATS_URL=" + s.NATS}
}

// close ends the scheduler and removes its data.
func (s *scheduler) close() error {
	_ = s.Stop() // its exit status does not matter
	return os.RemoveAll(s.dir)
}

// entities are the Service Bus entities that the suites use.
//
//go:embed entities.json
var entities string

// emulators are the emulators of one suite.
type emulators struct {
	bus       *servicebus.Server
	queues    *storagequeue.Server
	authority string // a file with the certificate that clients have to trust
}

// startEmulators starts emulators with strict keys on free ports. Files go to a folder.
func startEmulators(ctx context.Context, dir string) (*emulators, error) {
	named, err := servicebus.ReadConfig(strings.NewReader(entities))
	if err != nil {
		return nil, err
	}
	certificate, authority, err := emulatortest.Certificate("localhost", "127.0.0.1")
	if err != nil {
		return nil, err
	}
	file, err := os.CreateTemp(dir, "ca-*.pem")
	if err != nil {
		return nil, err
	}
	_, err = file.Write(authority)
	if err := errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	e := emulators{authority: file.Name()}
	e.bus, err = servicebus.Start(ctx, servicebus.Config{
		Addr: "127.0.0.1:0", HTTPAddr: "127.0.0.1:0", Auth: servicebus.Strict, Entities: named,
		TLS: &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12},
	})
	if err != nil {
		return nil, err
	}
	e.queues, err = storagequeue.Start(ctx, storagequeue.Config{Addr: "127.0.0.1:0"})
	if err != nil {
		return nil, errors.Join(err, e.bus.Close())
	}
	return &e, nil
}

// environment returns the emulators' addresses.
func (e *emulators) environment() []string {
	return []string{
		// Hosts and ports; both serve clients with and without TLS.
		"SERVICEBUS_AMQP=" + e.bus.Addr(),
		"SERVICEBUS_HTTP=" + e.bus.HTTPAddr(),
		// As the emulator prints them, with UseDevelopmentEmulator=true.
		"SERVICEBUS_CONNECTION_STRING=" + e.bus.ConnectionString(),
		"SERVICEBUS_ADMIN_CONNECTION_STRING=" + e.bus.AdminConnectionString(),
		"STORAGE_CONNECTION_STRING=" + e.queues.ConnectionString(),
		// The authority to trust, under the variables of the runtimes.
		"CA_FILE=" + e.authority,
		"NODE_EXTRA_CA_CERTS=" + e.authority,
		"REQUESTS_CA_BUNDLE=" + e.authority,
		"SSL_CERT_FILE=" + e.authority,
	}
}

func (e *emulators) close() error { return errors.Join(e.bus.Close(), e.queues.Close()) }
