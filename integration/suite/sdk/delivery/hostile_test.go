package delivery

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/cmd/carillon/node"
)

// hostile answers as nobody should, by path.
func hostile(w http.ResponseWriter, r *http.Request) {
	chunk := []byte(strings.Repeat("x", 32<<10))
	switch r.URL.Path {
	case "/redirect":
		http.Redirect(w, r, "http://169.254.169.254/latest/meta-data", http.StatusFound)
	case "/large":
		w.Header().Set("Content-Length", "104857600")
		for range 104857600 / len(chunk) {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	case "/endless":
		for {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	case "/silent":
		<-r.Context().Done()
	case "/trickle": // the header never ends
		conn := hijack(w)
		defer conn.Close()
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nX-Never-Ending: ")
		_, _ = io.Copy(io.Discard, conn)
	case "/reset":
		conn := hijack(w)
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
		_ = conn.(*net.TCPConn).SetLinger(0)
		_ = conn.Close()
	}
}

func hijack(w http.ResponseWriter) net.Conn {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	return conn
}

// TestHostileTargets runs jobs whose targets misbehave, all at once. Each ends in a failed attempt that says why, and
// other jobs go on.
func TestHostileTargets(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(hostile))
	t.Cleanup(server.Close)
	guard := egress.NewGuard()
	guard.AllowAddr(netip.MustParseAddrPort(server.Listener.Addr().String()))
	s := newSystem(t, func(c *node.Config) { c.Delivery.Guard = guard })
	want := map[string]string{
		"redirect": "169.254.169.254 is a link-local address, which jobs must not reach",
		"large":    "the body has 104857600 bytes; the limit is 16777216",
		"endless":  "the body has more than 16777216 bytes, the limit",
		"silent":   "timed out after 1s",
		"trickle":  "timed out after 1s",
		"reset":    "connection reset by the host",
	}
	for name := range want {
		s.put(name, `{"timeout": "PT1S", "action": {"type": "http", "request": {"method": "GET", "uri": "`+server.URL+`/`+name+`"},
			"retryPolicy": {"retryType": "none"}}}`)
	}
	s.put("inside", `{"action": {"type": "http", "request": {"method": "GET", "uri": "`+s.target.URL+`/"}}}`)
	want["inside"] = "127.0.0.1 is a loopback address, which jobs must not reach"
	for name, says := range want {
		if got := s.ended(name); got != "failed faulted" || !strings.Contains(s.last(name).Message, says) {
			t.Errorf("%s: history %q: %s, want %s", name, got, s.last(name).Message, says)
		}
	}
	guard.AllowAddr(netip.MustParseAddrPort(s.target.Listener.Addr().String()))
	s.put("after", `{"action": {"type": "http", "request": {"method": "GET", "uri": "`+s.target.URL+`/"}}}`)
	if got := s.ended("after"); got != "completed" {
		t.Errorf("a job for a good target: history %q", got)
	}
}
