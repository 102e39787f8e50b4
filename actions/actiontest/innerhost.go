package actiontest

import (
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/carillon-sched/carillon/scheduler"
)

// InnerAddresses are spellings, as hosts of URLs, of addresses that jobs must not
// reach: this machine's, one of a private network, and a metadata service's. No
// name server is asked about them.
var InnerAddresses = []string{
	"127.0.0.1", "0.0.0.0", "10.0.0.1", "169.254.169.254", "localhost", "LOCALHOST",

	// IPv6, by itself or standing for IPv4.
	"[::1]", "[0:0:0:0:0:0:0:1]", "[::]", "[fd00:ec2::254]", "[fe80::1]", "[fe80::1%25eth0]", "[::1%25lo]", "[fec0::1]",
	"[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::FFFF:169.254.169.254]", "[0:0:0:0:0:ffff:a9fe:a9fe]",
	"[::127.0.0.1]", "[::a9fe:a9fe]", "[::ffff:0:127.0.0.1]", "[::ffff:0:a9fe:a9fe]",
	"[64:ff9b::127.0.0.1]", "[64:ff9b::a9fe:a9fe]", "[64:ff9b:1::a9fe:a9fe]", "[64:ff9b::a9fe:a9fe%25eth0]",
	"[2002:7f00:1::]", "[2002:a9fe:a9fe::1]", "[2001:0:7f00:1::]", "[2001:0:808:808::5601:5601]",
}

// InnerHosts are those and spellings that need a name server, or a proxy, that
// takes them for such an address.
var InnerHosts = append(slices.Clone(InnerAddresses),
	// Dotted decimal, and what resolvers of C take for it (inet_aton).
	"127.0.0.1.", "127.1", "127.0.1", "127.0.0.01", "0177.0.0.1", "0177.0.0.01", "017700000001",
	"2130706433", "0x7f000001", "0x7F.0.0.1", "0X7f.1", "0x7f.1.", "127.0.0.0x1", "0", "00000000177.0.0.1",
	"167772161", "012.1", "0xa.1",
	"169.254.43518", "2852039166", "0xa9fea9fe", "0xa9.0xfe.0xa9.0xfe", "0251.0376.0251.0376",

	// What IDNA maps to one of these (UTS #46).
	"169。254。169。254", "169．254．169．254", "169｡254｡169｡254", "①②⑦.0.0.①", "１２７.０.０.１", "𝟏𝟐𝟕.𝟎.𝟎.𝟏", "①⑥⑨.②⑤④.①⑥⑨.②⑤④",
	"127\u00ad.0.0.1", "12\u200b7.0.0.1", "１２７。１", "０ｘ７ｆ．１", "２１３０７０６４３３", "²¹³⁰⁷⁰⁶⁴³³",
	"169%E3%80%82254%E3%80%82169%E3%80%82254", "127.0.0.%EF%BC%91",

	// Names that mean one everywhere.
	"localhost.", "a.localhost", "a.b.LocalHost.", "localhost.localdomain", "ip6-localhost",
	"metadata", "metadata.google.internal", "Metadata.Google.Internal.", "instance-data",
	"ｌｏｃａｌｈｏｓｔ", "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ", "loc\u00adalhost", "local\u200bhost", "𝓁𝑜𝒸𝒶𝓁𝒽𝑜𝓈𝓉", "a。localhost", "localhoſt",
	"ｍｅｔａｄａｔａ.google.internal",

	// What proxies would differ about.
	"localhost..", "127.0.0.1..", ".localhost", "127..1", "xn--127-", "local_host\u2024localhost", "127.0.0.1;a.example", "a,localhost",
)

// Trap listens on a port of every address of this machine until the test ends. touched returns how many connections
// came.
func Trap(tb testing.TB) (port string, touched func() int) {
	tb.Helper()
	l, err := net.Listen("tcp", ":0")
	if err != nil {
		tb.Fatal(err)
	}
	var n atomic.Int64
	var accepting sync.WaitGroup
	accepting.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			n.Add(1)
			_ = conn.Close()
		}
	})
	tb.Cleanup(func() {
		_ = l.Close()
		accepting.Wait()
	})
	_, port, _ = net.SplitHostPort(l.Addr().String())
	return port, func() int { return int(n.Load()) }
}

// CheckGuarded checks that no spelling of an inner address leads to one. read reads an action that goes to a host and
// port, or returns an error when that is refused when it is put.
func CheckGuarded(tb testing.TB, hosts []string, read func(host, port string) (scheduler.Action, error)) {
	tb.Helper()
	port, touched := Trap(tb)
	var under sync.WaitGroup
	reached := 0
	for _, host := range hosts {
		action, err := read(host, port)
		if err != nil {
			continue
		}
		reached++
		under.Go(func() {
			if result := Invoke(tb.Context(), action, Attempt()); !result.Failed {
				tb.Errorf("%s: %s", host, result.Message)
			}
		})
	}
	under.Wait()
	if n := touched(); n != 0 || reached == 0 {
		tb.Errorf("%d connections came; of %d spellings that were not refused when they were put", n, reached)
	}
}
