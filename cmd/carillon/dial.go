package main

import (
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/actions/builtin"
	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/cmd/carillon/certificates"
	"github.com/carillon-sched/carillon/cmd/carillon/node"
	"github.com/carillon-sched/carillon/cmd/carillon/remote"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/store/embedded"
)

// files returns the connection's authorities and client certificate.
func (f natsConn) files() certificates.Client {
	return certificates.Client{CA: f.CA, Cert: f.Cert, Key: f.Key}
}

// dial connects to NATS and waits for a server that is still starting. link observes the connection.
func (f natsConn) dial(ctx context.Context, s startup, link *node.Link) (nc *nats.Conn, err error) {
	options := append(embedded.ConnectOptions(), link.Options()...)
	options = append(options, nats.PingInterval(pingEvery), nats.MaxPingsOutstanding(pingsOut))
	options = append(options, remote.ConnectOptions(f.Creds, f.Inbox, f.files())...)
	err = s.try(ctx, func() error {
		var failed error
		if nc, failed = nats.Connect(f.URL, options...); failed == nil {
			return nil
		}
		if startsLater(failed) && !errors.Is(failed, nats.ErrNoServers) {
			failed = f.identified(ctx, failed)
		}
		return f.explain(failed, s)
	}, startsLater)
	return nc, err
}

// A server that hangs, or whose machine has failed, does not close connections. The client disconnects after this
// many unanswered pings, before other servers can lead its streams.
const (
	pingEvery = time.Second
	pingsOut  = 3
)

// startsLater reports whether the connection error can come from a server that is still starting. A server that
// refuses this process, or another program at the address, cannot.
func startsLater(err error) bool {
	if _, ok := errors.AsType[*notNATSError](err); ok {
		return false
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "remote error" { // TLS: the certificate was rejected
		return false
	}
	_, network := errors.AsType[net.Error](err)
	return network || errors.Is(err, nats.ErrNoServers) || errors.Is(err, nats.ErrTimeout) || errors.Is(err, io.EOF)
}

// explain adds the cause and the fix to a connection error.
func (f natsConn) explain(err error, s startup) error {
	hint := "name the server with --nats-url or CARILLON_NATS_URL"
	if s.say != nil {
		hint += "; if it is still starting, increase --nats-wait"
	}
	if _, ok := errors.AsType[*notNATSError](err); ok {
		hint = "set --nats-url to the client port of NATS, usually 4222; port 8222 is for monitoring"
	}
	if errors.Is(err, nats.ErrNoServers) {
		err = &terminal.Failure{Message: "no server answers there", Err: err}
	}
	if errors.Is(err, nats.ErrTimeout) || isTimeout(err) {
		err = &terminal.Failure{
			Message: "the server accepts the connection but does not respond; it, or the network, hangs", Err: err,
		}
	}
	if errors.Is(err, nats.ErrAuthorization) {
		hint = "give the user's credentials with --creds, or in the URL"
	}
	return terminal.Hinted(terminal.Unavailablef("NATS at %s: %w", redacted(f.URL), err), hint)
}

// isTimeout reports whether a connection timed out.
func isTimeout(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "read" && op.Timeout()
}

// notNATSError reports an address at which another protocol is spoken.
type notNATSError struct{ host, speaks string }

// Error names the address and its protocol.
func (e *notNATSError) Error() string {
	return e.host + " speaks " + e.speaks + " and is not a NATS server"
}

// identified returns a better error if the peer is not a NATS server. NATS servers speak first, so it sends an
// HTTP request to a silent peer.
func (f natsConn) identified(ctx context.Context, err error) error {
	for _, u := range serverURLs(f.URL) {
		parsed, failed := url.Parse(u)
		if failed != nil || parsed.Scheme != "nats" {
			continue
		}
		host := parsed.Host
		if parsed.Port() == "" {
			host = net.JoinHostPort(parsed.Hostname(), strconv.Itoa(nats.DefaultPort))
		}
		if speaks := protocolAt(ctx, host); speaks != "" {
			return &notNATSError{host, speaks}
		}
	}
	return err
}

// probeTimeout limits the detection of a protocol.
const probeTimeout = time.Second

// protocolAt detects the protocol at an address. It returns "" if it is unknown, or NATS.
func protocolAt(ctx context.Context, host string) string {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", host)
	if err != nil {
		return ""
	}
	defer conn.Close()
	deadline, _ := ctx.Deadline()
	if conn.SetDeadline(deadline) != nil {
		return ""
	}
	if _, err := conn.Write([]byte("GET / HTTP/1.0\r\n\r\n")); err != nil {
		return ""
	}
	begin := make([]byte, 5)
	n, _ := conn.Read(begin) // a partial read counts
	switch {
	case n == len(begin) && string(begin) == "HTTP/":
		return "HTTP"
	case n >= 4 && string(begin[:4]) == "AMQP":
		return "AMQP"
	}
	return ""
}

// serverURLs splits a list of servers. A URL without a scheme gets the default scheme of nats.go.
func serverURLs(list string) []string {
	return terminal.All(strings.Split(list, ","), func(part string) string {
		if part = strings.TrimSpace(part); !strings.Contains(part, "://") {
			part = "nats://" + part
		}
		return part
	})
}

// natsSchemes are the valid schemes of server URLs.
var natsSchemes = []string{"nats", "tls", "ws", "wss"}

// checkURLs validates a list of servers. Its errors do not quote URLs, which may contain passwords.
func checkURLs(list string) error {
	for _, text := range serverURLs(list) {
		u, err := url.Parse(text)
		if err != nil || u.Hostname() == "" {
			return terminal.Usagef("--nats-url: not a URL such as nats://127.0.0.1:4222")
		}
		if !slices.Contains(natsSchemes, u.Scheme) {
			return terminal.Usagef("--nats-url: %s is not the URL of a NATS server; its scheme must be one of %s",
				node.Anonymous(text), strings.Join(natsSchemes, ", "))
		}
		if _, err := strconv.ParseUint(u.Port(), 10, 16); u.Port() != "" && err != nil {
			return terminal.Usagef("--nats-url: %s: %s is not a port", node.Anonymous(text), u.Port())
		}
	}
	return nil
}

// redacted removes passwords and tokens from a list of URLs.
func redacted(list string) string {
	return strings.Join(terminal.All(serverURLs(list), node.Anonymous), ",")
}

// deliveryFlags configure the targets of jobs.
type deliveryFlags struct {
	AllowTarget   []string          `name:"allow-target" help:"Allow jobs to call these addresses or networks, such as 10.1.0.0/16. Repeatable." env:"CARILLON_ALLOW_TARGET" placeholder:"CIDR" live:""`
	ServiceBus    map[string]string `name:"service-bus" help:"Service Bus namespace outside Azure: amqps://HOST, or amqp://HOST without TLS. NAME * is the default. An IP address in HOST is allowed implicitly; a name that resolves to a private address needs --allow-target." env:"CARILLON_SERVICE_BUS" placeholder:"NAME=URL"`
	StorageQueue  map[string]string `name:"storage-queue" help:"Queue endpoint of a storage account outside Azure; {name} is the account name. NAME * is the default. Addresses as in --service-bus." env:"CARILLON_STORAGE_QUEUE" placeholder:"NAME=URL"`
	LoginEndpoint string            `name:"login-endpoint" help:"Token authority for ActiveDirectoryOAuth, if it is not Azure." env:"CARILLON_LOGIN_ENDPOINT" placeholder:"URL"`
	NATSSubject   []string          `name:"nats-subject" help:"Subjects, with wildcards, that jobs can publish to over the scheduler's connection. Never allows the scheduler's subjects or those that begin with carillon. Exclude the subjects of other schedulers in the account. Repeatable." env:"CARILLON_NATS_SUBJECT" default:">" placeholder:"SUBJECT"`
	NATSSource    []string          `name:"nats-source-subject" help:"Subjects, with wildcards, that sources of events can receive over the scheduler's connection, also if their owners lack the right. Never allows the scheduler's subjects. Default: none. Repeatable." env:"CARILLON_NATS_SOURCE_SUBJECT" placeholder:"SUBJECT"`
}

// everyOther is the name that matches all names not listed.
const everyOther = "*"

// delivery reads the flags. own are additional allowed addresses.
func (f deliveryFlags) delivery(own ...netip.Prefix) (builtin.Config, error) {
	d := builtin.Config{Subjects: f.NATSSubject, SourceSubjects: f.NATSSource}
	networks, err := f.networks()
	if err != nil {
		return d, err
	}
	d.Guard = egress.NewGuard(append(own, networks...)...)
	if d.ServiceBus, err = endpoints("service-bus", f.ServiceBus, "amqp", "amqps", "sb"); err != nil {
		return d, err
	}
	if d.StorageQueues, err = endpoints("storage-queue", f.StorageQueue, "http", "https"); err != nil {
		return d, err
	}
	if f.LoginEndpoint != "" {
		if err := checkEndpoint("login-endpoint", f.LoginEndpoint, "https", "http"); err != nil {
			return d, err
		}
		d.LoginEndpoint, err = url.Parse(f.LoginEndpoint)
	}
	f.allowEndpoints(d.Guard)
	return d, err
}

// networks returns the networks that jobs may call.
func (f deliveryFlags) networks() (all []netip.Prefix, err error) {
	for _, text := range f.AllowTarget {
		p, err := readPrefix(text)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// allowEndpoints allows the IP addresses and ports of endpoint flags. Names are not allowed implicitly, except localhost,
// because others control their addresses.
func (f deliveryFlags) allowEndpoints(g *egress.Guard) {
	texts := slices.Collect(maps.Values(f.ServiceBus))
	texts = slices.AppendSeq(texts, maps.Values(f.StorageQueue))
	for _, text := range append(texts, f.LoginEndpoint) {
		if u, err := url.Parse(strings.ReplaceAll(text, "{name}", "name")); err == nil {
			g.AllowAddr(endpointAddrs(u)...)
		}
	}
}

// endpointPorts maps schemes to default ports. For sb the port depends on the server.
var endpointPorts = map[string][]uint16{"amqp": {5672}, "amqps": {5671}, "sb": {5671, 5672}, "http": {80}, "https": {443}}

// endpointAddrs returns the addresses in an endpoint.
func endpointAddrs(u *url.URL) []netip.AddrPort {
	ports := endpointPorts[u.Scheme]
	if n, err := strconv.ParseUint(u.Port(), 10, 16); err == nil {
		ports = []uint16{uint16(n)}
	}
	var addrs []netip.Addr
	if addr, err := netip.ParseAddr(u.Hostname()); err == nil {
		addrs = append(addrs, addr)
	} else if strings.EqualFold(u.Hostname(), "localhost") {
		addrs = append(addrs, netip.MustParseAddr("127.0.0.1"), netip.IPv6Loopback())
	}
	var all []netip.AddrPort
	for _, addr := range addrs {
		for _, port := range ports {
			all = append(all, netip.AddrPortFrom(addr, port))
		}
	}
	return all
}

// readProxy parses the URL of a proxy, or returns nil if text is empty. Errors omit the password.
func readProxy(text string) (*url.URL, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // no proxy
	}
	u, err := url.Parse(text)
	if err == nil && u.Host != "" && slices.Contains([]string{"http", "https", "socks5", "socks5h"}, u.Scheme) {
		return u, nil
	}
	if at := strings.LastIndex(text, "@"); at >= 0 {
		text = "…" + text[at:]
	}
	return nil, terminal.Hinted(terminal.Usagef("--proxy: %q is not a proxy URL", text),
		"write http://HOST:PORT; valid schemes are http, https, socks5 and socks5h")
}

// readPrefix parses a CIDR or an address.
func readPrefix(text string) (netip.Prefix, error) {
	text = strings.TrimSpace(text)
	if p, err := netip.ParsePrefix(text); err == nil {
		return p.Masked(), nil
	}
	if a, err := netip.ParseAddr(text); err == nil {
		return netip.PrefixFrom(a, a.BitLen()), nil
	}
	return netip.Prefix{}, terminal.Hinted(terminal.Usagef("--allow-target: %q is not a network or an address", text),
		"write 10.1.0.0/16, 127.0.0.1 or fd00::/8; host names are not allowed, because their owners choose the address")
}

// endpoints parses a flag that maps names to endpoints.
func endpoints(flag string, byName map[string]string, schemes ...string) (egress.Endpoints, error) {
	m := egress.Endpoints{ByName: maps.Clone(byName), Default: byName[everyOther]}
	delete(m.ByName, everyOther)
	for _, text := range byName {
		if err := checkEndpoint(flag, text, schemes...); err != nil {
			return m, err
		}
	}
	return m, nil
}

// checkEndpoint checks the scheme and host of a URL.
func checkEndpoint(flag, text string, schemes ...string) error {
	u, err := url.Parse(strings.ReplaceAll(text, "{name}", "name"))
	if err == nil && u.Host != "" && u.User == nil && slices.Contains(schemes, u.Scheme) {
		return nil
	}
	if at := strings.LastIndex(text, "@"); at >= 0 { // the part before @ can be a password
		text = "…" + text[at:]
	}
	return terminal.Usagef("--%s: %q is not an endpoint such as %s://localhost:5000", flag, text, schemes[0])
}
