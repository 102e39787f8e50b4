// Package egress decides which addresses jobs may reach, where the names they
// give are, and connects to them.
//
// Whoever may put a job chooses where this process connects to. Without a
// [Guard] that includes what only this process should reach: its own ports,
// the network around it, and the metadata service of its cloud, which hands
// out credentials.
//
// # What is guaranteed
//
//  1. A guard refuses every address that is not on the public Internet:
//     loopback, link-local (the metadata services' 169.254.169.254 is one),
//     private, unique local (so fd00:ec2::254), shared (100.64.0.0/10),
//     multicast, broadcast, unspecified, site-local, and what IANA's
//     special-purpose registries (RFC 6890) reserve for documentation,
//     benchmarks, protocols and the future; and 168.63.129.16, which is public
//     by its number and Azure's host agent in truth.
//  2. An address that stands for one of IPv4 is judged as that: IPv4-mapped
//     and -compatible ones, IPv4-translated ones, NAT64 (64:ff9b::/96), 6to4
//     and Teredo. The local NAT64 prefix 64:ff9b:1::/48 is refused whole, as
//     it says nothing about where the IPv4 address is.
//  3. The address that is checked is the one that is dialled, at the moment
//     it is dialled ([net.Dialer] ControlContext): no second name lookup comes
//     in between, and every address that a name has is checked by itself.
//  4. Networks given to [NewGuard] and addresses given to [Guard.AllowAddr]
//     pass. Only TCP passes at all.
//  5. [Guard.Replace] counts for connections that stand, too: those that lead to
//     what passes no more are ended, in use or not, and what they were used for
//     fails with a [RefusedError].
//  6. A server of this process recognizes the connections that jobs have
//     opened ([Guard.Dialed]).
//  7. A name is judged as it goes out, mapped to ASCII (IDNA, UTS #46): one in
//     Unicode may be an address then. What IDNA does not take is refused.
//
// Names are not judged otherwise, only what they lead to. What a proxy does with
// a name is the proxy's matter, so a [Route] through one refuses the names that
// mean an address everywhere, such as localhost and metadata.google.internal, as
// that address, and what proxies would differ about, such as 127.1 and a..b;
// other names of the inside are for the proxy to refuse.
//
// # Endpoints
//
// [Endpoints] say where the names are that jobs give. What they lead to is
// dialled through the guard like any other address.
//
// # HTTP
//
// A [Route] is how actions that speak HTTP connect: one kind of transport, with
// one set of limits, and [RetryAfter] reads how long an answer asks to wait.
package egress
