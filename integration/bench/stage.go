package main

import (
	"context"
	"os"
	"runtime/debug"
)

// stage is what a part of a run plays on: a server on an empty directory, and
// a sink.
type stage struct {
	dir    string
	engine *engine
	sink   *sink
}

func (o *options) newStage(ctx context.Context) (*stage, error) {
	debug.FreeOSMemory() // what came before must neither help nor hinder
	forgetPeak()
	dir, err := os.MkdirTemp(o.dir, "carillon-bench-")
	if err != nil {
		return nil, err
	}
	s := &stage{dir: dir}
	if s.sink, err = newSink(ctx); err == nil {
		s.engine, err = startEngine(ctx, dir, o.conn)
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// alone measures a system that runs on a stage for nothing else.
func (b *bench) alone(ctx context.Context, measure func(*stage, *system) (figures, error)) ([]part, error) {
	st, err := b.newStage(ctx)
	if err != nil {
		return nil, err
	}
	defer st.close()
	fs, err := b.withSystem(ctx, st, func(sys *system) (figures, error) {
		fs, err := measure(st, sys)
		return append(fs, memory()...), err
	})
	return []part{{orderCarillon, fs}}, err
}

// close stops what runs and removes the directory.
func (s *stage) close() {
	if s.engine != nil {
		s.engine.Close()
	}
	if s.sink != nil {
		s.sink.close()
	}
	_ = os.RemoveAll(s.dir)
}
