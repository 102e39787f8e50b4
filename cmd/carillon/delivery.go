package main

import (
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-sched/carillon/actions/builtin"
	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
)

// deliveryFlags say what jobs may reach, and where it is.
type deliveryFlags struct {
	AllowTarget   []string          `name:"allow-target" help:"Addresses that jobs may reach: one, or a network as CIDR, 10.1.0.0/16. May be repeated." env:"CARILLON_ALLOW_TARGET" placeholder:"CIDR" live:""`
	ServiceBus    map[string]string `name:"service-bus" help:"Where a Service Bus namespace is that is not Azure's: amqps://HOST or, without TLS, amqp://HOST. The name * is every other namespace. Where HOST is an address jobs may reach it; a name that leads to a private one needs --allow-target too." env:"CARILLON_SERVICE_BUS" placeholder:"NAME=URL"`
	StorageQueue  map[string]string `name:"storage-queue" help:"Where a storage account's queues are that is not Azure's; {name} stands for the account's name. The name * is every other account. Addresses and names count as for --service-bus." env:"CARILLON_STORAGE_QUEUE" placeholder:"NAME=URL"`
	LoginEndpoint string            `name:"login-endpoint" help:"Authority that gives ActiveDirectoryOAuth jobs their tokens, when it is not Azure's." env:"CARILLON_LOGIN_ENDPOINT" placeholder:"URL"`
	NATSSubject   []string          `name:"nats-subject" help:"Subjects that jobs may publish to over the scheduler's own connection, wildcards included. May be repeated. The scheduler's own, and those that begin with carillon, are never among them. Schedulers with other prefixes in the same account are kept apart by nothing else: leave their subjects out." env:"CARILLON_NATS_SUBJECT" default:">" placeholder:"SUBJECT"`
}

// everyOther is the name that stands for each name that is not given.
const everyOther = "*"

// delivery reads the flags. own are addresses that are allowed beside those of the flags.
func (f deliveryFlags) delivery(own ...netip.Prefix) (builtin.Config, error) {
	d := builtin.Config{Subjects: f.NATSSubject}
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

// networks are those that jobs may reach.
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

// allowEndpoints lets jobs reach the addresses that the flags name as
// endpoints, with their port. What names lead to others decide, so names allow
// nothing, but for localhost.
func (f deliveryFlags) allowEndpoints(g *egress.Guard) {
	texts := slices.Collect(maps.Values(f.ServiceBus))
	texts = slices.AppendSeq(texts, maps.Values(f.StorageQueue))
	for _, text := range append(texts, f.LoginEndpoint) {
		if u, err := url.Parse(strings.ReplaceAll(text, "{name}", "name")); err == nil {
			g.AllowAddr(endpointAddrs(u)...)
		}
	}
}

// endpointPorts are the ports of endpoints that give none. What sb means
// depends on who is there.
var endpointPorts = map[string][]uint16{"amqp": {5672}, "amqps": {5671}, "sb": {5671, 5672}, "http": {80}, "https": {443}}

// endpointAddrs returns the addresses that stand in an endpoint.
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

// readProxy reads the URL of a proxy that requests can go through, nil for
// none. What is wrong is told without a password that may be in it.
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
	return nil, terminal.Hinted(terminal.Usagef("--proxy: %q is not the URL of a proxy", text),
		"write http://HOST:PORT; the schemes are http, https, socks5 and socks5h")
}

// readPrefix reads a CIDR, or one address.
func readPrefix(text string) (netip.Prefix, error) {
	text = strings.TrimSpace(text)
	if p, err := netip.ParsePrefix(text); err == nil {
		return p.Masked(), nil
	}
	if a, err := netip.ParseAddr(text); err == nil {
		return netip.PrefixFrom(a, a.BitLen()), nil
	}
	return netip.Prefix{}, terminal.Hinted(terminal.Usagef("--allow-target: %q is not a range of addresses", text),
		"write 10.1.0.0/16, 127.0.0.1 or fd00::/8; names are not possible, as anybody can make one for any address")
}

// endpoints reads a flag that says where names are.
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

// checkEndpoint checks that a URL has one of the schemes, and a host.
func checkEndpoint(flag, text string, schemes ...string) error {
	u, err := url.Parse(strings.ReplaceAll(text, "{name}", "name"))
	if err == nil && u.Host != "" && u.User == nil && slices.Contains(schemes, u.Scheme) {
		return nil
	}
	if at := strings.LastIndex(text, "@"); at >= 0 { // what is before it may be a password
		text = "…" + text[at:]
	}
	return terminal.Usagef("--%s: %q is not an endpoint such as %s://localhost:5000", flag, text, schemes[0])
}
