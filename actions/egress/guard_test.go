package egress_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// refusedKinds has at least one address for each rule, with its ends.
var refusedKinds = map[string][]string{
	"is the unspecified address":                       {"0.0.0.0", "::", "::ffff:0.0.0.0"},
	"is an address of this network":                    {"0.0.0.1", "0.255.255.255"},
	"is a private address":                             {"10.0.0.0", "10.255.255.255", "172.16.0.0", "172.31.255.255", "192.168.0.0", "192.168.255.255", "::ffff:10.1.2.3"},
	"is a shared address (carrier-grade NAT)":          {"100.64.0.0", "100.127.255.255", "100.100.100.200"},
	"is a loopback address":                            {"127.0.0.1", "127.255.255.255", "::1", "::ffff:127.0.0.1"},
	"is Azure's host agent":                            {"168.63.129.16"},
	"is a link-local address":                          {"169.254.0.0", "169.254.169.254", "169.254.255.255", "fe80::", "fe80::1%eth0", "febf:ffff::1", "::ffff:a9fe:a9fe"},
	"is reserved for protocols":                        {"192.0.0.0", "192.0.0.192", "192.0.0.255"},
	"is a documentation address":                       {"192.0.2.1", "198.51.100.1", "203.0.113.255", "2001:db8::1", "3fff::1"},
	"is a 6to4 relay":                                  {"192.88.99.1"},
	"is a benchmarking address":                        {"198.18.0.0", "198.19.255.255", "2001:2::1"},
	"is a multicast address":                           {"224.0.0.0", "239.255.255.255", "ff00::", "ff02::1"},
	"is the broadcast address":                         {"255.255.255.255"},
	"is a reserved address":                            {"240.0.0.0", "255.255.255.254", "4000::1", "5f00::1", "200::1", "2001:10::1", "1::"},
	"is a unique local address":                        {"fc00::", "fd00:ec2::254", "fdff:ffff::"},
	"is a site-local address":                          {"fec0::", "feff::1"},
	"is a local NAT64 address":                         {"64:ff9b:1::808:808", "64:ff9b:1:ffff::"},
	"is a discard-only address":                        {"100::1"},
	"is not an address but a hash (ORCHIDv2)":          {"2001:20::1"},
	"has a zone":                                       {"2606:4700::1111%eth0"},
	"stands for 10.0.0.1, a private address":           {"64:ff9b::10.0.0.1", "2002:a00:1::1", "::10.0.0.1", "::ffff:0:10.0.0.1", "2001:0:a00:1::f7f7:f7f7", "2001:0:808:808::f5ff:fffe"},
	"stands for 127.0.0.1, a loopback address":         {"64:ff9b::7f00:1", "2002:7f00:1::", "::127.0.0.1"},
	"stands for 169.254.169.254, a link-local address": {"64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::1"},
}

func TestRefused(t *testing.T) {
	g := egress.NewGuard()
	for kind, list := range refusedKinds {
		for _, text := range list {
			addr := netip.MustParseAddr(text)
			err := g.Check(addr)
			r, ok := errors.AsType[*egress.RefusedError](err)
			if !ok || r.Addr != addr.Unmap() || !strings.HasPrefix(err.Error(), addr.Unmap().String()+" "+kind+", which jobs must not reach") {
				t.Errorf("%s: got %v, want %s", text, err, kind)
			}
			if err := (*egress.Guard)(nil).Check(addr); err != nil {
				t.Errorf("%s: nil guard: %v", text, err)
			}
		}
	}
	if err := g.Check(netip.Addr{}); err == nil {
		t.Error("the zero address passes")
	}
}

// TestHint checks that nobody is told how to reach what hands out credentials.
func TestHint(t *testing.T) {
	g := egress.NewGuard()
	for text, want := range map[string]string{
		"10.0.0.1":               "; --allow-target 10.0.0.1/32 allows it",
		"169.254.1.1":            "; --allow-target 169.254.1.1/32 allows it",
		"fd00::1":                "; --allow-target fd00::1/128 allows it",
		"64:ff9b::10.0.0.1":      "; --allow-target 64:ff9b::a00:1/128 allows it",
		"169.254.169.254":        "",
		"::ffff:169.254.169.254": "",
		"64:ff9b::a9fe:a9fe":     "",
		"169.254.170.2":          "",
		"168.63.129.16":          "",
		"100.100.100.200":        "",
		"192.0.0.192":            "",
		"fd00:ec2::254":          "",
		"fd20:ce::254":           "",
	} {
		err := g.Check(netip.MustParseAddr(text))
		if err == nil || !strings.HasSuffix(err.Error(), ", which jobs must not reach"+want) {
			t.Errorf("%s: got %v, want at its end %q", text, err, want)
		}
	}
}

func TestPublic(t *testing.T) {
	g := egress.NewGuard()
	for _, text := range []string{
		"1.0.0.0", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0",
		"168.63.129.15", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.0", "192.167.255.255",
		"198.17.255.255", "198.20.0.0", "223.255.255.255", "::ffff:8.8.8.8",
		"2000::1", "2606:4700::1111", "2a00:1450::1", "64:ff9b::8.8.8.8", "2002:808:808::1", "::8.8.8.8", "2001:0:808:808::f7f7:f7f7",
		"2001:4860:4860::8888",
	} {
		if err := g.Check(netip.MustParseAddr(text)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestAllow(t *testing.T) {
	g := egress.NewGuard(netip.MustParsePrefix("10.1.2.3/16"), netip.MustParsePrefix("fe80::/10"), netip.MustParsePrefix("::ffff:127.0.0.0/104"))
	for text, want := range map[string]bool{
		"10.1.255.255": true, "10.2.0.0": false, "::ffff:10.1.0.1": true, "64:ff9b::10.1.0.1": true, "64:ff9b::10.2.0.1": false,
		"fe80::1%eth0": true, "fe80::1": true, "127.0.0.1": true, "::1": false, "169.254.169.254": false,
	} {
		if err := g.Check(netip.MustParseAddr(text)); (err == nil) != want {
			t.Errorf("%s: %v, want allowed: %t", text, err, want)
		}
	}
	err := g.Check(netip.MustParseAddr("fd00::1%lo"))
	if want := "fd00::1%lo is a unique local address, which jobs must not reach; --allow-target fd00::1/128 allows it"; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestAllowAddr(t *testing.T) {
	g := egress.NewGuard()
	a := netip.MustParseAddrPort("127.0.0.1:80")
	if g.CheckAddrPort(a) == nil {
		t.Error("passes before it was allowed")
	}
	g.AllowAddr(netip.MustParseAddrPort("[::ffff:127.0.0.1]:80"))
	g.AllowAddr(netip.MustParseAddrPort("[::1]:81"))
	for text, want := range map[string]bool{
		"127.0.0.1:80": true, "[::ffff:127.0.0.1]:80": true, "[::1]:81": true,
		"127.0.0.1:81": false, "127.0.0.2:80": false, "8.8.8.8:1": true,
	} {
		if err := g.CheckAddrPort(netip.MustParseAddrPort(text)); (err == nil) != want {
			t.Errorf("%s: %v, want allowed: %t", text, err, want)
		}
	}
	if g.Check(a.Addr()) == nil {
		t.Error("the address passes without its port")
	}
	var none *egress.Guard
	none.AllowAddr(a)
	if err := none.CheckAddrPort(a); err != nil {
		t.Error(err)
	}
}

func TestAllowListener(t *testing.T) {
	for listener, allowed := range map[string]map[string]bool{
		"127.0.0.1:80": {"127.0.0.1:80": true, "[::1]:80": false, "127.0.0.1:81": false},
		"0.0.0.0:80":   {"127.0.0.1:80": true, "[::1]:80": true, "127.0.0.1:81": false, "10.0.0.1:80": false},
		"[::]:80":      {"127.0.0.1:80": true, "[::1]:80": true, "[::1]:81": false},
		"here:80":      {"127.0.0.1:80": false},
	} {
		g := egress.NewGuard()
		g.AllowListener(listener)
		for text, want := range allowed {
			if err := g.CheckAddrPort(netip.MustParseAddrPort(text)); (err == nil) != want {
				t.Errorf("listener %s: %s: %v, want allowed: %t", listener, text, err, want)
			}
		}
	}
}

// listen accepts connections on an address of this machine until the test ends.
func listen(t *testing.T, address string) netip.AddrPort {
	t.Helper()
	l := must.Get(net.Listen("tcp", address))(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-done
	})
	return l.Addr().(*net.TCPAddr).AddrPort()
}

func TestDial(t *testing.T) {
	here := listen(t, "127.0.0.1:0").String()
	g := egress.NewGuard()
	dial := g.DialContext(g.Dialer(time.Second))
	for _, f := range []func(context.Context, string, string) (net.Conn, error){g.Dialer(time.Second).DialContext, dial} {
		conn, err := f(t.Context(), "tcp", here)
		if r, ok := errors.AsType[*egress.RefusedError](err); !ok || conn != nil || r.Addr != netip.MustParseAddr("127.0.0.1") {
			t.Errorf("got %v, %v", conn, err)
		}
	}
	if _, err := dial(t.Context(), "udp", here); err == nil || !strings.Contains(err.Error(), "network udp4 is not allowed to jobs") {
		t.Errorf("udp: %v", err)
	}
	g.AllowAddr(netip.MustParseAddrPort(here))
	conn := must.Get(dial(t.Context(), "tcp", here))(t)
	_ = conn.Close()
	var none *egress.Guard
	conn = must.Get(none.DialContext(none.Dialer(time.Second))(t.Context(), "tcp", here))(t)
	_ = conn.Close()
}

func TestEndpoints(t *testing.T) {
	m := egress.Endpoints{ByName: map[string]string{"Orders": "amqp://orders:5672"}, Default: "http://127.0.0.1:10001/{name}"}
	for name, want := range map[string]string{"orders": "amqp://orders:5672", "Orders": "amqp://orders:5672", "acc": "http://127.0.0.1:10001/acc"} {
		if got := m.Find(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	if got := (egress.Endpoints{}).Find("orders"); got != "" {
		t.Errorf("got %q from the zero value", got)
	}
}

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

var loopbackNet = netip.MustParsePrefix("127.0.0.0/8")

// TestReplaceEndsWhatIsUnused sees a connection end that waits in a pool for its next request.
func TestReplaceEndsWhatIsUnused(t *testing.T) {
	ended := make(chan struct{}, 1)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateClosed {
			ended <- struct{}{}
		}
	}
	server.Start()
	defer server.Close()
	g := egress.NewGuard(loopbackNet)
	transport := egress.Route{Guard: g}.Transport(nil)
	get := func() error {
		resp, err := (&http.Client{Transport: transport}).Get(server.URL)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, resp.Body)
		return errors.Join(err, resp.Body.Close())
	}
	must.Do(t, get())
	if n := g.Replace(loopbackNet, netip.MustParsePrefix("10.0.0.0/8")); n != 0 {
		t.Errorf("a wider list ends %d connections", n)
	}
	if n := g.Replace(); n != 1 {
		t.Errorf("a narrower one ends %d", n)
	}
	within(t, "the end of the connection", ended)
	if err := get(); !egress.IsRefused(err) {
		t.Errorf("the next request: %v", err)
	}
	g.Replace(loopbackNet)
	if err := get(); err != nil {
		t.Errorf("once it is allowed again: %v", err)
	}
}

// TestReplaceEndsWhatIsUsed sees a request end that waits for its answer, and is told why.
func TestReplaceEndsWhatIsUsed(t *testing.T) {
	asked := make(chan struct{}, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-r.Context().Done()
	}))
	defer server.Close()
	g := egress.NewGuard(loopbackNet)
	failed := make(chan error, 1)
	go func() {
		resp, err := (&http.Client{Transport: egress.Route{Guard: g}.Transport(nil)}).Post(server.URL, "", http.NoBody)
		if err == nil {
			_ = resp.Body.Close()
		}
		failed <- err
	}()
	within(t, "the request", asked)
	g.Replace()
	select {
	case err := <-failed:
		if !egress.IsRefused(err) {
			t.Errorf("got %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("the request goes on")
	}
}

// TestReplaceKeepsAddresses sees what is allowed by itself, with its port, stay so.
func TestReplaceKeepsAddresses(t *testing.T) {
	here := listen(t, "127.0.0.1:0")
	g := egress.NewGuard(loopbackNet)
	g.AllowAddr(here)
	g.Replace()
	conn := must.Get(g.DialContext(g.Dialer(time.Second))(t.Context(), "tcp", here.String()))(t)
	defer conn.Close()
	if n := g.Replace(); n != 0 {
		t.Errorf("%d connections ended", n)
	}
	if n := (*egress.Guard)(nil).Replace(); n != 0 {
		t.Error("a nil guard ends connections")
	}
}

// TestReplaceRaces dials while the list changes: what was dialled is refused, or ended by the change that refuses it.
func TestReplaceRaces(t *testing.T) {
	here := listen(t, "127.0.0.1:0").String()
	g := egress.NewGuard(loopbackNet)
	dial := g.DialContext(g.Dialer(time.Second))
	ctx, stop := context.WithCancel(t.Context())
	var dialers sync.WaitGroup
	for range 4 {
		dialers.Go(func() {
			for ctx.Err() == nil {
				conn, err := dial(context.WithoutCancel(ctx), "tcp", here)
				switch {
				case err == nil:
					_ = conn.Close()
				case !egress.IsRefused(err):
					t.Error(err)
					return
				}
			}
		})
	}
	for range 200 {
		g.Replace()
		g.Replace(loopbackNet)
	}
	stop()
	dialers.Wait()
	conn := must.Get(dial(t.Context(), "tcp", here))(t)
	if n := g.Replace(); n != 1 {
		t.Errorf("%d connections are known after all were closed but one", n)
	}
	if _, err := conn.Write([]byte("x")); !egress.IsRefused(err) {
		t.Errorf("it can be written to: %v", err)
	}
	if err := conn.Close(); err == nil {
		t.Error("it was not closed")
	}
}

func within(t *testing.T, what string, happened <-chan struct{}) {
	t.Helper()
	select {
	case <-happened:
	case <-time.After(10 * time.Second):
		t.Fatalf("waited in vain for %s", what)
	}
}

// TestDialed asks a guard which connections of a server jobs have opened: those that it dialled, until they are closed.
func TestDialed(t *testing.T) {
	l := must.Get(new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	g := egress.NewGuard(netip.MustParsePrefix("127.0.0.0/8"))
	dials := map[string]func(context.Context, string, string) (net.Conn, error){
		"a job":  g.DialContext(g.Dialer(time.Minute)),
		"others": new(net.Dialer).DialContext,
	}
	for who, dial := range dials {
		_, port, _ := net.SplitHostPort(l.Addr().String())
		conn := must.Get(dial(t.Context(), "tcp", "[::ffff:127.0.0.1]:"+port))(t)
		accepted := must.Get(l.Accept())(t)
		t.Cleanup(func() { accepted.Close() })
		if got, want := g.Dialed(accepted.RemoteAddr(), accepted.LocalAddr()), who == "a job"; got != want {
			t.Errorf("%s: dialled by a job: %t, want %t", who, got, want)
		}
		must.Do(t, conn.Close())
		if g.Dialed(accepted.RemoteAddr(), accepted.LocalAddr()) {
			t.Errorf("%s: a closed connection is still known", who)
		}
	}
	if (*egress.Guard)(nil).Dialed(l.Addr(), l.Addr()) {
		t.Error("a nil guard has dialled")
	}
}
