package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/listen"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
)

// process is a carillon that runs by itself.
type process struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   bytes.Buffer // stderr
	ended chan struct{}
}

func startProcess(t *testing.T, args ...string) *process {
	t.Helper()
	path, err := exec.LookPath("carillon")
	if err != nil {
		t.Fatal(err)
	}
	return startCommand(t, exec.Command(path, args...))
}

func startCommand(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{cmd: cmd, ended: make(chan struct{})}
	p.cmd.Dir, p.cmd.Stderr = t.TempDir(), &p.out
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
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
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.ended:
	case <-time.After(patience):
		t.Fatalf("%s did not end it", s)
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
			if _, err := p.in.Write(bytes.Repeat([]byte(" "), 128<<10)); err != nil {
				t.Fatal(err)
			}
			if code := p.end(t, s); code != terminal.ExitInterrupted || p.out.Len() > 0 {
				t.Errorf("%s, %s: exit code %d\n%s", args, s, code, p.out.String())
			}
		}
	}
}

// TestInterruptWhileLent presses Ctrl-C while another program has the terminal: it is for that program. A SIGTERM right
// behind it is not, and one after it is over is for this one.
func TestInterruptWhileLent(t *testing.T) {
	pressed := make(chan os.Signal, 1)
	signal.Notify(pressed, os.Interrupt)
	defer signal.Stop(pressed)
	var screen terminal.Terminal
	ctx, stop := interruptible(screen.Lent)
	defer stop()
	press := func(s os.Signal) {
		if err := syscall.Kill(os.Getpid(), s.(syscall.Signal)); err != nil {
			t.Fatal(err)
		}
	}
	_ = screen.Lend(func() error {
		press(os.Interrupt)
		<-pressed
		press(syscall.SIGTERM)
		<-ctx.Done()
		return nil
	})
	if why, ok := errors.AsType[*interruption](context.Cause(ctx)); !ok || why.signal != syscall.SIGTERM {
		t.Errorf("the command ends because of %v, want the SIGTERM", context.Cause(ctx))
	}
	ctx, stop = interruptible(screen.Lent)
	defer stop()
	press(os.Interrupt)
	<-ctx.Done()
	if why, ok := errors.AsType[*interruption](context.Cause(ctx)); !ok || why.signal != os.Interrupt {
		t.Errorf("the next command ends because of %v, want the Ctrl-C", context.Cause(ctx))
	}
}

// TestInterruptWhileEditing presses Ctrl-C in an editor that ends by it: what was written by then is kept.
func TestInterruptWhileEditing(t *testing.T) {
	needShell(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"name": "default/job", "properties": {"description": "old", "state": "enabled"}}`))
	}))
	defer server.Close()
	t.Setenv("TMPDIR", t.TempDir())
	const pipe = "pressed" // the editor reads it until Ctrl-C has been pressed
	t.Setenv("VISUAL", `open() { mkfifo `+pipe+`; touch opened; read key < `+pipe+`; echo 'description: new' >> "$1"; exit 130; }; open`)
	p := startProcess(t, "edit", "job", "--server", server.URL)
	p.await(t, func() bool { _, err := os.Stat(filepath.Join(p.cmd.Dir, "opened")); return err == nil })
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	key, err := os.OpenFile(filepath.Join(p.cmd.Dir, pipe), os.O_RDWR, 0) // which waits for no reader: the editor may be gone
	if err != nil {
		t.Fatal(err)
	}
	defer key.Close()
	if _, err := key.WriteString("c\n"); err != nil {
		t.Fatal(err)
	}
	p.await(t, func() bool {
		select {
		case <-p.ended:
			return true
		default:
			return false
		}
	})
	if code := p.cmd.ProcessState.ExitCode(); code != terminal.ExitInterrupted {
		t.Errorf("exit code %d\n%s", code, p.out.String())
	}
	kept, _ := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "carillon-job-*"))
	if len(kept) != 1 || !strings.Contains(p.out.String(), "what you wrote is kept in") {
		t.Fatalf("kept: %v\n%s", kept, p.out.String())
	}
	if text, err := os.ReadFile(kept[0]); err != nil || !strings.Contains(string(text), "description: new") {
		t.Errorf("kept is\n%s, %v", text, err)
	}
}

// TestSignalsOfServers ends what runs until it is told to: in good order with SIGTERM, and as every command with Ctrl-C.
func TestSignalsOfServers(t *testing.T) {
	nats := startProcess(t, "dev", "--http", "127.0.0.1:0", "--nats", "127.0.0.1:0", "--amqp", "127.0.0.1:0", "--queue", "127.0.0.1:0",
		"--ports-file", "ports.json")
	at := nats.ports(t).NATS
	for args, code := range map[string]map[os.Signal]int{
		"serve --http 127.0.0.1:0 --nats-url " + at: {os.Interrupt: terminal.ExitInterrupted, syscall.SIGTERM: terminal.ExitOK},
		"emulate --amqp 127.0.0.1:0 --http 127.0.0.1:0 --queue 127.0.0.1:0": {
			os.Interrupt: terminal.ExitInterrupted, syscall.SIGTERM: terminal.ExitOK,
		},
		"dev --http 127.0.0.1:0 --nats 127.0.0.1:0 --amqp 127.0.0.1:0 --queue 127.0.0.1:0": {
			os.Interrupt: terminal.ExitInterrupted, syscall.SIGTERM: terminal.ExitOK,
		},
	} {
		for s, want := range code {
			p := startProcess(t, append(strings.Fields(args), "--ports-file", "ports.json")...)
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
	p.await(t, func() bool {
		data, err := os.ReadFile(filepath.Join(p.cmd.Dir, "ports.json"))
		return err == nil && json.Unmarshal(data, &at) == nil
	})
	return at
}

// await polls until ok.
func (p *process) await(t *testing.T, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); !ok(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatal("waited in vain")
		}
	}
}
