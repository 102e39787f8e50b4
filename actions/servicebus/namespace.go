package servicebus

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"github.com/carillon-sched/carillon/actions/egress"
)

// namespace is a Service Bus namespace and where it is.
type namespace struct {
	place

	name   string // as messages name it
	target string // its own host, in lower case, ignoring mapped endpoints
}

// place is a network endpoint.
type place struct {
	host   string // of the address, without port
	port   string
	plain  bool // without TLS
	mapped bool // by the configuration, so the host differs from the name
}

// azureSuffixes are the suffixes of the host names of Azure's namespaces, first the public cloud's.
var azureSuffixes = []string{
	".servicebus.windows.net", ".servicebus.usgovcloudapi.net", ".servicebus.chinacloudapi.cn", ".servicebus.cloudapi.de",
}

// The ports of AMQP.
const (
	portPlain = "5672"
	portTLS   = "5671"
)

// address returns the address to dial, host:port.
func (p place) address() string { return net.JoinHostPort(p.host, p.port) }

// authority is the host as AMQP and the connection string have it: with its
// port, unless that goes without saying.
func (p place) authority() string {
	if p.plain && p.port == portPlain || !p.plain && p.port == portTLS {
		return strings.TrimSuffix(net.JoinHostPort(p.host, ""), ":")
	}
	return p.address()
}

// readNamespace reads the forms that a job may give a namespace in: a name,
// Azure's host name, or an endpoint. Names, in either form, are looked up in
// places.
func readNamespace(text string, places egress.Endpoints) (namespace, error) {
	if strings.Contains(strings.ToLower(text), "endpoint=") { // it has a key, so it must not be shown
		return namespace{}, errors.New("is a connection string; give its host here, and its key name and key in authentication")
	}
	if name, suffix, ok := azureName(text); ok {
		n := namespace{name: name, target: strings.ToLower(name) + suffix}
		n.place = place{host: n.target, port: portTLS}
		mapped := places.Find(name)
		if mapped == "" {
			return n, nil
		}
		var err error
		if n.place, err = parseEndpoint(mapped); err != nil {
			return n, fmt.Errorf("is mapped to %q by the configuration, which %w", mapped, err)
		}
		n.mapped = true
		return n, nil
	}
	if nameLike.MatchString(text) && !strings.EqualFold(text, "localhost") {
		return namespace{}, errors.New("is not a namespace: 1 to 50 letters, digits and hyphens, " +
			"beginning with a letter and not ending in a hyphen")
	}
	p, err := parseEndpoint(text)
	return namespace{name: strings.ToLower(p.authority()), target: strings.ToLower(p.address()), place: p}, err
}

var (
	namePattern = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9-]{0,48}[A-Za-z0-9])?$`)
	nameLike    = regexp.MustCompile(`^[A-Za-z0-9_-]*$`)
	hostPattern = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?$`)
)

// azureName returns the name of a namespace that text gives as such or as
// Azure's host name, and what its host name ends in.
func azureName(text string) (name, suffix string, ok bool) {
	if namePattern.MatchString(text) && !strings.EqualFold(text, "localhost") {
		return text, azureSuffixes[0], true
	}
	_, host := cutScheme(text)
	host = strings.TrimSuffix(host, ":"+portTLS)
	for _, suffix := range azureSuffixes {
		n := len(host) - len(suffix)
		if n > 0 && strings.EqualFold(host[n:], suffix) && namePattern.MatchString(host[:n]) {
			return host[:n], suffix, true
		}
	}
	return "", "", false
}

// cutScheme returns the scheme of an endpoint, in lower case, and its host and
// port.
func cutScheme(text string) (scheme, rest string) {
	scheme, rest, found := strings.Cut(text, "://")
	if !found {
		scheme, rest = "", text
	}
	return strings.ToLower(scheme), strings.TrimSuffix(rest, "/")
}

// parseEndpoint reads host[:port], with or without a scheme. Its error does not quote the text, which may be a
// URL with a password. Without a scheme and with sb, this computer and port 5672 are used without TLS, as for
// Service Bus emulators, unless the port is that of TLS.
func parseEndpoint(text string) (place, error) {
	scheme, rest := cutScheme(text)
	p, local, err := parseHost(rest)
	if err != nil {
		return place{}, err
	}
	switch scheme {
	case "amqp":
		p.plain = true
	case "amqps":
	case "", "sb":
		p.plain = p.port == portPlain || local && p.port != portTLS
	default:
		return place{}, errors.New("has a scheme that is not sb, amqp or amqps")
	}
	switch {
	case p.port != "":
	case p.plain:
		p.port = portPlain
	default:
		p.port = portTLS
	}
	return p, nil
}

// parseHost reads host[:port]. local is this computer.
func parseHost(text string) (p place, local bool, err error) {
	p.host = text
	if host, port, err := net.SplitHostPort(text); err == nil {
		p.host, p.port = host, port
	} else if inner, ok := strings.CutPrefix(text, "["); ok && strings.HasSuffix(inner, "]") {
		p.host = strings.TrimSuffix(inner, "]")
	}
	addr, err := netip.ParseAddr(p.host)
	if err != nil && !hostPattern.MatchString(p.host) || addr.Zone() != "" {
		return p, false, errors.New("is neither a namespace nor an endpoint: write name, name.servicebus.windows.net, host:port, " +
			"sb://host:port, amqp://host:port or amqps://host:port")
	}
	local = err == nil && addr.IsLoopback() || strings.EqualFold(p.host, "localhost")
	if n, err := strconv.ParseUint(p.port, 10, 16); p.port != "" && (err != nil || n == 0) {
		return p, local, errors.New("has a port that is not in 1-65535")
	}
	return p, local, nil
}
