package web_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/carillon-sched/carillon/actions/actiontest"
	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/actions/web"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// asked is what a proxy was asked for, as METHOD host:port.
type asked struct {
	mu   sync.Mutex
	list []string
}

func (a *asked) add(what string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.list = append(a.list, what)
}

// take returns what was asked for since the last time.
func (a *asked) take() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	defer func() { a.list = nil }()
	return slices.Clone(a.list)
}

// httpProxy starts a proxy that answers by itself what it is asked for: redirects to what follows ?to=, and 502 to
// CONNECT.
func httpProxy(t *testing.T) (*url.URL, *asked) {
	t.Helper()
	a := new(asked)
	s := listen(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodConnect {
			a.add("CONNECT " + r.RequestURI)
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		line, _, _ := strings.Cut(strings.TrimPrefix(r.RequestURI, "http://"), "/")
		a.add(r.Method + " " + line)
		redirect(w, r)
	})
	u := must.Get(url.Parse(s.URL))(t)
	return u, a
}

// redirectStatuses are those that redirect.
var redirectStatuses = []int{301, 302, 303, 307, 308}

// redirect answers with the status and to the place that the path and the query say, as in /302?to=URL.
func redirect(w http.ResponseWriter, r *http.Request) {
	if to := r.URL.Query().Get("to"); to != "" {
		var status int
		_, _ = fmt.Sscanf(r.URL.Path, "/%d", &status)
		w.Header().Set("Location", to)
		w.WriteHeader(status)
	}
}

// socksProxy starts a SOCKS5 proxy (RFC 1928) that answers by itself as httpProxy does.
func socksProxy(t *testing.T) (*url.URL, *asked) {
	t.Helper()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	a := new(asked)
	var open sync.WaitGroup
	open.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			open.Go(func() {
				defer conn.Close()
				_ = serveSOCKS(conn, a)
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		open.Wait()
	})
	return &url.URL{Scheme: "socks5", Host: l.Addr().String()}, a
}

// serveSOCKS takes one request to connect, and answers one request over HTTP.
func serveSOCKS(conn net.Conn, a *asked) error {
	in := bufio.NewReader(conn)
	head := make([]byte, 2)
	if _, err := io.ReadFull(in, head); err != nil {
		return err
	}
	if _, err := io.CopyN(io.Discard, in, int64(head[1])); err != nil {
		return err
	}
	if _, err := conn.Write([]byte{5, 0}); err != nil {
		return err
	}
	head = make([]byte, 4)
	if _, err := io.ReadFull(in, head); err != nil {
		return err
	}
	length := map[byte]int{1: net.IPv4len, 4: net.IPv6len}[head[3]]
	if head[3] == 3 {
		n, err := in.ReadByte()
		if err != nil {
			return err
		}
		length = int(n)
	}
	host := make([]byte, length+2)
	if _, err := io.ReadFull(in, host); err != nil {
		return err
	}
	name := string(host[:length])
	if head[3] != 3 {
		name = net.IP(host[:length]).String()
	}
	a.add("SOCKS " + net.JoinHostPort(name, strconv.Itoa(int(host[length])<<8|int(host[length+1]))))
	if _, err := conn.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0}); err != nil {
		return err
	}
	r, err := http.ReadRequest(in)
	if err != nil {
		return err
	}
	answer := "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
	if to := r.URL.Query().Get("to"); to != "" {
		answer = "HTTP/1.1 " + strings.Trim(r.URL.Path, "/") + " Elsewhere\r\nLocation: " + to + "\r\n" + answer[len("HTTP/1.1 200 OK\r\n"):]
	}
	_, err = io.WriteString(conn, answer)
	return errors.Join(err, r.Body.Close())
}

// TestProxyIsNeverAskedForInnerAddresses gives every spelling of such an address to each kind of proxy, each way that
// a job has.
func TestProxyIsNeverAskedForInnerAddresses(t *testing.T) {
	proxies := map[string]func(*testing.T) (*url.URL, *asked){"http": httpProxy, "socks5": socksProxy}
	for kind, start := range proxies {
		t.Run(kind, func(t *testing.T) {
			proxy, asked := start(t)
			client := newClient(t, web.Config{Proxy: proxy, Guard: egress.NewGuard()})
			redirects := 0 // each host has one of the statuses
			through := map[string]func(host string) string{
				"uri":   func(host string) string { return uri("http://" + host + "/") },
				"https": func(host string) string { return uri("https://" + host + ":8443/") },
				"tokenUrl": func(host string) string {
					return fmt.Sprintf(`{"uri":"http://target.test/","method":"GET",
						"authentication":{"type":"OAuth2","tokenUrl":%q,"clientId":"c","secret":"s3cret"}}`, "http://"+host+"/")
				},
			}
			for _, scheme := range []string{"http", "https"} {
				through["redirect to "+scheme] = func(host string) string {
					redirects++
					status := redirectStatuses[redirects%len(redirectStatuses)]
					return uri(fmt.Sprintf("http://target.test/%d?to=%s", status, url.QueryEscape(scheme+"://"+host+"/")))
				}
			}
			for way, request := range through {
				for _, host := range actiontest.InnerHosts {
					action, err := read(t, client, request(host))
					if err != nil {
						continue // refused when it was put
					}
					result := action.Invoke(t.Context(), attempt())
					for _, what := range asked.take() {
						if !strings.HasSuffix(what, " target.test") && !strings.HasSuffix(what, " target.test:80") {
							t.Errorf("%s %s: the proxy was asked for %s", way, host, what)
						}
					}
					if !result.Failed {
						t.Errorf("%s %s: %s", way, host, result.Message)
					}
				}
			}
		})
	}
}

// TestProxyIsAskedForNames has names that proxies are asked for, as they go out.
func TestProxyIsAskedForNames(t *testing.T) {
	for host, want := range map[string]string{
		"target.test": "target.test", "Target.Test.": "Target.Test.", "bücher.example": "xn--bcher-kva.example",
		"BÜCHER.example": "xn--bcher-kva.example", "xn--bcher-kva.example": "xn--bcher-kva.example", "a_b.example": "a_b.example",
		"８.８.８.８": "8.8.8.8", "8.8.8.8": "8.8.8.8", "localhost.example": "localhost.example", "stra\u00dfe。example": "xn--strae-oqa.example",
	} {
		for kind, start := range map[string]func(*testing.T) (*url.URL, *asked){"GET ": httpProxy, "SOCKS ": socksProxy} {
			proxy, asked := start(t)
			client := newClient(t, web.Config{Proxy: proxy, Guard: egress.NewGuard()})
			result := invoke(t, client, uri("http://"+host+":81/"))
			if got := asked.take(); result.Failed || len(got) != 1 || got[0] != kind+want+":81" {
				t.Errorf("%s: asked for %q, want %s; %s", host, got, kind+want+":81", result.Message)
			}
		}
	}
}

// TestProxyGoesByTheURI has jobs with a Host header of their own: it is the host of the uri that a proxy is asked for,
// and no inner address may stand in either.
func TestProxyGoesByTheURI(t *testing.T) {
	proxy, asked := httpProxy(t)
	client := newClient(t, web.Config{Proxy: proxy, Guard: egress.NewGuard()})
	request := func(uri, host string) string {
		return fmt.Sprintf(`{"uri":%q,"method":"GET","headers":{"Host":%q}}`, uri, host)
	}
	for uri, want := range map[string]string{
		"http://target.test":             "GET target.test",
		"http://target.test:81/a?b=c":    "GET target.test:81",
		"http://[2606:4700::1111]/a%2Fb": "GET [2606:4700::1111]",
		"http://bücher.example/":         "GET xn--bcher-kva.example",
	} {
		if result := invoke(t, client, request(uri, "virtual.example")); result.Failed {
			t.Errorf("%s: %s", uri, result.Message)
		}
		if got := asked.take(); len(got) != 1 || got[0] != want {
			t.Errorf("%s: asked for %q, want %s", uri, got, want)
		}
	}
	for _, host := range actiontest.InnerHosts {
		action, err := read(t, client, request("http://target.test/", host))
		if err != nil {
			continue // refused when it was put
		}
		result := action.Invoke(t.Context(), attempt())
		if got := asked.take(); !result.Failed || len(got) != 0 {
			t.Errorf("Host %s: asked for %q; %s", host, got, result.Message)
		}
	}
}
