package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/store/embedded"
)

// The sides of a run. Each is measured by itself, in turn.
const (
	sideCarillon = "carillon"
	sideAgainst  = "against" // the build that -against names
	sideBare     = "bare"    // JetStream without Carillon
)

// clusterLanes is the number of lanes with more than one server.
const clusterLanes = 4

// bench measures a scenario.
type bench struct {
	options

	log      *log.Logger
	programs programs
}

// run measures the scenario as often as -runs says, and prints the report.
func (b *bench) run(ctx context.Context, stdout io.Writer) error {
	dir, err := os.MkdirTemp("", "carillon-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := b.build(ctx, dir); err != nil {
		return err
	}
	sides := []string{sideCarillon}
	if b.against != "" {
		sides = append(sides, sideAgainst)
	}
	if b.scenario.name == "herd" && b.bare {
		sides = append(sides, sideBare)
	}
	var runs []map[string]figures
	for i := range b.runs {
		order := slices.Clone(sides)
		if i%2 == 1 { // no side is always the first
			slices.Reverse(order)
		}
		run := map[string]figures{}
		for _, side := range order {
			if run[side], err = b.measure(ctx, side); err != nil {
				return fmt.Errorf("%s, %s, run %d of %d: %w", b.scenario.name, side, i+1, b.runs, err)
			}
		}
		runs = append(runs, run)
	}
	r := newReport(b.options, runs)
	if err := r.write(stdout, b.json); err != nil || len(r.Faults) == 0 {
		return err
	}
	return errors.New(strings.Join(r.Faults, "; "))
}

// measure measures a side on a fresh stage.
func (b *bench) measure(ctx context.Context, side string) (fs figures, err error) {
	dir, err := os.MkdirTemp("", "carillon-bench-")
	if err != nil {
		return nil, err
	}
	s := &stage{bench: b, dir: dir, side: side, carillon: b.programs.carillon}
	if side == sideAgainst {
		s.carillon = b.programs.against
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if s.target, err = s.startTarget(ctx); err != nil {
		return nil, err
	}
	if err = s.startCluster(ctx); err != nil {
		return nil, err
	}
	return b.scenario.measure(ctx, s)
}

// stage is the set of processes that one side of a run is measured on: nats-server on a fresh directory, the target, and the
// processes that the scenario starts. Its connection creates jobs and looks at streams.
type stage struct {
	*bench

	side      string
	carillon  string // program
	dir       string
	target    *target
	server    *process // the first
	routes    []string // between the servers, if they are a cluster
	url       string   // of nats-server
	nc        *nats.Conn
	js        jetstream.JetStream
	processes []*process // running
}

// startCluster starts as many servers as -servers says, and waits until JetStream answers.
func (s *stage) startCluster(ctx context.Context) (err error) {
	if s.servers > 1 {
		if s.routes, err = freeAddrs(ctx, s.servers); err != nil {
			return err
		}
	}
	for number := s.servers - 1; number >= 0; number-- {
		if err := s.startServer(ctx, "127.0.0.1:-1", number); err != nil {
			return err
		}
	}
	return s.awaitJetStream(ctx)
}

// awaitJetStream waits until JetStream answers. A server without a leader does not.
func (s *stage) awaitJetStream(ctx context.Context) error {
	return s.server.await(ctx, func() bool {
		soon, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		_, err := s.js.AccountInfo(soon)
		return err == nil
	})
}

// freeAddrs returns addresses that nothing listens at.
func freeAddrs(ctx context.Context, n int) (addrs []string, err error) {
	listeners := make([]net.Listener, 0, n) // open until the end, so that each port is another one
	defer func() {
		for _, l := range listeners {
			_ = l.Close()
		}
	}()
	for range n {
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		listeners, addrs = append(listeners, l), append(addrs, l.Addr().String())
	}
	return addrs, nil
}

// startServer starts a nats-server on the stage's data, with its default settings, and connects. Port -1 is a free one.
func (s *stage) startServer(ctx context.Context, addr string, number int) (err error) {
	cluster, sync := "", ""
	if len(s.routes) > 0 {
		cluster = fmt.Sprintf("server_name: n%d\ncluster { name: bench, listen: %q, routes: [\"nats://%s\"] }\n",
			number, s.routes[number], strings.Join(s.routes, `", "nats://`))
	}
	if s.sync != "" {
		sync = ", sync_interval: " + s.sync
	}
	config := filepath.Join(s.dir, fmt.Sprintf("nats-server-%d.conf", number))
	data := filepath.Join(s.dir, "data", strconv.Itoa(number))
	text := fmt.Sprintf("listen: %q\nprof_port: -1\njetstream { store_dir: %q%s }\n%s", addr, data, sync, cluster)
	if err = os.WriteFile(config, []byte(text), 0o600); err != nil {
		return err
	}
	if s.server, err = s.spawn(roleServer, s.programs.server, "--config", config, "--ports_file_dir", s.dir); err != nil {
		return err
	}
	var ports struct {
		NATS    []string `json:"nats"`
		Profile []string `json:"profile"`
	}
	file := filepath.Join(s.dir, fmt.Sprintf("%s_%s.ports", filepath.Base(s.programs.server), s.server.pid()))
	err = s.server.awaitFile(ctx, file, func(data []byte) bool {
		return json.Unmarshal(data, &ports) == nil && len(ports.NATS) > 0 && len(ports.Profile) > 0
	})
	if err != nil {
		return err
	}
	s.url, s.server.pprof = ports.NATS[0], ports.Profile[0]+"/debug/pprof/"
	s.log.Printf("%s: nats-server is profiled at %s", s.side, s.server.pprof)
	if s.nc != nil {
		s.nc.Close()
	}
	if s.nc, err = nats.Connect(s.url, append(embedded.ConnectOptions(), nats.ReconnectWait(10*time.Millisecond))...); err != nil {
		return err
	}
	s.js, err = jetstream.New(s.nc, jetstream.WithDefaultTimeout(patience), jetstream.WithPublishAsyncMaxPending(publishWindow))
	return err
}

// startWorker starts carillon serve and waits until its API on NATS answers.
func (s *stage) startWorker(ctx context.Context) (*process, error) {
	dir, err := os.MkdirTemp(s.dir, "serve-")
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "ports.json")
	args := []string{
		"serve", "--nats-url", s.url, "--http", "127.0.0.1:0", "--pprof", "127.0.0.1:0", "--ports-file", file,
		"--allow-target", "127.0.0.1", "--log-level", "warn",
	}
	if s.servers > 1 {
		args = append(args, "--replicas", strconv.Itoa(s.servers), "--lanes", strconv.Itoa(clusterLanes))
	}
	if s.sync == "always" {
		args = append(args, "--nats-sync-always")
	}
	p, err := s.spawn(roleWorker, s.carillon, args...)
	if err != nil {
		return nil, err
	}
	var ports struct {
		Pprof string `json:"pprof"`
	}
	if err := p.awaitFile(ctx, file, func(data []byte) bool { return json.Unmarshal(data, &ports) == nil }); err != nil {
		return nil, err
	}
	p.pprof = ports.Pprof
	s.log.Printf("%s: carillon serve is profiled at %s", s.side, p.pprof)
	err = p.await(ctx, func() bool {
		_, err := s.request(ctx, "get", "none", nil)
		return err == nil
	})
	return p, err
}

// leave forgets processes that the scenario has stopped.
func (s *stage) leave(gone ...*process) {
	s.processes = slices.DeleteFunc(s.processes, func(p *process) bool { return slices.Contains(gone, p) })
}

// close stops all processes, the first one last, and removes the directory. A process that has already ended is an error.
func (s *stage) close() (err error) {
	for _, p := range slices.Backward(s.processes) {
		err = errors.Join(err, p.alive(), p.stop())
	}
	s.nc.Close()
	return errors.Join(err, os.RemoveAll(s.dir))
}
