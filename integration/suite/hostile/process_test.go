package hostile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience bounds each wait for the process.
const patience = 2 * time.Minute

// process is a running `carillon dev`.
type process struct {
	ports map[string]string
	cmd   *exec.Cmd
	log   *output
	ended chan error
}

// output is what a process writes.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// start builds the program, without the race detector, and runs it.
func start(t *testing.T) *process {
	t.Helper()
	dir := t.TempDir()
	program, ports := filepath.Join(dir, "carillon"), filepath.Join(dir, "ports.json")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./cmd/carillon")
	build.Dir = filepath.Join("..", "..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	const free = "127.0.0.1:0"
	p := &process{log: &output{}, ended: make(chan error, 1)}
	p.cmd = exec.Command(program, "dev", "--http", free, "--nats", free, "--amqp", free, "--queue", free,
		"--data", filepath.Join(dir, "data"), "--ports-file", ports, "--log-format", "text")
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.ended <- p.cmd.Wait() }()
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	p.await(t, "its start", func() bool {
		data, err := os.ReadFile(ports)
		return err == nil && json.Unmarshal(data, &p.ports) == nil
	})
	return p
}

// await polls until ok.
func (p *process) await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); !ok(); <-tick.C {
		p.mustRun(t)
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s\n%s", what, p.log)
		}
	}
}

// mustRun fails the test when the process has ended.
func (p *process) mustRun(t *testing.T) {
	t.Helper()
	select {
	case err := <-p.ended:
		t.Fatalf("the process ended: %v\n%s", err, p.log)
	default:
	}
}

// stop ends it as an operator does.
func (p *process) stop(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-p.ended:
		if err != nil {
			t.Errorf("it ended with %v\n%s", err, p.log)
		}
	case <-time.After(patience):
		t.Errorf("it does not end\n%s", p.log)
	}
}

// memory is what the process has resident, in bytes; 0 where the system does not tell.
func (p *process) memory() int64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return kb << 10
		}
	}
	return 0
}
