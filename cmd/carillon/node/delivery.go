package node

import (
	"crypto/tls"
	"crypto/x509"
	"net/netip"
	"net/url"

	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/actions"
	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/actions/natsmsg"
	"github.com/carillon-sched/carillon/actions/servicebus"
	"github.com/carillon-sched/carillon/actions/storagequeue"
	"github.com/carillon-sched/carillon/actions/web"
)

// Delivery says what actions may reach, and where it is. The zero value
// reaches everything, where Azure has it.
type Delivery struct {
	// Guard decides which addresses may be dialled. Default: all.
	Guard *egress.Guard

	// Region is what targets are told as the scheduler's region. Default:
	// nothing.
	Region string

	// Proxy is what requests over HTTP go through. Default: none.
	Proxy *url.URL

	// ServiceBus says where namespaces are, StorageQueues where accounts have
	// their queues. Default: at Azure.
	ServiceBus    egress.Endpoints
	StorageQueues egress.Endpoints

	// AnyKey accepts Service Bus jobs without a key. It is for emulators.
	AnyKey bool

	// LoginEndpoint is the authority that gives ActiveDirectoryOAuth jobs
	// their tokens. Default: Azure's.
	LoginEndpoint *url.URL

	// Subjects are those that jobs may publish to over the scheduler's own
	// connection. Default: all but the scheduler's and the server's own.
	Subjects []string

	// RootCAs are trusted beside nothing else. Default: the system's.
	RootCAs *x509.CertPool
}

// AllowOwn lets jobs reach a listener of this process: where it says that it
// listens, and on loopback addresses when that is everywhere.
func (d Delivery) AllowOwn(addr string) {
	a, err := netip.ParseAddrPort(addr)
	if err != nil {
		return
	}
	d.Guard.AllowAddr(a)
	if a.Addr().IsUnspecified() {
		for _, loopback := range []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.IPv6Loopback()} {
			d.Guard.AllowAddr(netip.AddrPortFrom(loopback, a.Port()))
		}
	}
}

// targets are the actions of a node.
type targets struct {
	web   *web.Client
	bus   *servicebus.Client
	queue *storagequeue.Client
	nats  *natsmsg.Client
}

// open makes the clients of all action types. conn is the scheduler's own
// connection, and prefix begins the subjects that are its own. It does no I/O.
func (d Delivery) open(version string, conn *nats.Conn, prefix string) *targets {
	t := &targets{
		web: web.New(web.Config{
			Version: version, Region: d.Region, Proxy: d.Proxy, Guard: d.Guard, RootCAs: d.RootCAs, LoginEndpoint: d.LoginEndpoint,
		}),
		queue: storagequeue.New(storagequeue.Config{
			Endpoints: d.StorageQueues, Region: d.Region, Guard: d.Guard, Proxy: d.Proxy,
		}),
	}
	t.nats = natsmsg.New(natsmsg.Config{Conn: conn, Prefix: prefix, Allow: d.Subjects, Guard: d.Guard, RootCAs: d.RootCAs})
	bus := servicebus.Config{Version: version, Endpoints: d.ServiceBus, KeyOptional: d.AnyKey, Guard: d.Guard}
	if d.RootCAs != nil {
		bus.TLS = &tls.Config{RootCAs: d.RootCAs, MinVersion: tls.VersionTLS12}
	}
	t.bus = servicebus.New(bus)
	return t
}

// reader reads the actions of jobs.
func (t *targets) reader() *actions.Registry {
	return actions.New(t.web, t.queue, t.bus, t.nats)
}

// close closes the connections to targets.
func (t *targets) close() {
	t.web.CloseIdleConnections()
	t.queue.CloseIdleConnections()
	t.bus.Close()
	t.nats.Close()
}
