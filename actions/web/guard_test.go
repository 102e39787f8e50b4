package web_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/actions/actiontest"
	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/actions/web"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
)

// wantRefusal checks that an attempt came to nothing and will not be repeated.
func wantRefusal(t *testing.T, result scheduler.Result, host, reason string) {
	t.Helper()
	want := "Http Action - Request to host '" + host + "' failed: " + reason
	if !result.Failed || !result.Final || !result.SkipCircuit || result.Status != 0 || result.Message != want {
		t.Errorf("got  %+v\nwant %s", result, want)
	}
}

const loopbackRefused = "127.0.0.1 is a loopback address, which jobs must not reach; --allow-target 127.0.0.1/32 allows it"

// names starts a name server whose nth answer (from 0) for any name is given
// by answer, and returns a resolver that asks it.
func names(t *testing.T, answer func(n int) []netip.Addr) *net.Resolver {
	t.Helper()
	conn := must.Get(net.ListenPacket("udp", "127.0.0.1:0"))(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		b := make([]byte, 512)
		for n := 0; ; {
			size, from, err := conn.ReadFrom(b)
			if err != nil {
				return
			}
			end := 12
			for end < size && b[end] != 0 {
				end += int(b[end]) + 1
			}
			end += 5 // the root's label, type and class
			var addrs []netip.Addr
			if binary.BigEndian.Uint16(b[end-4:]) == 1 { // type A
				addrs = answer(n)
				n++
			}
			reply := append([]byte{b[0], b[1], 0x81, 0x80, 0, 1, 0, byte(len(addrs)), 0, 0, 0, 0}, b[12:end]...)
			for _, a := range addrs {
				reply = append(reply, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4)
				reply = append(reply, a.AsSlice()...)
			}
			_, _ = conn.WriteTo(reply, from)
		}
	}()
	t.Cleanup(func() {
		_ = conn.Close()
		<-done
	})
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

// onPort starts a target at an address of this machine that closes each
// connection, and returns its port.
func onPort(t *testing.T, address string) (s *target, port string) {
	t.Helper()
	s = listenAt(t, address, func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Connection", "close") })
	u := must.Get(url.Parse(s.URL))(t)
	return s, u.Port()
}

// TestRebinding has a name that leads to an address that may be reached, and a
// moment later to one that may not. 127.0.0.2 stands for a public address.
func TestRebinding(t *testing.T) {
	server, port := onPort(t, "127.0.0.2:0")
	addrs := []netip.Addr{netip.MustParseAddr("127.0.0.2"), netip.MustParseAddr("127.0.0.1")}
	client := newClient(t, web.Config{
		Guard:    egress.NewGuard(netip.MustParsePrefix("127.0.0.2/32")),
		Resolver: names(t, func(n int) []netip.Addr { return addrs[min(n, 1):][:1] }),
	})
	action := mustRead(t, client, "Http", uri("http://rebinding.test:"+port+"/"))
	if result := action.Invoke(t.Context(), attempt()); result.Failed {
		t.Fatal(result.Message)
	}
	wantRefusal(t, action.Invoke(t.Context(), attempt()), "rebinding.test:"+port, loopbackRefused)
	if n := len(server.seen()); n != 1 {
		t.Errorf("%d requests arrived", n)
	}
}

// TestSeveralAddresses checks that a refused address hides no other.
func TestSeveralAddresses(t *testing.T) {
	_, port := onPort(t, "127.0.0.2:0")
	for list, want := range map[string]struct {
		failed, final bool
		message       string
	}{
		"127.0.0.1 127.0.0.2": {false, false, "Response from host"},
		"127.0.0.2 127.0.0.1": {false, false, "Response from host"},
		"127.0.0.1 127.0.0.9": {true, true, "failed: 127.0.0.1 is a loopback address, which jobs must not reach"},
		"127.0.0.1 127.0.0.3": {
			true, false,
			"failed: the host's other addresses cannot be reached, and 127.0.0.1 is a loopback address, which jobs must not reach",
		},
		"127.0.0.3 127.0.0.1": {true, false, "failed: connection refused"},
	} {
		t.Run(list, func(t *testing.T) {
			var addrs []netip.Addr
			for text := range strings.FieldsSeq(list) {
				addrs = append(addrs, netip.MustParseAddr(text))
			}
			client := newClient(t, web.Config{
				Guard:    egress.NewGuard(netip.MustParsePrefix("127.0.0.2/31")),
				Resolver: names(t, func(int) []netip.Addr { return addrs }),
			})
			result := invoke(t, client, uri("http://several.test:"+port+"/"))
			if result.Failed != want.failed || result.Final != want.final || !strings.Contains(result.Message, want.message) {
				t.Errorf("got %+v", result)
			}
		})
	}
}

// TestGuardedInEverySpelling has a name server that takes every name for this machine's.
func TestGuardedInEverySpelling(t *testing.T) {
	client := newClient(t, web.Config{
		Guard:    egress.NewGuard(netip.MustParsePrefix("127.0.0.2/32")),
		Resolver: names(t, func(int) []netip.Addr { return []netip.Addr{netip.MustParseAddr("127.0.0.1")} }),
	})
	allowed := listenAt(t, "127.0.0.2:0", redirect)
	redirects := 0 // each host has one of the statuses
	ways := map[string]func(host, port string) string{
		"uri": func(host, port string) string { return uri("http://" + host + ":" + port + "/") },
		"tokenUrl": func(host, port string) string {
			return fmt.Sprintf(`{"uri":"http://target.test/","method":"GET",
				"authentication":{"type":"OAuth2","tokenUrl":%q,"clientId":"c","secret":"s3cret"}}`, "https://"+host+":"+port+"/")
		},
		"redirect": func(host, port string) string {
			redirects++
			status := redirectStatuses[redirects%len(redirectStatuses)]
			return uri(fmt.Sprintf("%s/%d?to=%s", allowed.URL, status, url.QueryEscape("http://"+host+":"+port+"/")))
		},
	}
	for way, request := range ways {
		t.Run(way, func(t *testing.T) {
			actiontest.CheckGuarded(t, actiontest.InnerHosts, func(host, port string) (scheduler.Action, error) {
				return read(t, client, request(host, port))
			})
		})
	}
}
