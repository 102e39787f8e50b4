// Serve starts the emulators on free ports for the JavaScript suite. It prints the environment variables that the suite wants as one
// line of JSON, and ends with its standard input.
package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/carillon-sched/carillon/integration/emulator/emulatortest"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus"
	"github.com/carillon-sched/carillon/integration/emulator/storagequeue"
)

func main() {
	path := flag.String("config", "", "`file` with the entities, as Microsoft's config.json")
	flag.Parse()
	if err := serve(context.Background(), *path, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "serve:", err)
		os.Exit(1)
	}
}

func serve(ctx context.Context, path string, stdin io.Reader, stdout io.Writer) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	entities, err := servicebus.ReadConfig(file)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "carillon-js")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	certificate, authority, err := emulatortest.Certificate("127.0.0.1", "localhost")
	if err != nil {
		return err
	}
	root := filepath.Join(dir, "ca.pem")
	if err := os.WriteFile(root, authority, 0o600); err != nil {
		return err
	}
	server, err := servicebus.Start(ctx, servicebus.Config{
		Addr: "127.0.0.1:0", HTTPAddr: "127.0.0.1:0", Entities: entities, TLS: &tls.Config{
			Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12,
		},
	})
	if err != nil {
		return err
	}
	strict, err := servicebus.Start(ctx, servicebus.Config{
		Addr: "127.0.0.1:0", HTTPAddr: "127.0.0.1:0", Auth: servicebus.Strict, TLS: &tls.Config{
			Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12,
		},
	})
	if err != nil {
		return errors.Join(err, server.Close())
	}
	queues, err := storagequeue.Start(ctx, storagequeue.Config{Addr: "127.0.0.1:0"})
	if err != nil {
		return errors.Join(err, server.Close(), strict.Close())
	}
	err = json.NewEncoder(stdout).Encode(map[string]string{
		"STORAGE_CONNECTION_STRING":          queues.ConnectionString(),
		"SERVICEBUS_CONNECTION_STRING":       server.ConnectionString(),
		"SERVICEBUS_ADMIN_CONNECTION_STRING": server.AdminConnectionString(),
		"STRICT_CONNECTION_STRING":           strict.ConnectionString(),
		"STRICT_ADMIN_CONNECTION_STRING":     strict.AdminConnectionString(),
		"SERVICEBUS_HTTP":                    "http://" + server.HTTPAddr(),
		"NODE_EXTRA_CA_CERTS":                root,
	})
	if err == nil {
		_, err = io.Copy(io.Discard, stdin)
	}
	return errors.Join(err, queues.Close(), server.Close(), strict.Close()) //nolint:contextcheck // closing has its own timeout
}
