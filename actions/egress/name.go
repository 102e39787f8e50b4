package egress

import (
	"net/netip"
	"slices"
	"strings"
)

// meant are names that lead to the same address wherever they are looked up:
// this machine (RFC 6761, section 6.3, and what systems have in their hosts
// file), and the metadata services of the clouds.
var meant = map[string]netip.Addr{
	"localhost":                  loopback,
	"localhost.localdomain":      loopback,
	"localhost4":                 loopback,
	"localhost6":                 netip.IPv6Loopback(),
	"ip6-localhost":              netip.IPv6Loopback(),
	"ip6-loopback":               netip.IPv6Loopback(),
	"metadata":                   metadata[0].Addr(),
	"metadata.google.internal":   metadata[0].Addr(),
	"metadata.goog":              metadata[0].Addr(),
	"metadata.azure.internal":    metadata[0].Addr(),
	"instance-data":              metadata[0].Addr(),
	"instance-data.ec2.internal": metadata[0].Addr(),
}

var loopback = netip.MustParseAddr("127.0.0.1")

// checkName is [Guard.CheckAddrPort] for a name that means an address
// everywhere. All others pass.
func (g *Guard) checkName(name string, port uint16) error {
	folded := strings.TrimSuffix(strings.ToLower(name), ".")
	addr, ok := meant[folded]
	switch {
	case strings.HasSuffix(folded, ".localhost"):
		addr = loopback
	case !ok:
		return nil
	}
	err := g.CheckAddrPort(netip.AddrPortFrom(addr, port))
	if refused, ok := err.(*RefusedError); ok { //nolint:errorlint // it is the guard's own
		refused.name = folded
	}
	return err
}

// metadata are the addresses of services that tell machines of a cloud what
// they are, and give them their credentials. No job has any business there, so
// no message says how to allow them.
var metadata = []netip.Prefix{
	netip.MustParsePrefix("169.254.169.254/32"), // all but Alibaba and Oracle's second one
	netip.MustParsePrefix("169.254.170.0/24"),   // AWS: credentials of containers
	netip.MustParsePrefix("168.63.129.16/32"),   // Azure's host agent
	netip.MustParsePrefix("100.100.100.200/32"), // Alibaba
	netip.MustParsePrefix("192.0.0.192/32"),     // Oracle
	netip.MustParsePrefix("fd00:ec2::/64"),      // AWS
	netip.MustParsePrefix("fd20:ce::254/128"),   // Google
}

// isMetadata reports whether addr, or what it stands for, is that of such a
// service.
func isMetadata(addr netip.Addr) bool {
	addr = addr.WithZone("").Unmap()
	if slices.ContainsFunc(metadata, func(p netip.Prefix) bool { return p.Contains(addr) }) {
		return true
	}
	for _, e := range embedding { // of IPv6 alone
		if e.prefix.Contains(addr) && isMetadata(embedded(addr, e.at, e.flipped)) {
			return true
		}
	}
	return false
}
