package main

import (
	"context"
	"crypto/tls"
	_ "embed" // for entities.json
	"errors"
	"os"
	"strings"

	"github.com/carillon-sched/carillon/integration/emulator/emulatortest"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus"
	"github.com/carillon-sched/carillon/integration/emulator/storagequeue"
)

// entities are what the suites find in Service Bus.
//
//go:embed entities.json
var entities string

// emulators are those of one suite.
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

// environment tells a suite where the emulators are.
func (e *emulators) environment() []string {
	return []string{
		// Hosts and ports; both serve clients with and without TLS.
		"SERVICEBUS_AMQP=" + e.bus.Addr(),
		"SERVICEBUS_HTTP=" + e.bus.HTTPAddr(),
		// As the emulator prints them, with UseDevelopmentEmulator=true.
		"SERVICEBUS_CONNECTION_STRING=" + e.bus.ConnectionString(),
		"SERVICEBUS_ADMIN_CONNECTION_STRING=" + e.bus.AdminConnectionString(),
		"STORAGE_CONNECTION_STRING=" + e.queues.ConnectionString(),
		// What to trust, by the names that runtimes know it.
		"CA_FILE=" + e.authority,
		"NODE_EXTRA_CA_CERTS=" + e.authority,
		"REQUESTS_CA_BUNDLE=" + e.authority,
		"SSL_CERT_FILE=" + e.authority,
	}
}

func (e *emulators) close() error { return errors.Join(e.bus.Close(), e.queues.Close()) }
