// Package stage runs a scheduler whose console has something to show: jobs of every type of action, with every outcome, and
// queues with messages. Tests of the console and its screenshots look at it.
package stage

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// patience bounds each wait for the scheduler: far more than a busy machine takes.
const patience = 3 * time.Minute

// Stage is a running `carillon dev`.
type Stage struct {
	HTTP         string `json:"http"`
	NATS         string `json:"nats"`
	Queue        string `json:"queue"`
	ServiceBus   string `json:"serviceBus"`
	StorageQueue string `json:"storageQueue"`

	cmd   *exec.Cmd
	log   output
	ended chan struct{}
}

// output collects the scheduler's output.
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
func Start(ctx context.Context, program, dir string, args ...string) (*Stage, error) {
	const free = "127.0.0.1:0"
	ports := filepath.Join(dir, "ports.json")
	s := &Stage{ended: make(chan struct{})}
	s.cmd = exec.CommandContext(context.WithoutCancel(ctx), program, append([]string{ //nolint:gosec // the built program
		"dev", "--http", free, "--nats", free, "--amqp", free, "--queue", free, "--data", filepath.Join(dir, "data"), "--ports-file", ports,
	}, args...)...)
	s.cmd.Stdout, s.cmd.Stderr = &s.log, &s.log
	if err := s.begin(); err != nil {
		return nil, err
	}
	err := s.Await(ctx, func() bool {
		data, err := os.ReadFile(ports)
		return err == nil && json.Unmarshal(data, s) == nil
	})
	if err != nil {
		s.Stop()
		return nil, fmt.Errorf("carillon dev: %w\n%s", err, s.Log())
	}
	return s, nil
}

// begin starts the process. It ends together with this process, even after a kill or panic. Linux ties it to the
// thread that started it, so begin keeps that thread.
func (s *Stage) begin() error {
	s.cmd.SysProcAttr = withParent()
	began := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := s.cmd.Start()
		began <- err
		if err == nil {
			_ = s.cmd.Wait()
		}
		close(s.ended)
	}()
	return <-began
}

// Log returns the program's output so far.
func (s *Stage) Log() string {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	return s.log.text.String()
}

// errEnded reports an unexpected end of the program.
var errEnded = errors.New("it has ended")

// Await polls until ok.
func (s *Stage) Await(ctx context.Context, ok func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.ended:
			return errEnded
		case <-tick.C:
		}
	}
	return nil
}

// Stop shuts the program down gracefully.
func (s *Stage) Stop() {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.ended:
	case <-time.After(patience):
		_ = s.cmd.Process.Kill()
		<-s.ended
	}
}

// Call sends a document to the REST API, and returns the answer's status and body.
func (s *Stage) Call(ctx context.Context, method, path string, document any) (int, []byte, error) {
	body, err := json.Marshal(document)
	if err != nil {
		return 0, nil, err
	}
	r, err := http.NewRequestWithContext(ctx, method, s.HTTP+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return answer.StatusCode, text, err
}

// Put stores a job.
func (s *Stage) Put(ctx context.Context, collection, name string, job any) error {
	status, body, err := s.Call(ctx, http.MethodPut, "/jobCollections/"+collection+"/jobs/"+name, job)
	if err == nil && status/100 != 2 {
		err = fmt.Errorf("put %s/%s: %d %s", collection, name, status, body)
	}
	return err
}
