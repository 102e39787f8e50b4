package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/cmd/carillon/listen"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/integration/testkit/logtest"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/store/embedded/clustertest"
)

// cluster is a NATS cluster of three servers in this process.
type cluster struct {
	t       *testing.T
	options []*server.Options
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	return &cluster{t: t, options: clustertest.Options(t)}
}

// start starts one of the servers, and returns its URL.
func (c *cluster) start(i int) string {
	c.t.Helper()
	return natsServer(c.t, c.options[i])
}

// natsServer starts a NATS server in this process, and returns its URL.
func natsServer(t *testing.T, o *server.Options) string {
	t.Helper()
	return startNATS(t, o).ClientURL()
}

// startNATS starts a NATS server in this process, which ends with the test.
func startNATS(t *testing.T, o *server.Options) *server.Server {
	t.Helper()
	s := clustertest.Begin(t, o)
	clustertest.Ready(t, s)
	return s
}

// aloneServer starts a NATS server with JetStream that no other one belongs to, and returns its URL.
func aloneServer(t *testing.T) string {
	t.Helper()
	return natsServer(t, &server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true, JetStream: true, StoreDir: t.TempDir(),
	})
}

// serving is a server in this process.
type serving struct {
	log   *logtest.Log
	ports string
	stop  func()
	ended chan error
}

func serveOn(t *testing.T, args ...string) *serving {
	t.Helper()
	ports := filepath.Join(t.TempDir(), "ports.json")
	s := must.Get(startHere(t.Context(), ports, append([]string{"serve", "--http", "127.0.0.1:0"}, args...)...))(t)
	t.Cleanup(s.stop)
	return s
}

// startHere starts a server in this process, without variables.
func startHere(ctx context.Context, ports string, args ...string) (*serving, error) {
	ctx, cancel := context.WithCancel(ctx)
	s := &serving{log: &logtest.Log{}, ports: ports, stop: cancel, ended: make(chan error, 1)}
	term := &terminal.Terminal{Out: io.Discard, Err: s.log, Lookup: func(string) (string, bool) { return "", false }}
	parser, _ := newParser(term)
	args = append(args, "--ports-file", ports)
	command, err := parser.Parse(args)
	if err != nil {
		cancel()
		return nil, err
	}
	command.BindTo(ctx, (*context.Context)(nil))
	command.Bind(commandLine(args))
	go func() { s.ended <- command.Run(term) }()
	return s, nil
}

// until waits for something, or for the end of the process.
func (s *serving) until(t *testing.T, what string, happened func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); !happened(); <-tick.C {
		select {
		case err := <-s.ended:
			t.Fatalf("%s: it ended: %v\n%s", what, err, s.log)
		default:
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %s\n%s", what, patience, s.log)
		}
	}
}

func (s *serving) untilReady(t *testing.T) {
	t.Helper()
	s.until(t, "ready", func() bool {
		_, err := os.Stat(s.ports)
		return err == nil
	})
}

// address returns where its API is.
func (s *serving) address(t *testing.T) string {
	t.Helper()
	s.untilReady(t)
	data := must.Get(os.ReadFile(s.ports))(t)
	var at listen.Ports
	must.Do(t, json.Unmarshal(data, &at))
	return at.HTTP
}

// end stops it in good order.
func (s *serving) end(t *testing.T) {
	t.Helper()
	s.stop()
	if err := <-s.ended; err != nil {
		t.Fatalf("%v\n%s", err, s.log)
	}
}

// TestServeWaitsForLeader starts two schedulers on the first server of a cluster, which has no leader yet.
func TestServeWaitsForLeader(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	first := c.start(0)
	both := []*serving{serveOn(t, "--nats-url", first, "--replicas", "3"), serveOn(t, "--nats-url", first, "--replicas", "3")}
	for _, s := range both {
		s.until(t, "a wait", func() bool { return strings.Contains(s.log.String(), `level=INFO msg="waiting for NATS"`) })
	}
	c.start(1)
	c.start(2)
	for _, s := range both {
		s.untilReady(t)
	}
	for _, s := range both {
		s.end(t)
	}
}

// TestServeRaisesReplicas changes the number of copies of a store that is there.
func TestServeRaisesReplicas(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	at := c.start(0)
	c.start(1)
	c.start(2)
	replicas := func() (counts map[int]int) {
		nc := must.Get(nats.Connect(at))(t)
		defer nc.Close()
		js := must.Get(jetstream.New(nc))(t)
		counts = map[int]int{}
		streams := js.ListStreams(t.Context())
		for info := range streams.Info() {
			counts[info.Config.Replicas]++
		}
		if streams.Err() != nil {
			t.Fatal(streams.Err())
		}
		return counts
	}
	all := 0
	for _, step := range []struct {
		args     []string
		replicas int
		log      string
		code     int // 0: it gets ready
	}{
		{args: []string{"--lanes", "2"}, replicas: 1},
		{args: []string{"--replicas", "3"}, replicas: 3, log: `msg="changing the number of replicas" from=1 to=3`},
		{replicas: 3},
		{args: []string{"--replicas", "1"}, replicas: 3, log: "1 was asked for, but stream KV_carillon-settings has 3", code: terminal.ExitConflict},
		{args: []string{"--replicas", "1", "--reduce-replicas"}, replicas: 1, log: "from=3 to=1"},
		{args: []string{"--replicas", "5", "--nats-wait", "0s"}, replicas: 1, log: "cannot have 5 here", code: terminal.ExitUnavailable},
	} {
		s := serveOn(t, append(step.args, "--nats-url", at)...)
		said := ""
		if step.code == 0 {
			s.untilReady(t)
			s.end(t)
			said = s.log.String()
		} else if err := <-s.ended; terminal.ExitCode(err) != step.code {
			t.Errorf("%v: %v", step.args, err)
		} else {
			said = err.Error()
		}
		if !strings.Contains(said, step.log) {
			t.Errorf("%v: nothing of %q in %s", step.args, step.log, said)
		}
		counts := replicas()
		all = max(all, counts[step.replicas])
		if len(counts) != 1 || counts[step.replicas] != all {
			t.Errorf("%v: streams by replicas: %v", step.args, counts)
		}
	}
	if all < 8 {
		t.Errorf("only %d streams", all)
	}
}
