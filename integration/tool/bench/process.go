package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// The roles of processes. Names of figures begin with them.
const (
	roleServer = "server" // nats-server
	roleWorker = "worker" // carillon serve, or the bare consumer
	roleTarget = "target"
	roleLoad   = "load" // bench itself
)

// patience limits how long a process may take to start, to stop or to answer.
const patience = time.Minute

// process is a program that bench has started.
type process struct {
	role  string
	pprof string // URL of its profiles, with a slash at the end; "" if it has none
	cmd   *exec.Cmd
	log   string // file
	ended chan struct{}
}

// spawn starts a program that stops with the stage, at the latest.
func (s *stage) spawn(role, program string, args ...string) (*process, error) {
	log, err := os.CreateTemp(s.dir, role+"-*.log")
	if err != nil {
		return nil, err
	}
	defer log.Close()
	p := &process{role: role, log: log.Name(), ended: make(chan struct{})}
	p.cmd = exec.Command(program, args...) //nolint:gosec,noctx // bench chooses the programs, and the stage stops them
	p.cmd.Stdout, p.cmd.Stderr = log, log
	if _, err := p.cmd.StdinPipe(); err != nil { // closes when bench ends, which ends its children
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = p.cmd.Wait()
		close(p.ended)
	}()
	s.processes = append(s.processes, p)
	return p, nil
}

// await polls until ready reports true. It fails when the process has ended.
func (p *process) await(ctx context.Context, ready func() bool) error {
	ok, err := poll(ctx, time.Millisecond, time.Now().Add(patience), func() (bool, error) { return ready(), p.alive() })
	if err == nil && !ok {
		err = p.failure("is not ready")
	}
	return err
}

// awaitFile polls a file until parse accepts its content.
func (p *process) awaitFile(ctx context.Context, file string, parse func([]byte) bool) error {
	return p.await(ctx, func() bool {
		data, err := os.ReadFile(file)
		return err == nil && parse(data)
	})
}

// alive returns an error if the process has ended.
func (p *process) alive() error {
	select {
	case <-p.ended:
		return p.failure("has ended: " + p.cmd.ProcessState.String())
	default:
		return nil
	}
}

// failure is an error with the end of the process's log.
func (p *process) failure(problem string) error {
	data, err := os.ReadFile(p.log)
	if err != nil {
		return fmt.Errorf("%s %s: %w", p.role, problem, err)
	}
	return fmt.Errorf("%s %s\n%s", p.role, problem, bytes.TrimSpace(data[max(0, len(data)-2048):]))
}

// kill ends the process as kill -9 does, and waits for its end.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}

// stop asks the process to end, and kills it after patience.
func (p *process) stop() error {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.ended:
		return nil
	case <-time.After(patience):
		p.kill()
		return p.failure("did not stop")
	}
}

func (p *process) pid() string { return strconv.Itoa(p.cmd.Process.Pid) }

// children are bench's own child processes, by the first argument. They call ready with a line for the parent.
var children = map[string]func(ctx context.Context, ready func(line string) error, args []string) error{
	"__target": runTarget,
	"__bare":   runBare,
}

// runChild runs a child process until ctx ends or its parent has gone. ok is false if args are no child's.
func runChild(ctx context.Context, args []string) (status int, ok bool) {
	if len(args) < 3 || children[args[0]] == nil {
		return 0, false
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	ready := func(line string) error { return os.WriteFile(args[1], []byte(line+"\n"), 0o600) }
	if err := children[args[0]](ctx, ready, args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitFailure, true
	}
	return exitOK, true
}

// spawnChild starts a child process and returns its line when it is ready.
func (s *stage) spawnChild(ctx context.Context, role, child string, args ...string) (line string, err error) {
	program, err := os.Executable()
	if err != nil {
		return "", err
	}
	file := filepath.Join(s.dir, role+".ready")
	p, err := s.spawn(role, program, append([]string{child, file}, args...)...)
	if err != nil {
		return "", err
	}
	err = p.awaitFile(ctx, file, func(data []byte) (whole bool) {
		line, whole = strings.CutSuffix(string(data), "\n")
		return whole
	})
	return line, err
}

// sleep waits until t.
func sleep(ctx context.Context, t time.Time) error {
	select {
	case <-time.After(time.Until(t)):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// poll calls done until it reports true, or until the deadline, after which it returns false.
func poll(ctx context.Context, interval time.Duration, deadline time.Time, done func() (bool, error)) (bool, error) {
	for {
		ok, err := done()
		if ok || err != nil || time.Now().After(deadline) {
			return ok, err
		}
		if err := sleep(ctx, time.Now().Add(interval)); err != nil {
			return false, err
		}
	}
}
