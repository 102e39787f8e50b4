package egress

import (
	"net/netip"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

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

// wireHost returns a host as it is sent: an address, or a name in lower-case ASCII, mapped by IDNA (UTS #46, as
// in net/http). It returns a [RefusedError] if proxies could read the name differently.
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

// isName reports whether a host in lower case is made of labels, with a dot at
// the end or not. Underscores are none of DNS' host names, but common.
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
