package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// process is a program that was started for the measurement.
type process struct {
	name  string // one of processServer, …
	pprof string // URL of its profiles, with a slash at the end; "" without
	cmd   *exec.Cmd
	log   string // file
	input io.Closer
	ended chan struct{}
}

// spawn starts a program whose output goes to a file in dir.
func spawn(name, dir, program string, env []string, args ...string) (*process, error) {
	log, err := os.CreateTemp(dir, name+"-*.log")
	if err != nil {
		return nil, err
	}
	defer log.Close()
	p := &process{name: name, log: log.Name(), ended: make(chan struct{})}
	p.cmd = exec.Command(program, args...) //nolint:gosec,noctx // the programs are this one's; stop ends them
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	if p.input, err = p.cmd.StdinPipe(); err != nil { // it ends with this process
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = p.cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

// patience is how long a process may take to start, or to end. It only ends what hangs.
const patience = time.Minute

// started waits until ready finds what it looks for, or the process has ended.
func (p *process) started(ctx context.Context, ready func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.Tick(time.Millisecond)
	for !ready() {
		select {
		case <-tick:
		case <-p.ended:
			return p.failure("ended: " + p.cmd.ProcessState.String())
		case <-ctx.Done():
			return p.failure("is not ready: " + context.Cause(ctx).Error())
		}
	}
	return nil
}

// failure is an error with the end of the process's output.
func (p *process) failure(what string) error {
	data, err := os.ReadFile(p.log)
	if err != nil {
		return fmt.Errorf("%s %s: %w", p.name, what, err)
	}
	data = data[max(0, len(data)-2048):]
	return fmt.Errorf("%s %s\n%s", p.name, what, bytes.TrimSpace(data))
}

// kill ends the process as kill -9 does, and returns when it is gone.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}

// stop asks the process to end, and returns when it has. One that does not is killed.
func (p *process) stop() error {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.ended:
		return nil
	case <-time.After(patience):
		p.kill()
		return p.failure("did not end when asked to")
	}
}

// pid is how the system's files name the process.
func (p *process) pid() string { return strconv.Itoa(p.cmd.Process.Pid) }

// remove stops a process that may have ended, and removes its output.
func (p *process) remove() {
	_ = p.stop()
	_ = os.Remove(p.log)
}

// spent is the processor time that the process has used, in hundredths of a second, as Linux tells it; zero elsewhere.
func (p *process) spent() time.Duration {
	data, err := os.ReadFile("/proc/" + p.pid() + "/stat")
	if err != nil {
		return 0
	}
	// pid (name) state ppid … : the name may hold anything, and user and system time are the 12th and 13th after it.
	fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	var ticks int64
	for _, at := range []int{11, 12} {
		if at < len(fields) {
			n, _ := strconv.ParseInt(string(fields[at]), 10, 64)
			ticks += n
		}
	}
	return time.Duration(ticks) * time.Second / userHZ
}

// errEnded says that a process ended that nobody had asked to.
var errEnded = errors.New("it ended by itself")

// alive returns an error when the process has ended.
func (p *process) alive() error {
	select {
	case <-p.ended:
		return p.failure(errEnded.Error() + ": " + p.cmd.ProcessState.String())
	default:
		return nil
	}
}
