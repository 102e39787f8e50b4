// Package dev builds and runs `carillon dev` for tests.
package dev

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// patience bounds each wait for the process: far more than a busy machine takes.
const patience = 3 * time.Minute

// A Process is a running `carillon dev`, with the addresses that it listens on.
type Process struct {
	HTTP         string `json:"http"`
	NATS         string `json:"nats"`
	AMQP         string `json:"amqp"`
	Queue        string `json:"queue"`
	ServiceBus   string `json:"serviceBus"`
	StorageQueue string `json:"storageQueue"`

	cmd   *exec.Cmd
	log   output
	ended chan struct{}
	err   error // of the end; read it after ended
}

// output collects the output of a process.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write takes a part of it.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

// Build builds the program into a folder, and returns its path. root is the checkout.
func Build(ctx context.Context, root, dir string) (string, error) {
	program := filepath.Join(dir, "carillon")
	build := exec.CommandContext(ctx, "go", "build", "-o", program, "./cmd/carillon") //nolint:gosec // into a folder of the test
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return program, nil
}

// Start runs the program on free ports, with its data in a folder.
func Start(ctx context.Context, program, dir string, args ...string) (*Process, error) {
	const free = "127.0.0.1:0"
	ports := filepath.Join(dir, "ports.json")
	p := &Process{ended: make(chan struct{})}
	p.cmd = exec.CommandContext(context.WithoutCancel(ctx), program, append([]string{ //nolint:gosec // the built program
		"dev", "--http", free, "--nats", free, "--amqp", free, "--queue", free, "--data", filepath.Join(dir, "data"), "--ports-file", ports,
	}, args...)...)
	p.cmd.Stdout, p.cmd.Stderr = &p.log, &p.log
	if err := p.begin(); err != nil {
		return nil, err
	}
	err := p.Await(ctx, func() bool {
		data, err := os.ReadFile(ports)
		return err == nil && json.Unmarshal(data, p) == nil
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("carillon dev: %w\n%s", err, p.Log()), p.Stop())
	}
	return p, nil
}

// begin starts the process. It ends together with this process, even after a kill or panic. Linux ties it to the
// thread that started it, so begin keeps that thread.
func (p *Process) begin() error {
	p.cmd.SysProcAttr = withParent()
	began := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		began <- err
		if err == nil {
			p.err = p.cmd.Wait()
		}
		close(p.ended)
	}()
	return <-began
}

// Log returns the program's output so far.
func (p *Process) Log() string {
	p.log.mu.Lock()
	defer p.log.mu.Unlock()
	return p.log.text.String()
}

// ID is the number of the process.
func (p *Process) ID() int { return p.cmd.Process.Pid }

// errEnded reports an unexpected end of the program.
var errEnded = errors.New("it has ended")

// Await polls until ok.
func (p *Process) Await(ctx context.Context, ok func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-p.ended:
			return errEnded
		case <-tick.C:
		}
	}
	return nil
}

// Running reports whether the process has not ended.
func (p *Process) Running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// Kill ends the process immediately.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}

// Stop shuts the program down gracefully, and returns an error if it did not end with exit code 0.
func (p *Process) Stop() error {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.ended:
	case <-time.After(patience):
		p.Kill()
	}
	return p.err
}
