package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/group"
)

// A runner runs suites.
type runner struct {
	sdk string // the folder integration/suite/sdk
	dir string // for builds, and the emulators' certificates
	// patience is how long a suite may take.
	patience time.Duration
	// packages installs the npm packages, the first time it is called.
	packages func(ctx context.Context) error
	// program builds the scheduler, the first time it is called, and returns its file.
	program func(ctx context.Context) (string, error)
}

func newRunner(sdk, dir string, patience time.Duration) *runner {
	r := &runner{sdk: sdk, dir: dir, patience: patience}
	var once sync.Once
	var failed error
	r.packages = func(ctx context.Context) error {
		once.Do(func() { failed = installPackages(ctx, filepath.Join(sdk, "npm")) })
		return failed
	}
	r.program = onceBuilt(filepath.Join(dir, "carillon"))
	return r
}

// run runs the suite of a client with dedicated emulators. It returns at least one result: if the suite cannot
// run or does not finish, a result without an operation explains why.
func (r *runner) run(ctx context.Context, c client) []result {
	begin := time.Now()
	command, err := c.prepare(ctx, r)
	if err != nil {
		return []result{{Client: c.name, Result: outcome(err), Error: err.Error()}}
	}
	results, err := r.suite(ctx, c, command)
	if err != nil {
		results = append(results, result{
			Client: c.name, Result: fail, Error: err.Error(), Millis: float64(time.Since(begin).Milliseconds()),
		})
	}
	return results
}

// outcome says whether a client that could not be prepared is absent or broken.
func outcome(err error) string {
	if _, absent := errors.AsType[absence](err); absent {
		return notRun
	}
	return fail
}

// service is the service under test.
type service interface {
	environment() []string // with its address
	close() error
}

// start starts the service of a client's suite.
func (r *runner) start(ctx context.Context, c client) (service, error) {
	if !c.scheduler {
		return startEmulators(ctx, r.dir)
	}
	program, err := r.program(ctx)
	if err != nil {
		return nil, err
	}
	return startScheduler(ctx, program, r.dir)
}

func (r *runner) suite(ctx context.Context, c client, line []string) (results []result, err error) {
	served, err := r.start(ctx, c)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, served.close()) }()
	within, cancel := context.WithTimeout(ctx, r.patience)
	defer cancel()
	command := exec.CommandContext(within, line[0], line[1:]...) //nolint:gosec // the table of clients has it
	command.Env = append(os.Environ(), served.environment()...)
	bound(command)
	var complaints bytes.Buffer
	command.Stderr = &complaints
	// Not StdoutPipe, which ends only when the last process does that has it.
	out, in := io.Pipe()
	command.Stdout = in
	if err := command.Start(); err != nil {
		return nil, err
	}
	done := make(chan error, 1)
	go func() {
		err := command.Wait()
		_ = command.Cancel() // its remaining child processes
		done <- err
		_ = in.Close()
	}()
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if one, bad := readResult(c.name, lines.Bytes()); bad != nil {
			err = errors.Join(err, bad)
		} else {
			results = append(results, one)
		}
	}
	err = errors.Join(err, lines.Err())
	_ = out.Close() // if a line was too long
	ended := <-done
	switch {
	case within.Err() != nil:
		err = errors.Join(err, fmt.Errorf("not done after %v; it came to %s", r.patience, last(results)))
	case ended != nil:
		err = errors.Join(err, fmt.Errorf("the suite came to %s: %w: %s", last(results), ended, complaint(complaints.Bytes())))
	case len(results) == 0:
		err = errors.Join(err, errors.New("the suite told of no operation"))
	}
	return results, err
}

// bound ends a command and its child processes with its context, if the system supports it.
func bound(command *exec.Cmd) {
	group.Of(command)
	command.WaitDelay = time.Second
}

// last returns the name of the last reported operation.
func last(results []result) string {
	for _, r := range slices.Backward(results) {
		return fmt.Sprintf("%q", r.Operation)
	}
	return "no operation"
}
