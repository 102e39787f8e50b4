package main

import (
	"context"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
)

// stage is what a part of a run plays on: a server on an empty directory, and
// a sink.
type stage struct {
	*bench

	dir    string
	engine *engine
	sink   *sink

	// Of processes apart.
	files     programs
	key       string // environment of the schedulers
	processes []*process
}

// newStage makes a stage. Its processes are those of the shape that was asked for.
func (b *bench) newStage(ctx context.Context) (*stage, error) {
	debug.FreeOSMemory() // what came before must neither help nor hinder
	forgetPeak(self)
	dir, err := os.MkdirTemp(b.dir, "carillon-bench-")
	if err != nil {
		return nil, err
	}
	s := &stage{bench: b, dir: dir}
	if b.apart() {
		err = s.spawn(ctx)
	} else if s.sink, err = newSink(ctx); err == nil {
		s.engine, err = startEngine(ctx, s.data(), &b.options)
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// spawn starts the NATS server and the sink as processes of their own.
func (s *stage) spawn(ctx context.Context) (err error) {
	if s.files, err = s.workshop.programs(ctx, &s.options, s.progress); err != nil {
		return err
	}
	if s.key, err = secretKey(); err != nil {
		return err
	}
	sink, p, err := spawnSink(ctx, s.dir)
	if err != nil {
		return err
	}
	s.sink = sink
	s.adopt(p)
	return s.spawnServer(ctx, "127.0.0.1:-1")
}

// spawnServer starts the NATS server on the stage's directory.
func (s *stage) spawnServer(ctx context.Context, addr string) (err error) {
	if s.engine, err = spawnServer(ctx, s.files.server, s.dir, s.data(), addr, s.sync); err == nil {
		s.adopt(s.engine.process)
	}
	return err
}

// data is the directory of the NATS server's files.
func (s *stage) data() string { return filepath.Join(s.dir, "data") }

// adopt makes a process one that is measured, and ended with the stage.
func (s *stage) adopt(p *process) { s.processes = append(s.processes, p) }

// leave forgets processes that have ended.
func (s *stage) leave(gone ...*process) {
	s.processes = slices.DeleteFunc(s.processes, func(p *process) bool { return slices.Contains(gone, p) })
}

// alone measures a system that runs on a stage for nothing else.
func (b *bench) alone(ctx context.Context, measure func(*stage, *system) (figures, error)) ([]part, error) {
	p, err := b.part(ctx, orderCarillon, measure)
	return []part{p}, err
}

// part measures a system that runs on a stage for nothing else, under a name.
func (b *bench) part(ctx context.Context, name string, measure func(*stage, *system) (figures, error)) (p part, err error) {
	st, err := b.newStage(ctx)
	if err != nil {
		return p, err
	}
	defer st.close()
	fs, err := st.withSystem(ctx, func(sys *system) (figures, error) {
		fs, err := measure(st, sys)
		return append(fs, st.memory()...), err
	})
	return part{name, fs}, err
}

// close stops what runs and removes the directory.
func (s *stage) close() {
	for _, p := range slices.Backward(s.processes) { // the server last but for the sink
		p.remove()
	}
	if s.engine != nil && s.engine.server != nil {
		_ = s.engine.close()
	}
	if s.sink != nil {
		s.sink.close()
	}
	_ = os.RemoveAll(s.dir)
}
