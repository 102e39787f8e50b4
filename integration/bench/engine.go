package main

import (
	"context"
	"io/fs"
	"path/filepath"

	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/store/embedded"
)

// engine is a NATS server on a data directory, as `carillon dev` runs it.
type engine struct {
	*embedded.Server

	conn string
}

// startEngine starts a server on dir and returns when JetStream answers.
func startEngine(ctx context.Context, dir, conn string) (*engine, error) {
	cfg := embedded.Config{Dir: dir}
	if conn == connTCP {
		cfg.Addr = "127.0.0.1:0"
	}
	s, err := embedded.Start(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return &engine{s, conn}, nil
}

// connect opens a connection of the kind that was asked for.
func (e *engine) connect() (*nats.Conn, error) {
	if e.conn == connTCP {
		return nats.Connect(e.URL(), embedded.ConnectOptions()...)
	}
	return e.Connect()
}

// diskUse is the size of the files below dir.
func diskUse(dir string) (int64, error) {
	var size int64
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	})
	return size, err
}
