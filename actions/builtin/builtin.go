// Package builtin puts together the action types of this module. A new type
// needs a package below actions, and a line in [New]; the rest of the program
// finds it in the [actions.Registry].
package builtin

import (
	"crypto/tls"
	"crypto/x509"
	"net/url"

	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/actions"
	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/actions/natsmsg"
	"github.com/carillon-sched/carillon/actions/servicebus"
	"github.com/carillon-sched/carillon/actions/storagequeue"
	"github.com/carillon-sched/carillon/actions/web"
)

// Config sets the targets that actions may reach, and their addresses. The zero value
// permits all targets, with Azure's addresses, but no NATS without servers in the job.
type Config struct {
	// Guard decides which addresses may be dialled. Default: all.
	Guard *egress.Guard

	// Version and Region identify the scheduler to targets. Default: dev, and no region.
	Version string
	Region  string

	// Proxy is what requests over HTTP go through. Default: none.
	Proxy *url.URL

	// RootCAs are the only trusted authorities. Default: the system's.
	RootCAs *x509.CertPool

	// ServiceBus holds the addresses of namespaces, StorageQueues the addresses of accounts. Default: Azure's.
	ServiceBus    egress.Endpoints
	StorageQueues egress.Endpoints

	// AnyKey accepts Service Bus jobs without a key. It is for emulators.
	AnyKey bool

	// LoginEndpoint is the authority that gives ActiveDirectoryOAuth jobs
	// their tokens. Default: Azure's.
	LoginEndpoint *url.URL

	// Conn is the scheduler's own connection, for NATS messages of jobs that
	// name no servers. Prefix is the prefix of the scheduler's subjects.
	// Defaults: none, and carillon.
	Conn   *nats.Conn
	Prefix string

	// Subjects are the subjects that jobs may publish to on Conn. Default: all
	// except the scheduler's and the server's.
	Subjects []string

	// SourceSubjects are the subjects that sources may receive on Conn. Default: none.
	SourceSubjects []string
}

// New returns the clients of all action types. It does no I/O. Call
// [actions.Registry.Close] in the end.
func New(c Config) *actions.Registry {
	var busTLS *tls.Config
	if c.RootCAs != nil {
		busTLS = &tls.Config{RootCAs: c.RootCAs, MinVersion: tls.VersionTLS12}
	}
	return actions.New(
		web.New(web.Config{
			Version: c.Version, Region: c.Region, Proxy: c.Proxy, Guard: c.Guard, RootCAs: c.RootCAs, LoginEndpoint: c.LoginEndpoint,
		}),
		storagequeue.New(storagequeue.Config{Endpoints: c.StorageQueues, Region: c.Region, Guard: c.Guard, Proxy: c.Proxy}),
		servicebus.New(servicebus.Config{
			Version: c.Version, Endpoints: c.ServiceBus, KeyOptional: c.AnyKey, Guard: c.Guard, TLS: busTLS,
		}),
		natsmsg.New(natsmsg.Config{
			Conn: c.Conn, Prefix: c.Prefix, Allow: c.Subjects, Sources: c.SourceSubjects, Guard: c.Guard, RootCAs: c.RootCAs,
		}),
	)
}
