package chaos

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/integration/testkit/freeport"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// lanes is how many the schedulers beside a trio have.
const lanes = 4

// trio is a NATS cluster of three processes of the real nats-server, each with a directory and ports of its own. The
// routes between them go over links, which may be cut.
type trio struct {
	t     *testing.T
	nodes [3]*natsNode
	links map[[2]int]*link // from one node to another
}

// natsNode is one server of a trio.
type natsNode struct {
	name    string // as the cluster knows it
	url     string
	dir     string
	config  string // file
	process *process
}

// newTrio starts a cluster, and waits until JetStream has a leader. dirs are where the nodes store; those that are not
// given are made.
func newTrio(ctx context.Context, t *testing.T, dirs ...string) *trio {
	t.Helper()
	c := &trio{t: t, links: map[[2]int]*link{}}
	var routes, clients [3]string
	for i := range c.nodes {
		routes[i], clients[i] = freeport.Address(t), freeport.Address(t)
	}
	for i := range c.nodes {
		n := &natsNode{name: "n" + strconv.Itoa(i+1), url: "nats://" + clients[i]}
		if n.dir = t.TempDir(); i < len(dirs) && dirs[i] != "" {
			n.dir = dirs[i]
		}
		var peers []string
		for j := range c.nodes {
			if j != i {
				way := newLink(ctx, t, routes[j])
				c.links[[2]int{i, j}] = way
				peers = append(peers, strconv.Quote("nats://"+way.addr))
			}
		}
		n.config = filepath.Join(t.TempDir(), n.name+".conf")
		must.Do(t, os.WriteFile(n.config, []byte(n.configuration(clients[i], routes[i], peers)), 0o600))
		c.nodes[i] = n
	}
	for i := range c.nodes {
		c.start(ctx, i)
	}
	await(ctx, t, "the cluster has a leader", patience, func() bool {
		for _, n := range c.nodes {
			if !n.process.running() {
				t.Fatalf("%s ended: %s", n.name, n.process.tail(4<<10))
			}
		}
		return c.leads(ctx)
	})
	return c
}

// configuration is what a node's file says. What a node tells others of its routes leads nowhere, so that all routes go
// over links.
func (n *natsNode) configuration(client, route string, peers []string) string {
	return fmt.Sprintf(`
server_name: %s
listen: %q
jetstream { store_dir: %q, max_memory_store: 256MB, max_file_store: 8GB }
cluster { name: chaos, listen: %q, advertise: "127.0.0.1:1", routes: [%s] }
`, n.name, client, n.dir, route, strings.Join(peers, ", "))
}

// urls are the addresses of all nodes, as --nats-url takes them.
func (c *trio) urls() string {
	var all []string
	for _, n := range c.nodes {
		all = append(all, n.url)
	}
	return strings.Join(all, ",")
}

// start starts a node, and does not wait for it.
func (c *trio) start(ctx context.Context, i int) {
	c.t.Helper()
	c.nodes[i].process = launch(ctx, c.t, "", "nats-server", "--config", c.nodes[i].config)
}

// kill ends a node as kill -9 does.
func (c *trio) kill(i int) { c.nodes[i].process.kill() }

// isolate cuts a node off from the others, or joins it to them again. Clients reach it all the time.
func (c *trio) isolate(i int, cut bool) {
	for pair, way := range c.links {
		if pair[0] == i || pair[1] == i {
			way.set(cut)
		}
	}
}

// connect connects to some node until the test ends, as a client that goes to another node by itself.
func (c *trio) connect(ctx context.Context, t *testing.T) jetstream.JetStream {
	t.Helper()
	var nc *nats.Conn
	await(ctx, t, "a connection", patience, func() bool {
		var err error
		nc, err = nats.Connect(c.urls(), nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond),
			nats.PingInterval(time.Second), nats.Name("chaos"))
		return err == nil
	})
	t.Cleanup(nc.Close)
	return must.Get(jetstream.New(nc, jetstream.WithDefaultTimeout(patience)))(t)
}

// leads reports whether JetStream answers on every node.
func (c *trio) leads(ctx context.Context) bool {
	for _, n := range c.nodes {
		if !n.leads(ctx) {
			return false
		}
	}
	return true
}

func (n *natsNode) leads(ctx context.Context) bool {
	nc, err := nats.Connect(n.url, nats.MaxReconnects(0))
	if err != nil {
		return false
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	_, err = js.AccountInfo(ctx)
	return err == nil
}

// node returns the place of a node by its name, -1 when there is none.
func (c *trio) node(name string) int {
	for i, n := range c.nodes {
		if n.name == name {
			return i
		}
	}
	return -1
}

// leaders returns the node that leads each stream.
func leaders(ctx context.Context, js jetstream.JetStream) map[string]string {
	all := map[string]string{}
	list := js.ListStreams(ctx)
	for info := range list.Info() {
		if info.Cluster != nil {
			all[info.Config.Name] = info.Cluster.Leader
		}
	}
	return all
}

// whole reports whether every stream has a leader, and copies on every node that are up to date.
func whole(ctx context.Context, js jetstream.JetStream) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	list := js.ListStreams(ctx)
	n := 0
	for info := range list.Info() {
		n++
		if info.Cluster == nil || info.Cluster.Leader == "" {
			return false
		}
		for _, r := range info.Cluster.Replicas {
			if r.Offline || !r.Current && r.Lag > 0 {
				return false
			}
		}
	}
	return list.Err() == nil && n > 0
}

// signal sends a signal to a process, such as SIGSTOP and SIGCONT.
func (p *process) signal(s syscall.Signal) { _ = p.cmd.Process.Signal(s) }

// serveAt starts `carillon serve` beside a trio. Its targets are told that it is in the region.
func (c *trio) serveAt(ctx context.Context, region string, more ...string) *process {
	c.t.Helper()
	return c.serveWith(ctx, "", region, more...)
}

// serveWith is serveAt on a host with a clock.
func (c *trio) serveWith(ctx context.Context, clock clockFile, region string, more ...string) *process {
	c.t.Helper()
	args := []string{
		"serve", "--http", "127.0.0.1:0", "--nats-url", c.urls(), "--region", region, "--allow-target", "127.0.0.1",
		"--min-retry-interval", "1s", "--replicas", "3", "--lanes", strconv.Itoa(lanes),
	}
	return start(ctx, c.t, clock, append(args, more...)...)
}

// link is a way for TCP connections to an address that can be cut.
type link struct {
	addr string // where it begins
	to   string

	mu    sync.Mutex
	cut   bool
	conns map[net.Conn]bool
}

// newLink opens a way to an address until the test ends.
func newLink(ctx context.Context, t *testing.T, to string) *link {
	t.Helper()
	listener := must.Get(new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0"))(t)
	l := &link{addr: listener.Addr().String(), to: to, conns: map[net.Conn]bool{}}
	t.Cleanup(func() {
		_ = listener.Close()
		l.set(true)
	})
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			go l.join(ctx, near)
		}
	}()
	return l
}

// join carries a connection on, unless the way is cut.
func (l *link) join(ctx context.Context, near net.Conn) {
	far, err := new(net.Dialer).DialContext(ctx, "tcp", l.to)
	if err != nil {
		_ = near.Close()
		return
	}
	if !l.keep(near, far) {
		return
	}
	var both sync.WaitGroup
	both.Go(func() { _, _ = io.Copy(near, far); _ = near.Close() })
	both.Go(func() { _, _ = io.Copy(far, near); _ = far.Close() })
	both.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.conns, near)
	delete(l.conns, far)
}

// keep takes both ends of a connection, and closes them when the way is cut.
func (l *link) keep(near, far net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut {
		_, _ = near.Close(), far.Close()
		return false
	}
	l.conns[near], l.conns[far] = true, true
	return true
}

// set cuts the way, with all connections on it, or opens it again.
func (l *link) set(cut bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = cut
	if !cut {
		return
	}
	for c := range l.conns {
		_ = c.Close()
	}
	clear(l.conns)
}
