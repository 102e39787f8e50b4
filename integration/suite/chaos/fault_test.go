//go:build linux

package chaos

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// fault is something that happens to a cluster.
type fault struct {
	name   string
	about  string
	short  bool                      // it belongs to the short form
	strict bool                      // each process leaves at most one attempt of each job to be repeated
	bound  time.Duration             // how late jobs may be that wait for their time; 0: none
	needs  func(*testing.T) string   // why it cannot happen here; nil: nothing is needed
	dirs   func(*testing.T) []string // where the nodes store; nil: anywhere
	clocks bool                      // the schedulers' hosts have clocks of their own
	happen func(context.Context, *cluster)
}

// How long faults last.
const (
	away    = 20 * time.Second // a node that is lost
	stopped = 9 * time.Second  // a node that is paused
	hung    = 15 * time.Second // a scheduler that is paused: longer than a lease
	cut     = 15 * time.Second // a partition
	full    = 20 * time.Second // a disk without room
	stepped = 6 * time.Second  // a wrong clock
)

var faults = []fault{
	{
		name: "leader-killed", about: "kill -9 of the NATS server that leads most lanes; it stays away", short: true, bound: leaderBound,
		happen: func(ctx context.Context, c *cluster) { c.kill(c.leading(ctx)) },
	},
	{
		name: "leader-and-serve-killed", short: true, bound: failoverBound,
		about: "kill -9 of the NATS server that leads most lanes and of a scheduler, at the same moment; both stay away",
		happen: func(ctx context.Context, c *cluster) {
			i := c.leading(ctx)
			c.schedulers[0].kill()
			c.kill(i)
		},
	},
	{
		name: "node-lost", about: "kill -9 of the NATS server that leads most lanes, which is back after 20 s",
		happen: func(ctx context.Context, c *cluster) {
			i := c.leading(ctx)
			c.kill(i)
			pause(ctx, away)
			c.trio.start(ctx, i)
		},
	},
	{
		name: "node-paused", about: "SIGSTOP of the NATS server that leads most lanes, for 9 s",
		happen: func(ctx context.Context, c *cluster) { suspend(ctx, c.nodes[c.leading(ctx)].process, stopped) },
	},
	{
		name: "partition", about: "the NATS server that leads most lanes is cut off from the others for 15 s; clients reach it",
		happen: func(ctx context.Context, c *cluster) {
			i := c.leading(ctx)
			c.isolate(i, true)
			pause(ctx, cut)
			c.isolate(i, false)
		},
	},
	{
		name: "all-restarted", about: "kill -9 of all three NATS servers, which are started again at once",
		happen: func(ctx context.Context, c *cluster) {
			for i := range c.nodes {
				c.kill(i)
			}
			for i := range c.nodes {
				c.trio.start(ctx, i)
			}
			await(ctx, c.t, "the cluster has a leader", patience, func() bool { return c.leads(ctx) })
		},
	},
	{
		name: "serve-killed", about: "kill -9 of a scheduler; it stays away", strict: true,
		happen: func(_ context.Context, c *cluster) { c.schedulers[0].kill() },
	},
	{
		name: "serve-paused", about: "SIGSTOP of a scheduler for 15 s, longer than a lease",
		happen: func(ctx context.Context, c *cluster) { suspend(ctx, c.schedulers[0], hung) },
	},
	{
		name: "all-serve-killed", about: "kill -9 of all three schedulers, which are started again at once", strict: true,
		happen: func(ctx context.Context, c *cluster) {
			for _, p := range c.schedulers {
				p.kill()
			}
			for i := range c.schedulers {
				c.serve(ctx, i)
			}
			for _, p := range c.schedulers {
				p.ready(ctx, c.t)
			}
		},
	},
	{
		name: "disk-full", about: "the disk of a NATS server is full for 20 s; then it is restarted", needs: needsMounts, dirs: smallDisk,
		happen: fill,
	},
	{
		name: "clock-stepped", about: "the clock of a scheduler's host is set 30 s and then 2 s forward, then 30 s back, for 6 s each", clocks: true,
		happen: func(ctx context.Context, c *cluster) { steps(ctx, c, 30*time.Second, 2*time.Second, -30*time.Second) },
	},
}

func suspend(ctx context.Context, p *process, d time.Duration) {
	p.signal(syscall.SIGSTOP)
	pause(ctx, d)
	p.signal(syscall.SIGCONT)
}

// leading returns the node that leads most lanes. It is about to be lost: how long that leaves lanes without a leader is
// measured from now on.
func (c *cluster) leading(ctx context.Context) int {
	c.t.Helper()
	leads := map[string]int{}
	most := ""
	for stream, node := range leaders(ctx, c.js) {
		if !isLane(stream) {
			continue
		}
		leads[node]++
		if leads[node] > leads[most] {
			most = node
		}
	}
	if i := c.node(most); i >= 0 {
		c.t.Logf("%s leads %d lanes", most, leads[most])
		c.lost.lose(ctx, c.t, c.trio, i, lanes)
		return i
	}
	c.t.Fatalf("no node leads: %v", leads)
	return -1
}

// skewed returns how far ahead the clock of the i-th scheduler's host is: the first by -skew, and the second by that behind.
func skewed(i int) time.Duration {
	skew := *skewFlag
	if *fullFlag {
		skew = cmp.Or(skew, 5*time.Minute)
	}
	return []time.Duration{skew, -skew, 0}[i]
}

// steps sets the clock of the first scheduler's host again and again, and back in the end.
func steps(ctx context.Context, c *cluster, all ...time.Duration) {
	c.t.Helper()
	for _, ahead := range append(all, 0) {
		c.clocks[0].set(c.t, skewed(0)+ahead)
		if ahead != 0 {
			pause(ctx, stepped)
		}
	}
}

// diskSize is that of the small disk of a node, in mount's words.
const diskSize = "size=512m"

// needsMounts says why no small disk can be made.
func needsMounts(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", dir).CombinedOutput(); err != nil {
		return "a disk of its own for a node needs the right to mount one: " + string(out)
	}
	must.Do(t, syscall.Unmount(dir, 0))
	return ""
}

// smallDisk gives the first node a disk of its own.
func smallDisk(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", diskSize, "tmpfs", dir).CombinedOutput(); err != nil {
		t.Fatalf("mount: %v: %s", err, out)
	}
	t.Cleanup(func() { must.Do(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
	return []string{dir}
}

// fill leaves nothing of the first node's disk, and gives it back after a while.
func fill(ctx context.Context, c *cluster) {
	c.t.Helper()
	path := filepath.Join(c.nodes[0].dir, "filler")
	f, err := os.Create(path)
	if err != nil {
		c.t.Fatal(err)
	}
	block := make([]byte, 4<<10)
	for err == nil {
		_, err = f.Write(block)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		c.t.Fatal(err)
	}
	_ = f.Close()
	pause(ctx, full)
	must.Do(c.t, os.Remove(path))
	c.kill(0) // a server that has found its disk full stays without JetStream until it is restarted
	c.trio.start(ctx, 0)
}
