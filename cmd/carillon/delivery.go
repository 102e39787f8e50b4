package main

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/actions/endpoint"
	"github.com/carillon-sched/carillon/cmd/carillon/node"
)

// deliveryFlags say what jobs may reach, and where it is.
type deliveryFlags struct {
	AllowTarget   []string          `name:"allow-target" help:"Addresses within this network that jobs may reach, as CIDR: 10.1.0.0/16. May be repeated." env:"CARILLON_ALLOW_TARGET" placeholder:"CIDR"`
	ServiceBus    map[string]string `name:"service-bus" help:"Where a Service Bus namespace is that is not Azure's: amqps://HOST or, without TLS, amqp://HOST. The name * is every other namespace." env:"CARILLON_SERVICE_BUS" placeholder:"NAME=URL"`
	StorageQueue  map[string]string `name:"storage-queue" help:"Where a storage account's queues are that is not Azure's; {name} stands for the account's name. The name * is every other account." env:"CARILLON_STORAGE_QUEUE" placeholder:"NAME=URL"`
	LoginEndpoint string            `name:"login-endpoint" help:"Authority that gives ActiveDirectoryOAuth jobs their tokens, when it is not Azure's." env:"CARILLON_LOGIN_ENDPOINT" placeholder:"URL"`
	NATSSubject   []string          `name:"nats-subject" help:"Subjects that jobs may publish to over the scheduler's own connection, wildcards included. May be repeated. The scheduler's own are never among them." env:"CARILLON_NATS_SUBJECT" default:">" placeholder:"SUBJECT"`
}

// everyOther is the name that stands for each name that is not given.
const everyOther = "*"

// delivery reads the flags. own are addresses that are allowed beside those of the flags.
func (f deliveryFlags) delivery(own ...netip.Prefix) (node.Delivery, error) {
	d := node.Delivery{Subjects: f.NATSSubject}
	for _, text := range f.AllowTarget {
		p, err := readPrefix(text)
		if err != nil {
			return d, err
		}
		own = append(own, p)
	}
	d.Guard = egress.NewGuard(own...)
	var err error
	if d.ServiceBus, err = endpoints("service-bus", f.ServiceBus, "amqp", "amqps", "sb"); err != nil {
		return d, err
	}
	if d.StorageQueues, err = endpoints("storage-queue", f.StorageQueue, "http", "https"); err != nil {
		return d, err
	}
	if f.LoginEndpoint == "" {
		return d, nil
	}
	if err := checkEndpoint("login-endpoint", f.LoginEndpoint, "https", "http"); err != nil {
		return d, err
	}
	d.LoginEndpoint, err = url.Parse(f.LoginEndpoint)
	return d, err
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
	return netip.Prefix{}, hinted(&usageError{fmt.Errorf("--allow-target: %q is not a range of addresses", text)},
		"write 10.1.0.0/16, 127.0.0.1 or fd00::/8; names are not possible, as anybody can make one for any address")
}

// endpoints reads a flag that says where names are.
func endpoints(flag string, byName map[string]string, schemes ...string) (endpoint.Map, error) {
	m := endpoint.Map{ByName: map[string]string{}}
	for name, text := range byName {
		if err := checkEndpoint(flag, text, schemes...); err != nil {
			return m, err
		}
		if name == everyOther {
			m.Default = text
			continue
		}
		m.ByName[name] = text
	}
	return m, nil
}

// checkEndpoint checks that a URL has one of the schemes, and a host.
func checkEndpoint(flag, text string, schemes ...string) error {
	u, err := url.Parse(strings.ReplaceAll(text, "{name}", "name"))
	if err == nil && u.Host != "" && u.User == nil && slices.Contains(schemes, u.Scheme) {
		return nil
	}
	return &usageError{fmt.Errorf("--%s: %q is not an endpoint such as %s://localhost:5000", flag, text, schemes[0])}
}
