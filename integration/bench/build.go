package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// The packages that the programs are built from: the scheduler of this source, and the NATS server of its go.mod.
const (
	carillonPackage = "github.com/carillon-sched/carillon/cmd/carillon"
	serverPackage   = "github.com/nats-io/nats-server/v2"
)

// programs are the files that the processes run.
type programs struct{ carillon, server string }

// workshop builds the programs once, when they are first needed.
type workshop struct {
	once  sync.Once
	dir   string
	built programs
	err   error
}

// programs returns the files that were given, and builds those that were not.
func (w *workshop) programs(ctx context.Context, o *options, p *progress) (programs, error) {
	w.once.Do(func() {
		w.built = programs{o.carillon, o.natsServer}
		if w.built.carillon != "" && w.built.server != "" {
			return
		}
		if w.dir, w.err = os.MkdirTemp(o.dir, "carillon-bench-"); w.err != nil {
			return
		}
		p.sayf("building the programs")
		for _, program := range []struct {
			file      *string
			name, pkg string
		}{
			{&w.built.carillon, "carillon", carillonPackage},
			{&w.built.server, "nats-server", serverPackage},
		} {
			if *program.file == "" {
				*program.file = filepath.Join(w.dir, program.name)
				w.err = errors.Join(w.err, build(ctx, *program.file, program.pkg))
			}
		}
	})
	return w.built, w.err
}

// build runs go build, which needs the module around the working directory.
func build(ctx context.Context, file, pkg string) error {
	out, err := exec.CommandContext(ctx, "go", "build", "-o", file, pkg).CombinedOutput() //nolint:gosec // both are this program's
	if err != nil {
		return fmt.Errorf("go build %s: %w\n%s\n(run bench inside the module, or name files with -carillon and -nats-server)",
			pkg, err, strings.TrimSpace(string(out)))
	}
	return nil
}

// close removes what was built.
func (w *workshop) close() {
	if w.dir != "" {
		_ = os.RemoveAll(w.dir)
	}
}
