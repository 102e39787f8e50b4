// Package egress decides which addresses jobs can reach, resolves configured endpoints, and dials.
//
// Everyone who can create a job chooses where this process connects to. A [Guard] protects what only this process should
// reach: its own ports, its network, and the cloud's metadata service, which hands out credentials.
//
//	URL of a job ─▶ Endpoints ─▶ Route.Admit ─▶ name lookup ─▶ Guard, for each address ─▶ connect
//
// # Guarantees
//
//  1. A guard refuses every address outside the public Internet: loopback, link-local (with the metadata address
//     169.254.169.254), private, unique local (with fd00:ec2::254), shared (100.64.0.0/10), multicast, broadcast,
//     unspecified, and site-local. It also refuses the networks that IANA's special-purpose registries (RFC 6890) reserve for
//     documentation, benchmarks, protocols and the future, and 168.63.129.16, a public address that Azure
//     uses for its host agent.
//  2. An IPv6 address that embeds an IPv4 address is judged as the latter: IPv4-mapped, -compatible and -translated
//     addresses, NAT64 (64:ff9b::/96), 6to4 and Teredo. The local NAT64 prefix 64:ff9b:1::/48 is refused entirely,
//     because the position of the IPv4 address in it is unknown.
//  3. The guard checks the address that is dialed, immediately before the connect ([net.Dialer] ControlContext). No
//     second name lookup happens in between, and each address of a name is checked separately.
//  4. Networks given to [NewGuard] and addresses given to [Guard.AllowAddr] are allowed. Only TCP is allowed.
//  5. [Guard.Replace] also closes open connections to addresses that are no longer allowed. Their users get a
//     [RefusedError].
//  6. A server in this process can recognize connections of jobs ([Guard.Dialed]).
//  7. Names are checked as sent, mapped to ASCII (IDNA, UTS #46), because a Unicode name can map to an address. Names
//     that IDNA rejects are refused.
//
// Apart from that, the guard checks addresses, not names. A proxy resolves names itself, so a [Route] through a proxy
// refuses names with the same forbidden address everywhere, such as localhost and metadata.google.internal, and
// spellings that proxies read differently, such as 127.1 and a..b. The proxy must refuse other internal names.
//
// # HTTP
//
// [Route] builds the transports of actions that speak HTTP, all with the same limits. [RetryAfter] reads how long a
// response asks to wait. Addresses of [Endpoints] are dialed through the guard, too.
package egress
