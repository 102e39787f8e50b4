package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/pprof"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"
)

// How long the processor is watched from the instant of a herd on, whose length is not
// known: too long does no harm, as nothing is seen of a process that has nothing to do.
const (
	profileHerd   = 5 * time.Second
	profilePerJob = 200 * time.Microsecond
)

// profile records the phase that is measured, as far as the flags ask for it:
// of this process, or of those that are measured for about as long as the phase
// lasts. The returned function ends it.
func (s *stage) profile(ctx context.Context, part string, lasts time.Duration) (end func() error, err error) {
	if !s.apart() {
		return s.profileHere()
	}
	if s.profiles == "" {
		return func() error { return nil }, nil
	}
	if err := os.MkdirAll(s.profiles, 0o750); err != nil {
		return nil, err
	}
	var g errgroup.Group
	for _, r := range s.measured() {
		for i, p := range r.processes {
			if p.pprof == "" {
				continue
			}
			name := part + "-" + r.name
			if len(r.processes) > 1 {
				name += strconv.Itoa(i + 1)
			}
			file := filepath.Join(s.profiles, name)
			if err := p.save(ctx, "allocs", file+".allocs.base.pb.gz"); err != nil {
				return nil, err
			}
			g.Go(func() error { return p.saveAll(ctx, file, lasts) })
		}
	}
	return g.Wait, nil
}

// saveAll writes what kept the processor busy from now on, and then what is in
// memory, and what was allocated.
func (p *process) saveAll(ctx context.Context, file string, lasts time.Duration) error {
	seconds := strconv.Itoa(int(max(1, (lasts + time.Second - 1).Seconds())))
	if err := p.save(ctx, "profile?seconds="+seconds, file+".cpu.pb.gz"); err != nil {
		return err
	}
	return errors.Join(p.save(ctx, "allocs", file+".allocs.pb.gz"), p.save(ctx, "heap?gc=1", file+".heap.pb.gz"))
}

// save writes one of the process's profiles to a file.
func (p *process) save(ctx context.Context, name, file string) error {
	return p.fetch(ctx, name, func(body io.Reader) error {
		f, err := os.Create(filepath.Clean(file))
		if err != nil {
			return err
		}
		_, err = io.Copy(f, body)
		if err = errors.Join(err, f.Close()); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		return nil
	})
}

// profileHere records the phase that is measured in this process.
func (o *options) profileHere() (end func() error, err error) {
	if err := writeAllocs(o.memProfile, ".base"); err != nil {
		return nil, err
	}
	if o.cpuProfile == "" {
		return func() error { return writeAllocs(o.memProfile, "") }, nil
	}
	f, err := os.Create(o.cpuProfile)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		f.Close()
		return nil, err
	}
	return func() error {
		pprof.StopCPUProfile()
		return errors.Join(f.Close(), writeAllocs(o.memProfile, ""))
	}, nil
}

// writeAllocs writes all allocations so far.
func writeAllocs(file, suffix string) error {
	if file == "" {
		return nil
	}
	f, err := os.Create(file + suffix)
	if err != nil {
		return err
	}
	return errors.Join(pprof.Lookup("allocs").WriteTo(f, 0), f.Close())
}
