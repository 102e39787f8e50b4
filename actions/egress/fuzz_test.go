package egress_test

import (
	"net/netip"
	"testing"

	"github.com/carillon-sched/carillon/actions/egress"
)

// FuzzCheck compares the guard with what the standard library knows of
// addresses, and each IPv4 address with those that stand for it.
func FuzzCheck(f *testing.F) {
	for _, list := range refusedKinds {
		for _, text := range list {
			b := netip.MustParseAddr(text).As16()
			f.Add(b[:])
		}
	}
	g := egress.NewGuard()
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < 16 {
			return
		}
		a := netip.AddrFrom16([16]byte(b)).Unmap()
		inside := !a.IsGlobalUnicast() || a.IsPrivate() || a.IsLoopback()
		if err := g.Check(a); inside && err == nil && !a.Is6() || err == nil && a.Is6() && (a.IsPrivate() || a.IsLoopback() || a.IsMulticast() || a.IsLinkLocalUnicast()) {
			t.Errorf("%s passes", a)
		}
		v4 := netip.AddrFrom4([4]byte(b[12:16]))
		want := g.Check(v4) == nil
		n := v4.As4()
		for form, addr := range map[string]netip.Addr{
			"mapped": netip.AddrFrom16(v4.As16()),
			"NAT64":  netip.AddrFrom16([16]byte{0, 0x64, 0xff, 0x9b, 12: n[0], n[1], n[2], n[3]}),
			"6to4":   netip.AddrFrom16([16]byte{0x20, 0x02, n[0], n[1], n[2], n[3], 15: 1}),
		} {
			if got := g.Check(addr) == nil; got != want {
				t.Errorf("%s passes: %t, but %s of it: %t", v4, want, form, got)
			}
		}
	})
}
