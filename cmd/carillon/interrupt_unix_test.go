//go:build unix

package main

import (
	"context"
	"errors"
	"net"
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

	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

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
		must.Do(t, syscall.Kill(os.Getpid(), s.(syscall.Signal)))
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
	p.until(t, "the editor", func() bool { _, err := os.Stat(filepath.Join(p.cmd.Dir, "opened")); return err == nil })
	must.Do(t, p.cmd.Process.Signal(os.Interrupt))
	key, err := os.OpenFile(filepath.Join(p.cmd.Dir, pipe), os.O_RDWR, 0) // which waits for no reader: the editor may be gone
	if err != nil {
		t.Fatal(err)
	}
	defer key.Close()
	must.Get(key.WriteString("c\n"))(t)
	if code := p.wait(t, "the end of the editor"); code != terminal.ExitInterrupted {
		t.Errorf("exit code %d\n%s", code, p.out.String())
	}
	kept, _ := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "carillon-job-*"))
	if len(kept) != 1 || !strings.Contains(p.out.String(), "your text is kept in") {
		t.Fatalf("kept: %v\n%s", kept, p.out.String())
	}
	if text, err := os.ReadFile(kept[0]); err != nil || !strings.Contains(string(text), "description: new") {
		t.Errorf("kept is\n%s, %v", text, err)
	}
}

// TestServiceManager listens, as systemd does with Type=notify, to what a scheduler says of itself.
func TestServiceManager(t *testing.T) {
	at := startProcess(t, strings.Fields(freeDev)...).ports(t).NATS
	path := must.Get(exec.LookPath("carillon"))(t)
	cmd := exec.Command(path, "serve", "--http", "127.0.0.1:0", "--nats-url", at)
	socket := filepath.Join(t.TempDir(), "notify")
	told := must.Get(net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"}))(t)
	defer func() { _ = told.Close() }()
	cmd.Env = append(os.Environ(), "NOTIFY_SOCKET="+socket)
	p := startCommand(t, cmd)
	hears := func(want string) {
		t.Helper()
		var message [256]byte
		_ = told.SetReadDeadline(time.Now().Add(patience))
		if n, err := told.Read(message[:]); err != nil || string(message[:n]) != want {
			t.Errorf("it says %q, %v, want %q", message[:n], err, want)
		}
	}
	hears("READY=1")
	if code := p.end(t, syscall.SIGTERM); code != terminal.ExitOK {
		t.Errorf("exit code %d\n%s", code, p.out.String())
	}
	hears("STOPPING=1")
}
