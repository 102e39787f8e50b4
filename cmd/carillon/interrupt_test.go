package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/listen"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// freeDev is a `carillon dev` on free ports, which are in ports.json of its directory.
const freeDev = "dev --http 127.0.0.1:0 --nats 127.0.0.1:0 --amqp 127.0.0.1:0 --queue 127.0.0.1:0 --ports-file ports.json"

// process is a carillon that runs by itself.
type process struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   bytes.Buffer // stderr
	ended chan struct{}
}

func startProcess(t *testing.T, args ...string) *process {
	t.Helper()
	path := must.Get(exec.LookPath("carillon"))(t)
	return startCommand(t, exec.Command(path, args...))
}

func startCommand(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{cmd: cmd, ended: make(chan struct{})}
	p.cmd.Dir, p.cmd.Stderr = t.TempDir(), &p.out
	p.in = must.Get(p.cmd.StdinPipe())(t)
	must.Do(t, p.cmd.Start())
	go func() {
		_ = p.cmd.Wait() // the exit code says how it ended
		close(p.ended)
	}()
	t.Cleanup(func() { _ = p.cmd.Process.Kill(); <-p.ended })
	return p
}

// end sends a signal and returns the exit code.
func (p *process) end(t *testing.T, s os.Signal) int {
	t.Helper()
	must.Do(t, p.cmd.Process.Signal(s))
	return p.wait(t, s.String())
}

// wait waits for the end of the process after something, and returns the exit code.
func (p *process) wait(t *testing.T, after string) int {
	t.Helper()
	select {
	case <-p.ended:
	case <-time.After(patience):
		t.Fatalf("%s did not end it", after)
	}
	return p.cmd.ProcessState.ExitCode()
}

// TestInterruptWhileReading presses Ctrl-C while a command waits for standard input, which nobody closes.
func TestInterruptWhileReading(t *testing.T) {
	server := httptest.NewServer(nil)
	defer server.Close()
	t.Setenv("CARILLON_CONFIG", filepath.Join(t.TempDir(), "config.yaml"))
	for _, args := range []string{
		"apply - --server " + server.URL,
		"validate -",
		"preview -f -",
		"preview -f - --json",
		"secrets set door --value-file - --server " + server.URL,
		"collection create -f - --server " + server.URL,
		"context set here --server " + server.URL + " --token-file -",
	} {
		for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
			p := startProcess(t, strings.Fields(args)...)
			// More than a pipe holds: when all of it is written, the process reads.
			must.Get(p.in.Write(bytes.Repeat([]byte(" "), 128<<10)))(t)
			if code := p.end(t, s); code != terminal.ExitInterrupted || p.out.Len() > 0 {
				t.Errorf("%s, %s: exit code %d\n%s", args, s, code, p.out.String())
			}
		}
	}
}

// TestSignalsOfServers ends what runs until it is told to: in good order with SIGTERM, and as every command with Ctrl-C.
func TestSignalsOfServers(t *testing.T) {
	t.Parallel()
	at := startProcess(t, strings.Fields(freeDev)...).ports(t).NATS
	for _, args := range []string{
		"serve --http 127.0.0.1:0 --ports-file ports.json --nats-url " + at,
		"emulate --amqp 127.0.0.1:0 --http 127.0.0.1:0 --queue 127.0.0.1:0 --ports-file ports.json",
		freeDev,
	} {
		for s, want := range map[os.Signal]int{os.Interrupt: terminal.ExitInterrupted, syscall.SIGTERM: terminal.ExitOK} {
			p := startProcess(t, strings.Fields(args)...)
			p.ports(t)
			if got := p.end(t, s); got != want {
				t.Errorf("%s, %s: exit code %d, want %d\n%s", args, s, got, want, p.out.String())
			}
		}
	}
}

// ports waits until the process says where it is.
func (p *process) ports(t *testing.T) (at listen.Ports) {
	t.Helper()
	p.until(t, "its ports", func() bool {
		data, err := os.ReadFile(filepath.Join(p.cmd.Dir, "ports.json"))
		return err == nil && json.Unmarshal(data, &at) == nil
	})
	return at
}

// until waits for something, or for the end of the process.
func (p *process) until(t *testing.T, what string, happened func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); !happened(); <-tick.C {
		select {
		case <-p.ended:
			t.Fatalf("it ended while waiting for %s\n%s", what, p.out.String())
		default:
		}
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}
