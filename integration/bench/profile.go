package main

import (
	"errors"
	"os"
	"runtime/pprof"
)

// profile records the phase that is measured, as far as the flags ask for it.
// The returned function ends it.
func (o *options) profile() (end func() error, err error) {
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
