package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/store/embedded"
)

// The commands with which bench starts itself as another process. They are not for people.
const (
	childSink = "__sink" // ADDRFILE
	childBare = "__bare" // READYFILE NATSURL SINKURL
)

// runChild does the work of such a process; ok is false when args are those of a person. The process ends when it is asked
// to, and when its parent is gone: then its input ends.
func runChild(args []string) (status int, ok bool) {
	if len(args) < 2 || args[0] != childSink && args[0] != childBare {
		return 0, false
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	var err error
	if args[0] == childSink {
		err = sinkProcess(ctx, args[1])
	} else {
		err = bareProcess(ctx, args[1:])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitFailure, true
	}
	return exitOK, true
}

// spawnChild starts this program with one of these commands, whose first argument is a file that it writes when it is
// ready, and returns what is in it.
func spawnChild(ctx context.Context, name, dir, command string, args ...string) (p *process, told string, err error) {
	program, err := os.Executable()
	if err != nil {
		return nil, "", err
	}
	file, err := os.CreateTemp(dir, name+"-*.ready")
	if err != nil {
		return nil, "", err
	}
	if err := file.Close(); err != nil {
		return nil, "", err
	}
	if p, err = spawn(name, dir, program, nil, append([]string{command, file.Name()}, args...)...); err != nil {
		return nil, "", err
	}
	err = p.started(ctx, func() bool {
		data, _ := os.ReadFile(file.Name())
		line, whole := strings.CutSuffix(string(data), "\n")
		told = line
		return whole
	})
	if err != nil {
		p.kill()
		return nil, "", err
	}
	return p, told, nil
}

// tell writes the file that says that a child is ready.
func tell(file, text string) error {
	return os.WriteFile(filepath.Clean(file), []byte(text+"\n"), 0o600)
}

// sinkProcess is the sink until ctx is done.
func sinkProcess(ctx context.Context, file string) error {
	r, err := newRecorder(ctx)
	if err != nil {
		return err
	}
	defer r.close()
	if err := tell(file, r.url); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// serveProfiles serves the profiles of this process until it ends, and returns their URL.
func serveProfiles(ctx context.Context) (string, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(l) }() // as long as the process lives
	return "http://" + l.Addr().String() + "/debug/pprof/", nil
}

// bareProcess is the worker of the baseline until ctx is done.
func bareProcess(ctx context.Context, args []string) error {
	if len(args) != 3 {
		return fmt.Errorf("%s takes 3 arguments", childBare)
	}
	nc, err := nats.Connect(args[1], embedded.ConnectOptions()...)
	if err != nil {
		return err
	}
	defer nc.Close()
	s, err := newBare(ctx, nc, args[2])
	if err != nil {
		return err
	}
	defer s.client.CloseIdleConnections()
	profiles, err := serveProfiles(ctx)
	if err != nil {
		return err
	}
	return s.run(ctx, func() error { return tell(args[0], profiles) })
}

// readLines calls f with each line of r, without its end.
func readLines(r io.Reader, f func(line string) error) error {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		if err := f(lines.Text()); err != nil {
			return err
		}
	}
	return lines.Err()
}
