package main

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/store/embedded"
)

// engine is a NATS server on a data directory: in this process, as `carillon dev` runs it, or in one of its own.
type engine struct {
	server  *embedded.Server // nil in a process of its own
	process *process         // nil in this process
	url     string
	conn    string
	waits   bool // for the disk at every write
}

// startEngine starts a server in this process and returns when JetStream answers.
func startEngine(ctx context.Context, dir string, o *options) (*engine, error) {
	cfg := embedded.Config{Dir: dir, SyncAlways: o.sync == syncAlways}
	cfg.SyncInterval, _ = time.ParseDuration(o.sync) // checked
	if o.conn == connTCP {
		cfg.Addr = "127.0.0.1:0"
	}
	s, err := embedded.Start(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return &engine{server: s, url: s.URL(), conn: o.conn, waits: cfg.SyncAlways}, nil
}

// connect opens a connection of the kind that was asked for.
func (e *engine) connect() (*nats.Conn, error) {
	if e.conn == connTCP {
		return nats.Connect(e.url, append(embedded.ConnectOptions(), nats.ReconnectWait(10*time.Millisecond))...)
	}
	return e.server.Connect()
}

// addr is the host and port that the server listens on.
func (e *engine) addr() string { return strings.TrimPrefix(e.url, "nats://") }

// close stops the server in good order.
func (e *engine) close() error {
	if e.process != nil {
		return e.process.stop()
	}
	e.server.Close()
	return nil
}

// diskUse is the size of the files below dir. What the server removes meanwhile does not count.
func diskUse(dir string) (int64, error) {
	var size int64
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			size += info.Size()
		} else if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return err
	})
	return size, err
}
