package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/nats-io/nats.go"
)

// process is a running program that may be killed.
type process struct {
	name  string
	cmd   *exec.Cmd
	began time.Time
	ports string // file; "" for a NATS server, which is at url
	url   string
	log   string // file
	ended chan struct{}
	asked atomic.Bool // to end, or about to be killed
	alone bool        // it ended by itself
}

// endpoints is where a process can be reached.
type endpoints struct {
	HTTP string `json:"http"`
	NATS string `json:"nats"`
}

var processes atomic.Int64

// start starts carillon on a host with a clock. It is killed at the end of the test, which fails if it has ended by itself.
// The test's log shows the end of carillon's when the test has failed; -artifacts keeps all of it.
func start(ctx context.Context, t *testing.T, clock clockFile, args ...string) *process {
	t.Helper()
	ports := filepath.Join(t.TempDir(), "ports.json")
	name := "carillon"
	if clock != "" {
		name = steppedProgram
	}
	p := launch(ctx, t, clock, name, append(args, "--ports-file", ports)...)
	p.ports = ports
	return p
}

// launch starts one of the programs under test as start does.
func launch(ctx context.Context, t *testing.T, clock clockFile, name string, args ...string) *process {
	t.Helper()
	id := name + "-" + strconv.FormatInt(processes.Add(1), 10)
	p := &process{name: id, ended: make(chan struct{}), log: filepath.Join(t.ArtifactDir(), id+".log")}
	log := must.Get(os.Create(p.log))(t)
	defer log.Close()
	p.cmd = exec.CommandContext(ctx, program(t, name), args...)
	p.cmd.Env = append(os.Environ(), clockVariable+"="+string(clock))
	p.cmd.Stderr = log // standard output has a line for each attempt
	p.began = time.Now()
	must.Do(t, p.cmd.Start())
	go func() {
		_ = p.cmd.Wait()
		p.alone = !p.asked.Load() && ctx.Err() == nil
		close(p.ended)
	}()
	t.Cleanup(func() { p.cleanUp(t) })
	return p
}

func (p *process) cleanUp(t *testing.T) {
	p.kill()
	if p.alone {
		t.Errorf("%s ended by itself: %s", p.name, p.cmd.ProcessState)
	}
	if t.Failed() {
		t.Logf("%s: the end of its log\n%s", p.name, p.tail(2<<10))
	}
}

func (p *process) running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// kill ends the process as kill -9 does, and returns when it is gone.
func (p *process) kill() {
	p.asked.Store(true)
	_ = p.cmd.Process.Kill()
	<-p.ended
}

// stop asks the process to end, and waits until it has.
func (p *process) stop(ctx context.Context, t *testing.T) {
	t.Helper()
	p.asked.Store(true)
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	await(ctx, t, p.name+" ends when asked to", patience, func() bool { return !p.running() })
	if code := p.cmd.ProcessState.ExitCode(); code != 0 && code != exitInterrupted {
		t.Errorf("%s: exit code %d after SIGTERM", p.name, code)
	}
}

const exitInterrupted = 130

// patience is a bound on waits for what should take a moment. It only ends tests that hang.
const patience = 3 * time.Minute

// ready waits until the process says where it can be reached.
func (p *process) ready(ctx context.Context, t *testing.T) endpoints {
	t.Helper()
	var e endpoints
	await(ctx, t, p.name+" is ready", patience, func() bool {
		if !p.running() {
			t.Fatalf("%s ended before it was ready: %s\n%s", p.name, p.cmd.ProcessState, p.tail(4<<10))
		}
		var ok bool
		e, ok = p.reach()
		return ok
	})
	return e
}

// reach returns where the process can be reached, if it is ready.
func (p *process) reach() (e endpoints, ok bool) {
	if p.url != "" {
		nc, err := nats.Connect(p.url, nats.MaxReconnects(0))
		if err != nil {
			return e, false
		}
		nc.Close()
		return endpoints{NATS: p.url}, true
	}
	data, err := os.ReadFile(p.ports)
	return e, err == nil && json.Unmarshal(data, &e) == nil && p.running()
}

// tail returns the last n bytes of the process's log.
func (p *process) tail(n int) []byte {
	data, err := os.ReadFile(p.log)
	if err != nil {
		return []byte(err.Error())
	}
	if len(data) > n {
		data = data[len(data)-n:]
		if i := bytes.IndexByte(data, '\n'); i >= 0 {
			data = data[i+1:]
		}
	}
	return data
}

// dev starts `carillon dev` on a directory.
func dev(ctx context.Context, t *testing.T, dir string) *process {
	t.Helper()
	return start(ctx, t, "", "dev", "--http", "127.0.0.1:0", "--nats", "127.0.0.1:0",
		"--amqp", "127.0.0.1:0", "--queue", "127.0.0.1:0", "--data", dir)
}

// serve starts `carillon serve` beside a NATS server. Its targets are told that it is in the region.
func serve(ctx context.Context, t *testing.T, url, region string) *process {
	t.Helper()
	return start(ctx, t, "", "serve", "--http", "127.0.0.1:0", "--nats-url", url, "--region", region, "--allow-target", "127.0.0.1",
		"--min-retry-interval", "1s")
}

// natsd starts a NATS server on a directory.
func natsd(ctx context.Context, t *testing.T, dir, addr string) *process {
	t.Helper()
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	p := launch(ctx, t, "", "nats-server", "--jetstream", "--store_dir", dir, "--addr", host, "--port", port)
	p.url = "nats://" + addr
	return p
}

var errNotReady = errors.New("no process is ready")
