package egress

import (
	"encoding/binary"
	"net/netip"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
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

// networks returns the networks of pairs of a prefix and its kind.
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

// refused returns the kind of an address (not IPv4-mapped) that jobs must not reach; "" if they may reach it. allowed
// reports which IPv4 addresses may be reached although they are special.
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

// meant maps names to the address that they have everywhere: this machine (RFC 6761, section 6.3, and common
// hosts files) and the metadata services of the clouds.
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

// wireHost returns the spelling of a host on the wire: an address, or a name in lower-case ASCII, mapped by IDNA (UTS
// #46, as in net/http). It returns a [RefusedError] if proxies could read the name differently.
func wireHost(host string) (string, error) {
	if _, err := netip.ParseAddr(host); err == nil {
		return host, nil
	}
	refused := &RefusedError{name: strings.ToLower(host)}
	if isASCII(host) {
		host = strings.ToLower(host)
	} else {
		mapped, err := idna.Lookup.ToASCII(host)
		if err != nil {
			return "", refused
		}
		host = mapped
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return host, nil
	}
	if !isName(host) || OddHost(host) {
		return "", refused
	}
	return host, nil
}

// isName reports whether a host in lower case is made of labels, with a dot at the end or not. Underscores are
// invalid in DNS host names, but common.
func isName(host string) bool {
	for label := range strings.SplitSeq(strings.TrimSuffix(host, "."), ".") {
		if label == "" || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return false
		}
		if strings.HasPrefix(label, "xn--") {
			if _, err := idna.Lookup.ToUnicode(label); err != nil { // it may encode a name that has a plain spelling
				return false
			}
		}
	}
	return true
}

func isASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf })
}

// OddHost reports whether a host is neither an address nor a name, but what
// some resolvers take for an IPv4 address, such as 127.1 or 0x7f000001: its
// last part is a number (WHATWG URL, "ends in a number").
func OddHost(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil {
		return false
	}
	last := strings.TrimSuffix(strings.ToLower(host), ".")
	last = last[strings.LastIndexByte(last, '.')+1:]
	digits, hexadecimal := strings.CutPrefix(last, "0x")
	return strings.Trim(last, "0123456789") == "" || hexadecimal && strings.Trim(digits, "0123456789abcdef") == ""
}

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

// metadata holds the addresses of the clouds' metadata services, which hand out a machine's credentials. No job
// needs them, so no message explains how to allow them.
var metadata = []netip.Prefix{
	netip.MustParsePrefix("169.254.169.254/32"), // all but Alibaba and Oracle's second one
	netip.MustParsePrefix("169.254.170.0/24"),   // AWS: credentials of containers
	netip.MustParsePrefix("168.63.129.16/32"),   // Azure's host agent
	netip.MustParsePrefix("100.100.100.200/32"), // Alibaba
	netip.MustParsePrefix("192.0.0.192/32"),     // Oracle
	netip.MustParsePrefix("fd00:ec2::/64"),      // AWS
	netip.MustParsePrefix("fd20:ce::254/128"),   // Google
}

// isMetadata reports whether addr, or the IPv4 address it embeds, belongs to a metadata service.
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
