package egress

import (
	"encoding/binary"
	"net/netip"
	"strings"
)

// special4 are the networks of IPv4 that are not on the public Internet, and
// what to call their addresses (IANA's special-purpose address registries,
// RFC 6890). The first that holds an address counts.
var special4 = networks(
	"0.0.0.0/32", "is the unspecified address",
	"0.0.0.0/8", "is an address of this network",
	"10.0.0.0/8", "is a private address",
	"100.64.0.0/10", "is a shared address (carrier-grade NAT)",
	"127.0.0.0/8", "is a loopback address",
	"168.63.129.16/32", "is Azure's host agent",
	"169.254.0.0/16", "is a link-local address",
	"172.16.0.0/12", "is a private address",
	"192.0.0.0/24", "is reserved for protocols",
	"192.0.2.0/24", "is a documentation address",
	"192.88.99.0/24", "is a 6to4 relay",
	"192.168.0.0/16", "is a private address",
	"198.18.0.0/15", "is a benchmarking address",
	"198.51.100.0/24", "is a documentation address",
	"203.0.113.0/24", "is a documentation address",
	"224.0.0.0/4", "is a multicast address",
	"255.255.255.255/32", "is the broadcast address",
	"240.0.0.0/4", "is a reserved address",
)

// special6 holds the special IPv6 networks. Addresses outside publicUnicast are refused anyway.
var special6 = networks(
	"::/128", "is the unspecified address",
	"::1/128", "is a loopback address",
	"64:ff9b:1::/48", "is a local NAT64 address",
	"100::/64", "is a discard-only address",
	"2001:2::/48", "is a benchmarking address",
	"2001:10::/28", "is a reserved address",
	"2001:20::/28", "is not an address but a hash (ORCHIDv2)",
	"2001:db8::/32", "is a documentation address",
	"3fff::/20", "is a documentation address",
	"fc00::/7", "is a unique local address",
	"fe80::/10", "is a link-local address",
	"fec0::/10", "is a site-local address",
	"ff00::/8", "is a multicast address",
)

// publicUnicast is the only part of IPv6 that IANA has assigned.
var publicUnicast = netip.MustParsePrefix("2000::/3")

// network is a prefix with what its addresses are.
type network struct {
	prefix netip.Prefix
	kind   string
}

// networks pairs prefixes with what follows them.
func networks(pairs ...string) []network {
	list := make([]network, 0, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, network{netip.MustParsePrefix(pairs[i]), pairs[i+1]})
	}
	return list
}

// embedding lists the prefixes of addresses that embed an IPv4 address, and the bit where it begins.
var embedding = []struct {
	prefix  netip.Prefix
	at      int
	flipped bool
}{
	{netip.MustParsePrefix("::/96"), 96, false},           // IPv4-compatible, deprecated (RFC 4291, section 2.5.5.1)
	{netip.MustParsePrefix("::ffff:0:0:0/96"), 96, false}, // IPv4-translated (RFC 2765)
	{netip.MustParsePrefix("64:ff9b::/96"), 96, false},    // NAT64 (RFC 6052)
	{netip.MustParsePrefix("2002::/16"), 16, false},       // 6to4 (RFC 3056)
	{netip.MustParsePrefix("2001::/32"), 32, false},       // Teredo's server (RFC 4380, section 4)
	{netip.MustParsePrefix("2001::/32"), 96, true},        // Teredo's client
}

// refused says what addr, which is not IPv4-mapped, is when jobs must not
// reach it; "" when they may. allowed reports which IPv4 addresses may be
// reached although they are special.
func refused(addr netip.Addr, allowed func(netip.Addr) bool) string {
	switch {
	case !addr.IsValid():
		return "is no address"
	case addr.Is4():
		return kind(special4, addr)
	}
	plain := addr.WithZone("")
	if k := kind(special6, plain); k != "" {
		return k
	}
	embeds := false
	for _, e := range embedding {
		if !e.prefix.Contains(plain) {
			continue
		}
		embeds = true
		inner := embedded(plain, e.at, e.flipped)
		if k := kind(special4, inner); k != "" && !allowed(inner) {
			return "stands for " + inner.String() + ", " + strings.TrimPrefix(k, "is ")
		}
	}
	switch {
	case addr.Zone() != "":
		return "has a zone"
	case !embeds && !publicUnicast.Contains(plain):
		return "is a reserved address"
	}
	return ""
}

func kind(list []network, addr netip.Addr) string {
	for _, n := range list {
		if n.prefix.Contains(addr) {
			return n.kind
		}
	}
	return ""
}

// embedded returns the IPv4 address at a bit of an IPv6 address.
func embedded(addr netip.Addr, bit int, flipped bool) netip.Addr {
	b := addr.As16()
	n := binary.BigEndian.Uint32(b[bit/8:])
	if flipped {
		n = ^n
	}
	return netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, n)))
}
