package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
)

// scheduler is a process of the scheduler, with all that it needs, for one suite.
type scheduler struct {
	dir  string
	url  string
	stop func()          // asks it to end
	done <-chan struct{} // closed when it has
}

// schedulerPackage is what the scheduler is built from.
const schedulerPackage = "github.com/carillon-sched/carillon/cmd/carillon"

// onceBuilt returns a function that builds the scheduler into a file when it is first called.
func onceBuilt(file string) func(ctx context.Context) (string, error) {
	var once sync.Once
	var failed error
	return func(ctx context.Context) (string, error) {
		once.Do(func() { failed = build(ctx, "go", "build", "-o", file, schedulerPackage) })
		return file, failed
	}
}

// startTime is how long the scheduler may take to start, and to end.
const startTime = time.Minute

// startScheduler starts the scheduler on free ports, with its data below a folder.
func startScheduler(ctx context.Context, program, below string) (*scheduler, error) {
	dir, err := os.MkdirTemp(below, "scheduler-")
	if err != nil {
		return nil, err
	}
	ports := filepath.Join(dir, "ports.json")
	const free = "127.0.0.1:0"
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	command := exec.CommandContext(running, program, "dev", "--data", filepath.Join(dir, "data"), //nolint:gosec // ours
		"--http", free, "--nats", free, "--amqp", free, "--queue", free, "--ports-file", ports)
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = startTime
	if err := command.Start(); err != nil {
		stop()
		return nil, err
	}
	done := make(chan struct{})
	go func() {
		_ = command.Wait() // how it ends when it is told to is not what is looked at
		close(done)
	}()
	s := &scheduler{dir: dir, stop: stop, done: done}
	if s.url, err = s.await(ctx, ports); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// await returns the URL of the scheduler when it listens.
func (s *scheduler) await(ctx context.Context, ports string) (string, error) {
	within, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		var at struct {
			HTTP string `json:"http"`
		}
		if data, err := os.ReadFile(ports); err == nil && json.Unmarshal(data, &at) == nil && at.HTTP != "" {
			return at.HTTP, nil
		}
		select {
		case <-tick.C:
		case <-within.Done():
			return "", fmt.Errorf("the scheduler does not start within %v: %w", startTime, within.Err())
		}
	}
}

// environment tells a suite where the scheduler is, and a target that jobs can call.
func (s *scheduler) environment() []string {
	return []string{"SCHEDULER_ENDPOINT=" + s.url, "TARGET_ENDPOINT=" + s.url + "/echo"}
}

// close ends the scheduler and removes its data.
func (s *scheduler) close() error {
	s.stop()
	<-s.done
	return os.RemoveAll(s.dir)
}
